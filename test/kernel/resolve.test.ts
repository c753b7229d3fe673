import { describe, expect, it } from "vitest";
import { layout, type Resolved, resolveRange } from "../../kernel/resolve.ts";
import { bareSettings, Log, range, shown, words } from "../support/log.ts";

/** Task, three steps of work, an answer and a question: m1 to m9, units [1] [2 3] [4 5] [6 7] [8] [9]. */
function worked(): Log {
	const log = new Log();
	log.user("task");
	log.step("read", { path: "a" }, words(900, "a"));
	log.step("read", { path: "b" }, words(900, "b"));
	log.step("read", { path: "c" }, words(900, "c"));
	log.assistant("found it");
	log.user("go on");
	return log;
}

function resolve(log: Log, startId: string, endId: string) {
	return resolveRange({ startId, endId }, layout(log.branch(), log.view(), undefined));
}

function resolved(log: Log, startId: string, endId: string): Resolved {
	const found = resolve(log, startId, endId);
	return "code" in found ? expect.unreachable(found.code) : found;
}

describe("a range in message refs", () => {
	it("is the units from one ref to the other", () => {
		expect(resolved(worked(), "m2", "m00005")).toEqual({
			first: 1,
			last: 2,
			asked: "m00002-m00005",
			range: "m00002-m00005",
			isInBlocks: false,
			notes: [],
		});
		expect(resolved(worked(), "m8", "m8")).toMatchObject({ first: 4, last: 4, asked: "m00008", range: "m00008" });
	});

	it("widens to whole units at both ends and says what was asked for", () => {
		expect(resolved(worked(), "m3", "m6")).toMatchObject({
			first: 1,
			last: 3,
			range: "m00002-m00007",
			notes: ["asked for m00003-m00006"],
		});
	});

	it("may be given in reverse, and says so", () => {
		expect(resolved(worked(), "m5", "m2")).toMatchObject({
			first: 1,
			last: 2,
			asked: "m00002-m00005",
			range: "m00002-m00005",
			notes: ["the boundaries were reversed"],
		});
		expect(resolved(worked(), "m3", "m2")).toMatchObject({ asked: "m00002-m00003", range: "m00002-m00003" });
	});

	it("takes a qualified ref if number and entry agree", () => {
		expect(resolved(worked(), "m2@e2", "m5")).toMatchObject({ range: "m00002-m00005" });
		expect(resolve(worked(), "m2@e3", "m5")).toEqual({ code: "foreignRef", ref: "m00002@e3" });
		expect(resolve(worked(), "m2", "m77@e5")).toEqual({ code: "foreignRef", ref: "m00077@e5" });
	});

	it("snaps inwards where a boundary is not in view", () => {
		const log = worked();
		log.edit("e1", null);
		log.edit("e9", null);
		log.assistant("failed", [], { stopReason: "error" });
		expect(shown(log.view())).toEqual(["m2", "m3", "m4", "m5", "m6", "m7", "m8", "m10"]);
		expect(resolved(log, "m1", "m10")).toMatchObject({
			first: 0,
			last: 3,
			range: "m00002-m00008",
			notes: ["asked for m00001-m00010"],
		});
		expect(resolve(log, "m9", "m10")).toEqual({ code: "notInView", range: "m00009-m00010" });
		expect(resolved(log, "m9", "m1")).toMatchObject({ range: "m00002-m00008" });
	});

	it.each([
		["m99", "m2", { code: "unknownMessage", ref: "m00099", last: 9 }],
		["m2", "m100", { code: "unknownMessage", ref: "m00100", last: 9 }],
		["b1", "m2", { code: "unknownBlock", ref: "b1", known: [] }],
		["", "m2", { code: "unreadableRef", text: "" }],
		["m2", "the end", { code: "unreadableRef", text: "the end" }],
	])("from %j to %j is refused with a reason", (start, end, problem) => {
		expect(resolve(worked(), start, end)).toEqual(problem);
	});
});

