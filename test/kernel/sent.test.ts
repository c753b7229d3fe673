import { describe, expect, it } from "vitest";
import type { Message } from "../../kernel/message.ts";
import { messageTokens } from "../../kernel/meter/size.ts";
import { branchItems, outgoingItems, sentMessage, viewItems } from "../../kernel/sent.ts";
import type { Item } from "../../kernel/view.ts";
import { bareSettings, Log, range, words } from "../support/log.ts";

/** `m3` for a message of the branch, its text for a foreign one. */
function names(items: readonly Item[]): readonly string[] {
	return items.map((item) => (item.kind === "entry" ? `m${item.record.ordinal}` : String(item.message.content)));
}

/** Five messages, m1 to m5: user, call, result, answer, user. */
function conversation(): Log {
	const log = new Log();
	log.user("one");
	log.step("read", { path: "a" }, "two");
	log.assistant("three");
	log.user("four");
	return log;
}

describe("what the host sends", () => {
	it("is every message of the branch in order, system messages as foreign ones", () => {
		const log = new Log();
		log.message({ role: "system", content: "rules" });
		log.user("one");
		log.other();
		log.message({ role: "system", content: "more rules" });
		log.assistant("", [], { stopReason: "error" });
		log.branchSummary("elsewhere");
		log.message({ role: "custom", content: "excluded" }, true);
		expect(names(branchItems(log.branch()))).toEqual(["rules", "m1", "more rules", "m2", "m3"]);
		expect(branchItems(log.branch(null))).toEqual([]);
	});

	it("after a compaction is its summary, what it kept, and what followed", () => {
		const log = conversation();
		log.compaction("so far", "e4");
		log.user("five");
		expect(names(branchItems(log.branch()))).toEqual(["m6", "m4", "m5", "m7"]);
	});

	it("after a compaction that kept nothing begins with its summary", () => {
		for (const firstKept of [null, "nowhere"]) {
			const log = conversation();
			log.compaction("so far", firstKept);
			expect(names(branchItems(log.branch()))).toEqual(["m6"]);
		}
	});

	it("after two compactions leaves the older summary out, also where it lies in what the newer one kept", () => {
		const log = conversation();
		log.compaction("first", "e4");
		log.user("five");
		log.compaction("second", "e5");
		log.user("six");
		expect(names(branchItems(log.branch()))).toEqual(["m8", "m5", "m7", "m9"]);
		expect(names(branchItems(log.branch("e7")))).toEqual(["m6", "m4", "m5", "m7"]);
	});

	it("after a compaction has its system message at the head instead of the earlier ones", () => {
		const log = new Log();
		log.user("one");
		log.message({ role: "system", content: "old rules" });
		log.user("two");
		log.append({
			kind: "compaction",
			firstKeptId: "e1",
			message: { role: "custom", content: "so far", timestamp: 1 },
			system: { role: "system", content: "rules", timestamp: 1 },
		});
		log.message({ role: "system", content: "new rules" });
		expect(names(branchItems(log.branch()))).toEqual(["rules", "m3", "m1", "m2", "new rules"]);
	});

	it("has the latest edit of each message, at its place, and its size", () => {
		const log = conversation();
		log.edit("e1", { content: "first" });
		log.edit("e1", { content: words(300) });
		log.edit("e3", { content: "shorter" });
		log.edit("e4", { content: [{ type: "text", text: "parts" }] });
		log.edit("e5", null);
		const items = branchItems(log.branch());
		expect(items.map((item) => item.message.content)).toEqual([
			words(300),
			[expect.objectContaining({ type: "toolCall" })],
			[{ type: "text", text: "shorter" }],
			[{ type: "text", text: "parts" }],
		]);
		for (const item of items) expect(item.sizeTokens).toBe(messageTokens(item.message));
	});

	it("of one record is its message, its edit, or nothing", () => {
		const log = conversation();
		log.message({ role: "custom", content: "excluded" }, true);
		log.edit("e1", { content: "first" });
		log.edit("e5", null);
		const branch = log.branch();
		const texts = [1, 4, 5, 6].map((ordinal) => {
			const record = branch.message(ordinal);
			return record && sentMessage(branch, record)?.content;
		});
		expect(texts).toEqual(["first", [{ type: "text", text: "three" }], undefined, undefined]);
	});

	it("takes no tokens where nothing reaches the wire", () => {
		const log = new Log();
		log.assistant(words(500), [], { stopReason: "aborted" });
		expect(branchItems(log.branch())).toMatchObject([{ kind: "entry", sizeTokens: 0 }]);
	});
});

