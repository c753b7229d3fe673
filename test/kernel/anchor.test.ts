import { describe, expect, it } from "vitest";
import { anchorDetails, isAnchorDetails, planAnchor } from "../../kernel/anchor.ts";
import { itemTokens } from "../../kernel/view.ts";
import { bareSettings, Log, range, words } from "../support/log.ts";

function plan(log: Log) {
	return planAnchor(log.branch(), log.view());
}

function content(log: Log, id: string | null | undefined) {
	const entry = log.entries.get(id ?? "");
	return entry?.kind === "message" ? entry.message.content : undefined;
}

/** Two turns of one step, m1 to m3 and m4 to m6, and a third question, m7. */
function turns(): Log {
	const log = new Log();
	for (const turn of ["one", "two"]) {
		log.user(`question ${turn}`);
		log.step("read", { path: `${turn}.ts` }, words(1_500, turn));
	}
	log.user("question three");
	return log;
}

function fold(log: Log, ...ranges: readonly (readonly [string, string])[]): void {
	log.compress(
		ranges.map(([from, to]) => range(from, to, `Summary of ${from}.`)),
		bareSettings,
	);
}

function textOf(log: Log, number: number): string {
	return log.branch().state.blocks.get(number)?.text ?? expect.unreachable();
}

describe("the details of an anchor", () => {
	it("are known again, and nothing else is taken for them", () => {
		expect(isAnchorDetails(JSON.parse(JSON.stringify(anchorDetails)))).toBe(true);
		for (const other of [
			undefined,
			null,
			1,
			{},
			{ acp: 1 },
			{ anchor: true },
			{ acp: 2, anchor: true },
			[anchorDetails],
		]) {
			expect(isAnchorDetails(other)).toBe(false);
		}
	});
});

