import { describe, expect, it } from "vitest";
import { textOf } from "../../kernel/message.ts";
import { findOriginals, pageOf, planUnfold } from "../../kernel/restore.ts";
import { viewTokens } from "../../kernel/view.ts";
import { bareSettings, Log, range, shown, summaryOf, words } from "../support/log.ts";

/** Task, so many steps of work and a question: step n is m(2n) and m(2n + 1). */
function worked(steps: number, sizeTokens = 1_200): Log {
	const log = new Log();
	log.user("task");
	for (let step = 1; step <= steps; step++) log.step("read", { path: `${step}.ts` }, words(sizeTokens, `s${step}-`));
	log.user("go on");
	return log;
}

/** How often each message up to the last one given stands behind a top-level block. */
function covering(log: Log, last: number): readonly number[] {
	const spans = log.branch().state.tops.flatMap((top) => top.spans);
	return Array.from(
		{ length: last },
		(_, index) => spans.filter((span) => span.from <= index + 1 && index + 1 <= span.to).length,
	);
}

function allText(log: Log): string {
	return log.sent().map(textOf).join("\n");
}

describe("ranges of one call that meet once they are widened to whole units", () => {
	/** m1, an answer with two calls m2 to m4, a step m5 and m6, a step m7 and m8. */
	function wide(): Log {
		const log = new Log();
		log.user("task");
		log.assistant("", [{ name: "read" }, { name: "read" }]);
		for (const call of [0, 1]) log.result(words(900, `c${call}-`), { call });
		for (const path of ["d.ts", "e.ts"]) log.step("read", { path }, words(900, path.slice(0, 1)));
		log.user("go on");
		return log;
	}

	it.each([
		["in their order", [range("m1", "m3"), range("m4", "m6"), range("m7", "m8")], [true, false, true]],
		["in another order", [range("m7", "m8"), range("m4", "m6"), range("m1", "m3")], [true, false, true]],
		["the same twice", [range("m1", "m4"), range("m1", "m4")], [true, false]],
	])(
		"the earliest is folded, the one that overlaps it is named, and a third one is folded: %s",
		(_, ranges, applied) => {
			const log = wide();
			const plan = log.compress(ranges, bareSettings);
			expect(plan.outcomes.map((outcome) => outcome.isApplied)).toEqual(applied);
			expect(Math.max(...covering(log, 8))).toBe(1);
			const refused = plan.outcomes.flatMap((outcome) => (outcome.isApplied ? [] : outcome.problem));
			expect(refused).toMatchObject([{ code: "overlap", other: "m00001-m00004" }]);
		},
	);

	it("where the earliest of them is refused itself the other one is folded", () => {
		const log = wide();
		const plan = log.compress([range("m2", "m3", words(5_000)), range("m4", "m6")], bareSettings);
		expect(plan.outcomes).toMatchObject([
			{ isApplied: false, problem: { code: "notSmaller" } },
			{ isApplied: true, block: { spans: [{ from: 2, to: 6 }] } },
		]);
	});
});

describe("a range of message refs over a block of a higher tier", () => {
	it("takes the block in whole: its summary is shown no more, and each message stands behind one block", () => {
		const log = worked(5);
		log.compress([range("m2", "m3", "First."), range("m4", "m5", "Second.")], bareSettings);
		log.compress([range("b1", "b2", "Both of them.")], bareSettings);
		log.compress([range("m3", "m9", "The third one and all before.")], bareSettings);
		expect(log.branch().state.tops).toMatchObject([{ number: 4, tier: 2, children: [3] }]);
		expect(covering(log, 9)).toEqual([0, 1, 1, 1, 1, 1, 1, 1, 1]);
		expect(allText(log)).not.toContain("Both of them.");
		expect(allText(log).split("The third one and all before.")).toHaveLength(2);
	});
});

describe("a fold on a branch that was left", () => {
	it("hides nothing on the branch gone back to, and what it had taken in stands there again", () => {
		const log = worked(3);
		const start = log.leafId;
		const whole = allText(log);
		log.compress([range("m2", "m3", "First.")], bareSettings);
		log.user("and on");
		const kept = log.leafId;
		const before = log.sent();
		log.compress([range("b1", "m7", "Facts of the branch that was left.")], bareSettings);
		expect(shown(log.view()).slice(0, 3)).toEqual(["m1", "b2", "m8"]);
		log.leafId = kept;
		expect(shown(log.view()).slice(0, 6)).toEqual(["m1", "b1", "m4", "m5", "m6", "m7"]);
		expect(log.sent()).toEqual(before);
		expect(allText(log)).not.toContain("Facts of the branch that was left.");
		log.leafId = start;
		expect(allText(log)).toBe(whole);
	});
});