describe("an anchor", () => {
	/** What the host hands out after an anchor that keeps four messages on: its summary, what it keeps, what followed. */
	function anchored(rules?: string) {
		const log = conversation();
		log.message({ role: "system", content: "old rules" });
		log.anchor("so far", "e4", rules);
		log.user("five");
		const summary: Message = { role: "custom", content: "so far", timestamp: 1_700_000_007_000 };
		const kept = log.outgoing().filter(({ role }) => role !== "system");
		const system: readonly Message[] = rules === undefined ? [] : [{ role: "system", content: rules, timestamp: 1 }];
		return { log, summary, handed: [...system, summary, ...kept.slice(3)] };
	}

	const all = ["m1", "m2", "m3", "m4", "m5", "m7"];

	it("has a number, and changes nothing of the messages", () => {
		const { log } = anchored();
		expect(names(branchItems(log.branch()))).toEqual(all);
		expect(log.branch().message(6)?.entry.kind).toBe("anchor");
	});

	it("has its system message at the head instead of the earlier ones, and none if it carries none", () => {
		const { log } = anchored("rules so far");
		log.message({ role: "system", content: "new rules" });
		expect(names(branchItems(log.branch()))).toEqual(["rules so far", ...all, "new rules"]);
	});

	it("is replaced by what it stands for in what the host hands out", () => {
		for (const rules of [undefined, "rules so far"]) {
			const { log, handed } = anchored(rules);
			const items = outgoingItems(log.branch(), structuredClone(handed));
			expect(names(items)).toEqual(names(branchItems(log.branch())));
			expect(items.map((item) => item.sizeTokens).slice(-6)).toEqual(
				branchItems(log.branch())
					.map((item) => item.sizeTokens)
					.slice(-6),
			);
		}
	});

	it("is found among messages of others, and where something shares its moment", () => {
		const { log, summary, handed } = anchored();
		const other: Message = { role: "custom", content: "other", timestamp: 1 };
		expect(names(outgoingItems(log.branch(), [other, ...handed, other]))).toEqual(["other", ...all, "other"]);
		const beside = log.message({ role: "custom", content: "beside", timestamp: summary.timestamp });
		const entry = log.entries.get(beside);
		const added = entry?.kind === "message" ? [entry.message] : [];
		expect(names(outgoingItems(log.branch(), [...handed, ...added]))).toEqual([...all, "m8"]);
	});

	it("stands before all but the system messages where another extension took its summary away", () => {
		const { log, summary, handed } = anchored("rules so far");
		const left = handed.filter((message) => message !== summary);
		expect(names(outgoingItems(log.branch(), left))).toEqual(["rules so far", ...all]);
		const system = left.slice(0, 1);
		expect(names(outgoingItems(log.branch(), system))).toEqual(["rules so far", "m1", "m2", "m3"]);
	});

	it("stands for nothing where another extension has put its messages in its place", () => {
		const { log } = anchored();
		const whole = log.outgoing().filter(({ role }) => role !== "system");
		expect(names(outgoingItems(log.branch(), whole))).toEqual(all);
		expect(names(outgoingItems(log.branch(), whole.slice(1)))).toEqual(all.slice(1));
	});

	it.each([4, 40])("tells of a block of %i steps only the first message that is sent", (steps) => {
		const log = new Log();
		log.user("one");
		for (let step = 0; step < steps; step++) log.step("read", { path: `${step}.ts` }, words(200, `s${step}`));
		const kept = log.user("go on");
		log.compress([range("m2", `m${2 * steps + 1}`)], bareSettings);
		log.anchor("so far", kept);
		const rest = [2, 3, 4].map((more) => `m${2 * steps + more}`);
		expect(names(viewItems(log.branch(), true))).toEqual(["m1", "m2", ...rest]);
		log.edit("e2", null);
		const anchor = log.branch().leaf?.anchor?.entry;
		const summary = anchor?.kind === "anchor" ? anchor.shownAs : expect.unreachable();
		const handed = [summary, ...log.outgoing().slice(-3)];
		expect(names(outgoingItems(log.branch(), handed))).toEqual(["m1", "m3", ...rest]);
		expect(names(branchItems(log.branch()))).toHaveLength(2 * steps + 3);
	});

	it("that kept nothing stands for everything before it", () => {
		for (const firstKept of [null, "nowhere"]) {
			const log = conversation();
			log.anchor("so far", firstKept);
			log.user("five");
			const handed = [{ role: "custom", content: "so far", timestamp: 1_700_000_006_000 }, ...log.outgoing().slice(5)];
			expect(handed).toHaveLength(2);
			expect(names(outgoingItems(log.branch(), handed))).toEqual(all);
		}
	});

	it("takes the place of an earlier one, and is over with a summary by the host", () => {
		const { log } = anchored();
		log.anchor("further", "e8");
		const further: Message = { role: "custom", content: "further", timestamp: 1_700_000_009_000 };
		const five = log.outgoing().slice(-1);
		expect(names(outgoingItems(log.branch(), [further, ...five]))).toEqual(all);
		log.compaction("by the host", "e8");
		expect(names(branchItems(log.branch()))).toEqual(["m9", "m7"]);
		expect(log.branch().leaf?.anchor).toBeUndefined();
	});

	it("after a summary by the host stands for that, too", () => {
		const log = conversation();
		log.compaction("by the host", "e3");
		log.user("five");
		log.anchor("so far", "e5");
		const handed = [
			{ role: "custom", content: "so far", timestamp: 1_700_000_008_000 },
			...log.outgoing().filter(({ content }) => content === "four" || content === "five"),
		];
		expect(handed).toHaveLength(3);
		expect(names(outgoingItems(log.branch(), handed))).toEqual(["m6", "m3", "m4", "m5", "m7"]);
		expect(names(branchItems(log.branch()))).toEqual(["m6", "m3", "m4", "m5", "m7"]);
	});
});