describe("an anchor", () => {
	it("is none while no block leads", () => {
		expect(plan(new Log())).toBeUndefined();
		expect(plan(turns())).toBeUndefined();
	});

	it("says the texts of the leading blocks and keeps what comes after them", () => {
		const log = turns();
		fold(log, ["m1", "m3"], ["m4", "m6"]);
		const anchor = plan(log) ?? expect.unreachable();
		expect(anchor.summary).toBe(`${textOf(log, 1)}\n\n${textOf(log, 2)}`);
		expect(content(log, anchor.firstKeptId)).toBe("question three");
		expect(anchor.sizeTokens).toBe(
			log
				.view()
				.items.slice(0, 2)
				.reduce((sum, item) => sum + itemTokens(item), 0),
		);
		expect(anchor.messages).toBe(6);
		expect(anchor.replacedTokens).toBe(
			log
				.branch()
				.messages(1, 6)
				.reduce((sum, { sizeTokens }) => sum + sizeTokens, 4 * 8),
		);
	});

	it("is planned without a look at the texts, which its summary then is put together of", () => {
		const log = turns();
		fold(log, ["m1", "m3"]);
		let reads = 0;
		const view = log.view();
		const items = view.items.map((item) => {
			if (item.kind !== "block") return item;
			const { text } = item.block;
			const block = {
				...item.block,
				get text() {
					reads++;
					return text;
				},
			};
			return { ...item, block };
		});
		const anchor = planAnchor(log.branch(), { ...view, items });
		expect(anchor).toMatchObject({ messages: 3 });
		expect(reads).toBe(0);
		expect(anchor?.summary).toBe(textOf(log, 1));
		expect(reads).toBe(1);
	});

	it("says what stays before and between its blocks, too: who speaks, what was said, what was called", () => {
		const log = turns();
		fold(log, ["m2", "m3"], ["m5", "m6"]);
		expect(plan(log)).toMatchObject({
			summary: `user: question one\n\n${textOf(log, 1)}\n\nuser: question two\n\n${textOf(log, 2)}`,
			messages: 6,
		});
		const steps = new Log();
		steps.step("bash", { command: "ls" }, "a.ts");
		steps.message({ role: "toolResult", content: "lost" });
		for (let turn = 0; turn < 2; turn++) steps.step("read", {}, words(1_000));
		steps.user("go on");
		fold(steps, ["m4", "m7"]);
		const { summary } = plan(steps) ?? expect.unreachable();
		expect(
			summary.startsWith('assistant: \n(calls bash) {"command":"ls"}\n\nbash: a.ts\n\ntool: lost\n\n<acp-block'),
		).toBe(true);
	});

	it("ends where much unfolded text comes before a block", () => {
		const log = turns();
		log.step("read", { path: "three.ts" }, words(6_000));
		log.step("read", { path: "four.ts" }, words(1_500));
		log.user("question four");
		fold(log, ["m10", "m11"]);
		expect(plan(log)).toBeUndefined();
		fold(log, ["m1", "m3"]);
		const anchor = plan(log) ?? expect.unreachable();
		expect(anchor.summary).toBe(textOf(log, 2));
		expect(content(log, anchor.firstKeptId)).toBe("question two");
		expect(anchor.messages).toBe(3);
	});

	it("goes further where its blocks stand for so much that more text is worth it", () => {
		const log = new Log();
		log.user("question one");
		for (let step = 0; step < 10; step++) log.step("read", { path: `${step}.ts` }, words(8_000, `s${step}-`));
		log.user(words(6_000, "paste"));
		log.step("read", { path: "last.ts" }, words(1_500));
		log.user("question three");
		fold(log, ["m2", "m21"], ["m23", "m24"]);
		expect(plan(log)).toMatchObject({ summary: expect.stringContaining(textOf(log, 2)), messages: 24 });
	});

	it("says what stands between the spans of a block: it comes after it in the view", () => {
		const log = turns();
		log.operation({ kind: "pin", message: { id: "e3", ordinal: 2 } });
		fold(log, ["m1", "m6"]);
		expect(log.view().items.map((item) => item.kind)).toEqual(["block", "entry", "entry", "entry", "entry", "entry"]);
		const anchor = plan(log) ?? expect.unreachable();
		expect(anchor.summary).toContain("(calls read)");
		expect(anchor.summary.endsWith(words(1_500, "one"))).toBe(true);
		expect(content(log, anchor.firstKeptId)).toBe("question three");
		expect(anchor.messages).toBe(6);
	});

	it("keeps what stands between the spans of a block if it is large", () => {
		const log = turns();
		log.step("read", { path: "three.ts" }, words(6_000));
		log.step("read", { path: "four.ts" }, words(1_500));
		log.user("question four");
		log.operation({ kind: "pin", message: { id: "e8", ordinal: 8 } });
		fold(log, ["m1", "m11"]);
		expect(plan(log)).toMatchObject({ summary: textOf(log, 1), firstKeptId: "e8", messages: 7 });
	});

	it("keeps nothing where nothing comes after its blocks", () => {
		const log = turns();
		fold(log, ["m1", "m6"]);
		log.operation({ kind: "truncate", reductions: [], sizeTokens: 1 });
		const view = log.view();
		const items = view.items.filter((item) => item.kind === "block");
		const anchor = planAnchor(log.branch(), { ...view, items });
		expect(anchor).toMatchObject({ firstKeptId: null, messages: log.branch().lastOrdinal });
	});

	it("leaves out what the host leaves out already, and is none if that is all", () => {
		const log = turns();
		fold(log, ["m1", "m3"]);
		const first = plan(log) ?? expect.unreachable();
		log.anchor(first.summary, first.firstKeptId);
		expect(plan(log)).toBeUndefined();
		fold(log, ["m4", "m6"]);
		expect(plan(log)).toMatchObject({
			summary: `${textOf(log, 1)}\n\n${textOf(log, 2)}`,
			messages: 3,
			replacedTokens: log.branch().state.blocks.get(2)?.sizeTokens,
		});
	});

	it("counts from the entry after an anchor that kept nothing, or an entry that holds no message", () => {
		const log = turns();
		fold(log, ["m1", "m3"]);
		log.anchor("all", null);
		expect(plan(log)).toBeUndefined();
		const other = turns();
		const label = other.other();
		other.step("read", { path: "three.ts" }, words(1_500));
		other.user("question four");
		fold(other, ["m1", "m9"]);
		other.anchor("half", label);
		expect(plan(other)).toMatchObject({ messages: 2 });
	});

	it("counts from what a summary by the host kept", () => {
		const log = turns();
		log.compaction("so far", "e4");
		log.user("go on");
		fold(log, ["m4", "m6"]);
		const anchor = plan(log) ?? expect.unreachable();
		expect(anchor.summary).toBe(`custom: so far\n\n${textOf(log, 1)}`);
		expect(content(log, anchor.firstKeptId)).toBe("question three");
		expect(anchor.messages).toBe(3);
	});

	it("keeps what that kept behind it where a block stands for the summary", () => {
		const log = turns();
		log.compaction(words(1_500, "sofar"), "e4");
		log.user("go on");
		log.operation({ kind: "pin", message: { id: "e5", ordinal: 5 } });
		fold(log, ["m8", "m4"]);
		expect(log.view().items.map((item) => (item.kind === "block" ? item.block.spans : item.kind))).toEqual([
			[
				{ from: 4, to: 4 },
				{ from: 8, to: 8 },
			],
			...Array(6).fill("entry"),
		]);
		const anchor = plan(log) ?? expect.unreachable();
		expect(anchor.summary).toBe(textOf(log, 1));
		expect(anchor.firstKeptId).toBe("e5");
		expect(anchor.messages).toBe(1);
	});
});
