import { describe, expect, it } from "vitest";
import type { Entry } from "../../kernel/entry.ts";
import { mark } from "../../kernel/operation.ts";
import { type Branch, Timeline } from "../../kernel/timeline.ts";
import { bareSettings, Log, range, shown, words } from "../support/log.ts";

function ids(branch: Branch): readonly (string | undefined)[] {
	return Array.from({ length: branch.length }, (_, depth) => branch.at(depth)?.entry.id);
}

/** A log in which two files were read before the user asked again, folded as b1. */
function folded(): Log {
	const log = new Log();
	log.user("task");
	log.step("read", { path: "a.ts" }, words(900));
	log.step("read", { path: "b.ts" }, words(900));
	log.user("go on");
	log.compress([range("m2", "m5")], bareSettings);
	return log;
}

describe("numbering", () => {
	it("counts messages, summaries and nothing else", () => {
		const log = new Log();
		const kept = [
			log.user("task"),
			log.assistant("", [{ name: "read" }], { stopReason: "error" }),
			log.message({ role: "custom", content: "excluded" }, true),
			log.message({ role: "weather", content: "rain" }),
		];
		log.message({ role: "system", content: "be brief" });
		log.other();
		log.edit("e1", null);
		log.append({ kind: "custom", customType: "codemode-store", data: 1 });
		kept.push(log.compaction("so far", "e2"), log.branchSummary("elsewhere"));
		const branch = log.branch();
		expect(branch.lastOrdinal).toBe(kept.length);
		expect(kept.map((_, index) => branch.message(index + 1)?.entry.id)).toEqual(kept);
		expect(branch.messages(2, 99).map((record) => record.ordinal)).toEqual([2, 3, 4, 5, 6]);
		expect(branch.message(0)).toBeUndefined();
		expect(branch.message(7)).toBeUndefined();
	});

	it("of an entry between two others is that of the message before it", () => {
		const log = new Log();
		log.user("one");
		const between = log.other();
		expect(log.branch().leaf?.entry.id).toBe(between);
		expect(log.branch().leaf).toMatchObject({ ordinal: 1, isCounted: false, sizeTokens: 0, message: undefined });
	});
});

describe("a record", () => {
	it("is silent if nothing of it reaches a model", () => {
		const log = new Log();
		log.user("heard");
		log.assistant("heard");
		log.assistant("", [{ name: "read" }], { stopReason: "aborted" });
		log.assistant("", [], { stopReason: "error" });
		log.message({ role: "custom", content: "excluded" }, true);
		log.message({ role: "user", content: "heard", stopReason: "error" });
		log.branchSummary("heard");
		log.compaction("heard", null);
		log.other();
		const branch = log.branch();
		expect(Array.from({ length: branch.length }, (_, depth) => branch.at(depth)?.isSilent)).toEqual([
			false,
			false,
			true,
			true,
			true,
			false,
			false,
			false,
			true,
		]);
	});

	it("of a result belongs to the assistant message that made the call", () => {
		const log = new Log();
		const first = log.assistant("", [
			{ name: "read", id: "c1" },
			{ name: "read", id: "c2" },
		]);
		const results = [log.result("one", { call: 0 }), log.result("two", { call: 1 })];
		log.branch();
		expect(results.map((id) => log.timeline.find(id)?.unit.entry.id)).toEqual([first, first]);
	});

	it("of a result whose call came from an earlier or no assistant message stands alone", () => {
		const log = new Log();
		log.assistant("", [{ name: "read", id: "c1" }]);
		log.assistant("", [{ name: "read", id: "c2" }]);
		const orphans = [log.result("late", { toolCallId: "c1" }), log.message({ role: "toolResult", content: "x" })];
		log.branch();
		for (const id of orphans) expect(log.timeline.find(id)?.unit.entry.id).toBe(id);
	});

	it("of a call id that occurs twice belongs to the latest message with it", () => {
		const log = new Log();
		const units = [1, 2].map(() => {
			const made = log.assistant("", [{ name: "read", id: "same" }]);
			const answered = log.result("x");
			log.branch();
			return log.timeline.find(answered)?.unit.entry.id === made;
		});
		expect(units).toEqual([true, true]);
		expect(log.branch().callUnit("same")).toBe(log.branch().message(3));
		expect(log.branch().callUnit("other")).toBeUndefined();
	});
});