describe("a range over blocks", () => {
	/** [m1] b1 b2 [m8] [m9] and the spent call; b1 was made over the later messages. */
	function folded(): Log {
		const log = worked();
		log.compress([range("m6", "m7")], bareSettings);
		log.compress([range("m2", "m5")], bareSettings);
		return log;
	}

	it("takes block refs in any order of number and place", () => {
		for (const [start, end] of [
			["b2", "b1"],
			["b1", "b2"],
		] as const) {
			expect(resolved(folded(), start, end)).toMatchObject({ first: 1, last: 2, range: "b2-b1", isInBlocks: true });
		}
		expect(resolved(folded(), "b1", "b2").notes).toEqual(["the boundaries were reversed"]);
		expect(resolved(folded(), "B02", "b02")).toMatchObject({ first: 1, last: 1, range: "b2" });
	});

	it("widens a message ref inside a block to the block", () => {
		expect(resolved(folded(), "m3", "m8")).toMatchObject({
			first: 1,
			last: 3,
			range: "m00002-m00008",
			isInBlocks: false,
		});
		expect(resolved(folded(), "m3", "m4")).toMatchObject({ first: 1, last: 1, range: "b2", asked: "m00003-m00004" });
	});

	it("may have a block at one end and a message at the other", () => {
		expect(resolved(folded(), "b1", "m8")).toMatchObject({ first: 2, last: 3, isInBlocks: false });
	});

	it("takes a block that was folded into another for that one", () => {
		const log = folded();
		log.compress([range("b2", "b1", "Both files say the same.")], bareSettings);
		expect(resolved(log, "b1", "b1")).toMatchObject({ range: "b3", isInBlocks: true });
		expect(resolved(log, "b3", "b2")).toMatchObject({ range: "b3" });
	});

	it("refuses blocks that do not stand, and names those that do", () => {
		const log = folded();
		log.operation({ kind: "unfold", block: 1, sizeTokens: 1 });
		expect(resolve(log, "b1", "b2")).toEqual({ code: "unknownBlock", ref: "b1", known: [2] });
		expect(resolve(log, "b2@e13", "b2")).toMatchObject({ first: 1 });
		expect(resolve(log, "b2@e11", "b2")).toEqual({ code: "foreignRef", ref: "b2@e11" });
		expect(resolve(log, "b9@e11", "b2")).toEqual({ code: "foreignRef", ref: "b9@e11" });
	});
});

describe("the refs in view", () => {
	it("each stand for something that compress finds", () => {
		const log = worked();
		log.compress([range("m2", "m3", "First."), range("m6", "m7", "Third.")], bareSettings);
		log.message({ role: "custom", content: "note" });
		log.compaction("so far", "e6");
		log.user("next");
		const text = JSON.stringify(log.sent().map((message) => message.content));
		const refs = [...text.matchAll(/<acp>(m\d+)<\/acp>|<acp-block id=\\"(b\d+)/g)].map((match) => match[1] ?? match[2]);
		expect(refs).toEqual(["m00013", "b2", "m00009", "m00011", "m00012", "m00014"]);
		for (const ref of refs) expect(resolve(log, ref ?? "", ref ?? "")).not.toHaveProperty("code");
	});
});

describe("a range after a compaction", () => {
	/** Summary m10 first, then m6 to m9, then m11; what came before m6 is gone from the view. */
	function compacted(): Log {
		const log = worked();
		log.compaction("so far", "e6");
		log.user("next");
		return log;
	}

	it("goes by the order of the view, summary first", () => {
		expect(shown(compacted().view())).toEqual(["m10", "m6", "m7", "m8", "m9", "m11"]);
		expect(resolved(compacted(), "m10", "m7")).toMatchObject({
			first: 0,
			last: 1,
			range: "m00010-m00007",
			notes: [],
		});
		expect(resolved(compacted(), "m7", "m10")).toMatchObject({
			range: "m00010-m00007",
			notes: ["the boundaries were reversed"],
		});
	});

	it("that the host has dropped holds nothing in view", () => {
		expect(resolve(compacted(), "m2", "m5")).toEqual({ code: "notInView", range: "m00002-m00005" });
		expect(resolved(compacted(), "m2", "m7")).toMatchObject({ first: 1, last: 1, range: "m00006-m00007" });
	});

	it("in blocks that the host has dropped holds nothing in view", () => {
		const log = worked();
		log.compress([range("m2", "m5")], bareSettings);
		log.compaction("so far", "e6");
		expect(resolve(log, "b1", "b1")).toEqual({ code: "notInView", range: "b1" });
	});
});