describe("a block over blocks", () => {
	it("stands through all later requests, and none of theirs comes back", () => {
		const log = worked(4);
		log.compress(
			[range("m2", "m3", "First."), range("m4", "m5", "Second."), range("m6", "m7", "Third.")],
			bareSettings,
		);
		log.compress([range("b1", "b3", "All three.")], bareSettings);
		for (let turn = 0; turn < 10; turn++) {
			log.assistant(`answer ${turn}`);
			log.user(`question ${turn}`);
			expect(shown(log.view()).slice(0, 3)).toEqual(["m1", "b4", "m8"]);
			expect(allText(log)).not.toMatch(/^(First|Second|Third)\./m);
		}
	});

	it("that is opened shows its children, and stays open", () => {
		const log = worked(3);
		log.compress([range("m2", "m3", "First."), range("m4", "m5", "Second.")], bareSettings);
		log.compress([range("b1", "b2", "Both.")], bareSettings);
		const made = planUnfold(log.branch(), log.view(), "b3");
		if ("code" in made) expect.unreachable(made.code);
		log.operation(made.operation);
		for (let turn = 0; turn < 3; turn++) {
			log.user(`question ${turn}`);
			expect(shown(log.view()).slice(0, 4)).toEqual(["m1", "b1", "b2", "m6"]);
		}
	});
});

describe("a call with several ranges", () => {
	it("is one commit, which one undo takes back whole", () => {
		const log = worked(4);
		const before = shown(log.view());
		log.compress([range("m2", "m3"), range("m6", "m7"), range("m8", "m9")], bareSettings);
		expect(log.branch().state.tops).toHaveLength(3);
		log.operation({ kind: "undo", sizeTokens: 1 });
		expect(log.branch().state.tops).toEqual([]);
		expect(shown(log.view()).slice(0, before.length)).toEqual(before);
	});

	it("moves no ref: the next call names messages by those it saw before", () => {
		const log = worked(3);
		log.compress([range("m2", "m3")], bareSettings);
		log.compress([range("m6", "m7")], bareSettings);
		expect(shown(log.view()).slice(0, 5)).toEqual(["m1", "b1", "m4", "m5", "b2"]);
	});

	it("that holds folded and fresh messages alike folds them together", () => {
		const log = worked(3);
		log.compress([range("m2", "m3", "First.")], bareSettings);
		const plan = log.compress([range("m2", "m5", "Both.")], bareSettings);
		expect(plan.outcomes).toMatchObject([{ isApplied: true, block: { children: [1], messages: 4 } }]);
	});
});

describe("a first message that fills the window", () => {
	it("is folded like any other: the block shows its ends and rules, and all of it still opens", () => {
		const log = new Log();
		const text = `Never touch the API.\n${words(30_000, "log")}\nFind out why it fails.`;
		log.user(text);
		log.step("read", { path: "a.ts" }, words(900, "a"));
		log.user("go on");
		const before = viewTokens(log.view());
		log.compress([range("m1", "m3", summaryOf(log.branch(), 1, 3))], bareSettings);
		expect(shown(log.view()).slice(0, 2)).toEqual(["b1", "m4"]);
		expect(viewTokens(log.view())).toBeLessThan(before / 8);
		const block = textOf(log.sent()[0] ?? expect.unreachable());
		for (const part of ["Never touch the API.", "Find out why it fails."]) expect(block).toContain(part);
		expect(allText(log)).not.toContain(words(5_000, "log"));
		const originals = findOriginals(log.branch(), "m1");
		if ("code" in originals) expect.unreachable(originals.code);
		const pages: string[] = [];
		for (let page = pageOf(originals, 1); !("code" in page); page = pageOf(originals, pages.length + 1)) {
			pages.push(page.parts.map((part) => ("text" in part ? part.text : "")).join(""));
		}
		expect(pages.length).toBeGreaterThan(5);
		expect(pages[0]).toContain("Never touch the API.");
		expect(pages.at(-1)).toContain("Find out why it fails.");
	});
});

describe("what a range weighs", () => {
	it("is what is folded of it: what stays counts for nothing", () => {
		const log = new Log();
		log.user("task");
		log.step("skill", { name: "x" }, words(4_000, "skill"));
		log.step("read", { path: "a.ts" }, "one line");
		log.user("go on");
		const settings = { ...bareSettings, protectedTools: ["skill"] };
		const plan = log.compress([range("m2", "m5", `The read of a.ts: ${words(200)}`)], settings);
		expect(plan.outcomes).toMatchObject([{ isApplied: false, problem: { code: "notSmaller" } }]);
	});

	it("matters less than that it is folded already: a short summary of it is told of the block", () => {
		const log = worked(2);
		log.compress([range("m2", "m3")], bareSettings);
		const short = { startId: "m2", endId: "m3", summary: "short" };
		expect(log.compress([short], bareSettings).outcomes).toMatchObject([
			{ isApplied: false, problem: { code: "alreadyFolded", block: 1 } },
		]);
	});

	it("has no least size of its own: many small ranges of one call are folded, each because it gets smaller", () => {
		const log = worked(8, 300);
		const ranges = Array.from({ length: 8 }, (_, step) => range(`m${2 * step + 2}`, `m${2 * step + 3}`));
		expect(log.compress(ranges, bareSettings).outcomes.map((outcome) => outcome.isApplied)).toEqual(
			ranges.map(() => true),
		);
	});
});