describe("moving between branches", () => {
	it("gives each leaf its own path and shares the records of what they have in common", () => {
		const log = new Log();
		log.user("root");
		const fork = log.assistant("both");
		const left = log.user("left");
		log.leafId = fork;
		const right = log.user("right");
		const [one, two] = [log.branch(left), log.branch(right)];
		expect(ids(one)).toEqual(["e1", "e2", "e3"]);
		expect(ids(two)).toEqual(["e1", "e2", "e4"]);
		expect(one.at(1)).toBe(two.at(1));
		expect([one.message(3)?.entry.id, two.message(3)?.entry.id]).toEqual([left, right]);
		expect(ids(log.branch(left))).toEqual(ids(one));
	});

	it("leaves a branch that was handed out as it was", () => {
		const log = new Log();
		log.user("one");
		const early = log.branch();
		log.assistant("two");
		const late = log.branch();
		log.leafId = "e1";
		log.user("other");
		const other = log.branch();
		expect([early, late, other].map(ids)).toEqual([["e1"], ["e1", "e2"], ["e1", "e3"]]);
		expect(early.lastOrdinal).toBe(1);
		expect([early.at(1), early.message(2), early.messages(1, 5).length]).toEqual([undefined, undefined, 1]);
		expect(late.message(2)?.entry.id).toBe("e2");
	});

	it("reads each entry once", () => {
		const log = new Log();
		const reads: string[] = [];
		const read = (id: string) => {
			reads.push(id);
			return log.entries.get(id);
		};
		const timeline = new Timeline(() => undefined);
		const first = log.user("one");
		const second = log.user("two");
		timeline.branch(second, read);
		timeline.branch(first, read);
		log.leafId = first;
		timeline.branch(log.user("three"), read);
		expect(reads).toEqual(["e2", "e1", "e3"]);
	});

	it("takes the state along: a fold holds on its own branch only", () => {
		const log = folded();
		const leaf = log.leafId;
		log.leafId = "e6";
		log.user("another way");
		expect(log.branch().state.tops).toEqual([]);
		expect(shown(log.view())).toEqual(["m1", "m2", "m3", "m4", "m5", "m6", "m7"]);
		expect(log.branch(leaf).state.tops.map((block) => block.number)).toEqual([1]);
	});

	it("numbers blocks along each branch by itself", () => {
		const log = folded();
		log.leafId = "e6";
		log.user("another way");
		log.compress([range("m2", "m3")], bareSettings);
		expect(log.branch().state.blocks.get(1)?.spans).toEqual([{ from: 2, to: 3 }]);
		expect(log.branch("e8").state.blocks.get(1)?.spans).toEqual([{ from: 2, to: 5 }]);
	});

	it("to null or to an unknown leaf gives an empty branch", () => {
		const log = folded();
		for (const leaf of [null, "nowhere"]) {
			const branch = log.branch(leaf);
			expect([branch.length, branch.lastOrdinal, branch.leaf, branch.state.tops.length]).toEqual([0, 0, undefined, 0]);
			expect(branch.messages(1, 9)).toEqual([]);
		}
		expect(log.branch().length).toBe(8);
	});
});