describe("matching what is outgoing", () => {
	function match(log: Log, change: (messages: readonly Message[]) => readonly Message[]): readonly string[] {
		return names(outgoingItems(log.branch(), change(structuredClone(log.outgoing()))));
	}

	const foreign: Message = { role: "custom", content: "foreign", timestamp: 5 };
	const all = ["m1", "m2", "m3", "m4", "m5"];

	it("finds the record of each copy and keeps the copy", () => {
		const log = conversation();
		const copies = structuredClone(log.outgoing());
		const items = outgoingItems(log.branch(), copies);
		expect(names(items)).toEqual(all);
		expect(items.every((item, index) => item.message === copies[index])).toBe(true);
	});

	it("passes foreign messages through in place", () => {
		const log = conversation();
		expect(match(log, ([first, ...rest]) => [foreign, ...(first ? [first] : []), foreign, ...rest, foreign])).toEqual([
			"foreign",
			"m1",
			"foreign",
			...all.slice(1),
			"foreign",
		]);
	});

	it("passes system messages through, also one that shares its timestamp with a message", () => {
		const log = conversation();
		const timestamp = log.outgoing()[0]?.timestamp ?? 0;
		const system: Message = { role: "system", content: "rules", timestamp };
		expect(match(log, (messages) => [system, ...messages])).toEqual(["rules", ...all]);
	});

	it("bears dropped, moved and swapped messages", () => {
		const log = conversation();
		expect(match(log, (messages) => messages.slice(2))).toEqual(["m3", "m4", "m5"]);
		expect(match(log, (messages) => messages.toReversed())).toEqual(all.toReversed());
		expect(match(log, ([one, two, three, ...rest]) => [three, one, two, ...rest].filter((each) => !!each))).toEqual([
			"m3",
			"m1",
			"m2",
			"m4",
			"m5",
		]);
	});

	it("takes each record once: a second copy is foreign", () => {
		const log = conversation();
		expect(match(log, (messages) => [...messages, ...messages.slice(0, 1)])).toEqual([...all, "one"]);
	});

	it("keeps messages apart that share role and timestamp, by order and by call", () => {
		const log = new Log();
		log.message({ role: "user", content: "first", timestamp: 7 });
		log.message({ role: "user", content: "second", timestamp: 7 });
		log.assistant("", [
			{ name: "read", id: "c1" },
			{ name: "read", id: "c2" },
		]);
		log.result("one", { call: 0, timestamp: 9 });
		log.result("two", { call: 1, timestamp: 9 });
		expect(match(log, (messages) => messages)).toEqual(all);
		expect(match(log, (messages) => [...messages.slice(0, 3), ...messages.slice(3).toReversed()])).toEqual([
			"m1",
			"m2",
			"m3",
			"m5",
			"m4",
		]);
		expect(match(log, (messages) => [foreign, ...messages.slice(3), ...messages.slice(0, 2)])).toEqual([
			"foreign",
			"m4",
			"m5",
			"m1",
			"m2",
		]);
	});
});