describe("a damaged tree", () => {
	function chain(parents: Readonly<Record<string, string | null>>): (id: string) => Entry | undefined {
		return (id) => {
			const parentId = parents[id];
			if (parentId === undefined) return undefined;
			return {
				id,
				parentId,
				timestampMs: 1,
				kind: "message",
				omitted: false,
				message: { role: "user", content: id, timestamp: 1 },
			};
		};
	}

	it("with a missing parent begins at the first entry there is", () => {
		const timeline = new Timeline(() => undefined);
		const read = chain({ b: "gone", c: "b", x: null });
		expect(ids(timeline.branch("c", read))).toEqual(["b", "c"]);
		timeline.branch("x", read);
		expect(ids(timeline.branch("c", read))).toEqual(["b", "c"]);
	});

	it("with a parent that turns up later keeps the paths it knows", () => {
		const timeline = new Timeline(() => undefined);
		timeline.branch("b", chain({ b: "a" }));
		const read = chain({ a: "root", root: null, b: "a" });
		timeline.branch("a", read);
		expect(ids(timeline.branch("b", read))).toEqual(["b"]);
	});

	it("with a cycle of parents comes to an end, also when it is looked at again", () => {
		const timeline = new Timeline(() => undefined);
		const read = chain({ a: "c", b: "a", c: "b", self: "self", x: null });
		expect(ids(timeline.branch("c", read))).toEqual(["a", "b", "c"]);
		timeline.branch("x", read);
		expect(ids(timeline.branch("c", read))).toEqual(["a", "b", "c"]);
		expect(ids(timeline.branch("self", read))).toEqual(["self"]);
	});

	it("takes its order from the parents, whatever the timestamps say", () => {
		const log = new Log();
		log.message({ role: "user", content: "first", timestamp: 9_000 });
		log.message({ role: "assistant", content: `answer ${words(900)}`, timestamp: 9_000 });
		log.message({ role: "assistant", content: words(900), timestamp: 10 });
		log.message({ role: "user", content: "last", timestamp: 10 });
		log.compress([range("m2", "m3")], bareSettings);
		expect(shown(log.view())).toEqual(["m1", "b1", "m4", "m5", "m6"]);
	});
});

describe("operations in the log", () => {
	it("hold from their entry on", () => {
		const log = folded();
		const states = Array.from({ length: 8 }, (_, depth) => log.branch().at(depth)?.state.tops.length);
		expect(states).toEqual([0, 0, 0, 0, 0, 0, 0, 1]);
		expect(log.branch().at(6)?.state).toBe(log.branch().at(0)?.state);
	});

	it("are found by ordinal in a copy whose entries have other ids", () => {
		const log = folded();
		const other = new Map<string, Entry>(
			[...log.entries.values()].map((entry) => {
				const parentId = entry.parentId === null ? null : `copy-${entry.parentId}`;
				return [`copy-${entry.id}`, { ...entry, id: `copy-${entry.id}`, parentId }] as const;
			}),
		);
		const branch = new Timeline(() => undefined).branch("copy-e8", (id) => other.get(id));
		expect(branch.state.blocks.get(1)?.spans).toEqual(log.branch().state.blocks.get(1)?.spans);
		expect(branch.state.blocks.get(1)?.text).toBe(log.branch().state.blocks.get(1)?.text);
	});

	it("are found by entry id where ids and ordinals disagree", () => {
		const log = folded();
		const text = '<acp-block id="b2">';
		const spans = [{ fromId: "e7", from: 1, toId: "e8", to: 2 }];
		const block = { number: 2, tier: 1, summary: "s", text, spans, children: [], messages: 2, sizeTokens: 9 };
		log.operation({ kind: "fold", author: "rules", blocks: [block], reductions: [], sizeTokens: 1 });
		expect(log.branch().state.blocks.get(2)).toMatchObject({ spans: [{ from: 7, to: 8 }], author: "rules" });
	});

	it("are read from custom entries of our type and from results of our tools that are no error", () => {
		const log = folded();
		const nudge = { kind: "nudge" as const, sizeTokens: 77 };
		const base = () => log.branch().state.baseTokens;
		const before = base();
		log.append({ kind: "custom", customType: "acp-other", data: mark(nudge) });
		log.append({ kind: "custom", customType: "acp-operation", data: { acp: 1, op: "none" } });
		log.message({ role: "toolResult", content: "x", toolName: "bash", details: mark(nudge) });
		log.message({ role: "toolResult", content: "x", toolName: "compress", isError: true, details: mark(nudge) });
		log.message({ role: "assistant", content: "Folded:", toolName: "compress", details: mark(nudge) });
		expect(base()).toBe(before);
		log.operation(nudge);
		expect(base()).toBe(77);
		log.message({
			role: "toolResult",
			content: "x",
			toolName: "compress",
			details: mark({ ...nudge, sizeTokens: 88 }),
		});
		expect(base()).toBe(88);
	});
});
