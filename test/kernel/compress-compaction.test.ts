import { describe, expect, it } from "vitest";
import { textOf } from "../../kernel/message.ts";
import { findOriginals, pageOf } from "../../kernel/restore.ts";
import { bareSettings, Log, range, shown, words } from "../support/log.ts";

/** Task and five steps of work, m1 to m11. */
function worked(): Log {
	const log = new Log();
	log.user("task");
	for (const name of ["a", "b", "c", "d", "e"]) log.step("read", { path: name }, words(1_200, name));
	return log;
}

function spans(log: Log, number: number): readonly (readonly [number, number])[] {
	return (log.branch().state.blocks.get(number)?.spans ?? []).map((span) => [span.from, span.to] as const);
}

describe("a fold after a compaction", () => {
	/** m12 is the summary; the view is m12, m8 to m11, m13. */
	function compacted(): Log {
		const log = worked();
		log.compaction(words(600, "summary"), "e8");
		log.user("go on");
		return log;
	}

	it("goes by the order of the view, and the summary is a span of its own", () => {
		const log = compacted();
		log.compress([range("m12", "m11", "All of it.")], bareSettings);
		expect(spans(log, 1)).toEqual([
			[8, 11],
			[12, 12],
		]);
		expect(shown(log.view())).toEqual(["b1", "m13", "m14", "m15"]);
	});

	it("never has a span across a compaction entry, in view or not", () => {
		const log = compacted();
		log.step("read", { path: "f" }, words(1_200, "f"));
		log.compaction(words(600, "later"), "e10");
		log.step("read", { path: "g" }, words(1_200, "g"));
		log.user("and on");
		expect(shown(log.view())).toEqual(["m16", "m10", "m11", "m13", "m14", "m15", "m17", "m18", "m19"]);
		log.compress([range("m10", "m18", "The kept part.")], bareSettings);
		expect(spans(log, 1)).toEqual([
			[10, 11],
			[13, 15],
			[17, 18],
		]);
		expect(shown(log.view())).toEqual(["m16", "b1", "m19", "m20", "m21"]);
	});

	it("of a block and the summary before it keeps the spans of both apart", () => {
		const log = compacted();
		log.compress([range("m8", "m11", words(300))], bareSettings);
		log.compress([range("m12", "b1", "All.")], bareSettings);
		expect(spans(log, 2)).toEqual([
			[8, 11],
			[12, 12],
		]);
		expect(log.branch().state.blocks.get(2)).toMatchObject({ children: [1], messages: 5 });
		expect(shown(log.view()).slice(0, 2)).toEqual(["b2", "m13"]);
	});

	it("whose range is in what the compaction dropped says that nothing of it is in view", () => {
		const plan = compacted().compress([range("m2", "m5"), range("m9", "m10")], bareSettings);
		expect(plan.outcomes).toMatchObject([
			{ isApplied: false, problem: { code: "notInView", range: "m00002-m00005" } },
			{ isApplied: true },
		]);
	});

	it("takes along the half of a pair that the compaction dropped", () => {
		const log = worked();
		log.compaction("so far", "e9");
		log.user("go on");
		log.compress([range("m9", "m11")], bareSettings);
		expect(spans(log, 1)).toEqual([[8, 11]]);
		expect(shown(log.view())).toEqual(["m12", "b1", "m13", "m14", "m15"]);
	});
});

describe("a compaction over a block", () => {
	it("that drops all its messages retires it: it hides nothing and still opens", () => {
		const log = worked();
		log.user("go on");
		log.compress([range("m2", "m5", "Two files.")], bareSettings);
		log.compaction("so far", "e8");
		expect(shown(log.view())).toEqual(["m15", "m8", "m9", "m10", "m11", "m12", "m13", "m14"]);
		expect(log.sent().map(textOf).join("\n")).not.toContain("Two files.");
		const originals = findOriginals(log.branch(), "b1");
		if ("code" in originals) expect.unreachable(originals.code);
		expect(originals.records.map((record) => record.ordinal)).toEqual([2, 3, 4, 5]);
		expect(pageOf(originals, 1)).toMatchObject({ pages: 1 });
		log.compress([range("m8", "m9", "Next.")], bareSettings);
		expect(log.branch().state.blocks.get(2)).toMatchObject({ number: 2, tier: 1, children: [] });
	});

	it("that drops some of its messages leaves it standing at the first that is still sent", () => {
		const log = worked();
		log.user("go on");
		log.compress([range("m4", "m9", "Three files.")], bareSettings);
		log.compaction("so far", "e6");
		expect(shown(log.view())).toEqual(["m15", "b1", "m10", "m11", "m12", "m13", "m14"]);
		expect(textOf(log.sent()[1] ?? expect.unreachable())).toContain("Three files.");
	});

	it("can be followed by a fold that takes such a block along", () => {
		const log = worked();
		log.user("go on");
		log.compress([range("m4", "m9", "Three files.")], bareSettings);
		log.compaction("so far", "e6");
		log.compress([range("b1", "m11", "More.")], bareSettings);
		expect(spans(log, 2)).toEqual([[4, 11]]);
		expect(shown(log.view()).slice(0, 3)).toEqual(["m15", "b2", "m12"]);
	});

	it("does not bring anything back that an earlier compaction dropped", () => {
		const log = worked();
		log.compaction("so far", "e8");
		log.user("go on");
		log.compress([range("m8", "m9")], bareSettings);
		for (const name of shown(log.view())) expect(["m1", "m2", "m3", "m4", "m5", "m6", "m7"]).not.toContain(name);
	});

	it("on another branch does not matter to this one", () => {
		const log = worked();
		log.user("go on");
		log.compress([range("m2", "m5", "Two files.")], bareSettings);
		const leaf = log.leafId;
		log.compaction("so far", null);
		expect(shown(log.view())).toEqual(["m15"]);
		log.leafId = leaf;
		expect(shown(log.view()).slice(0, 3)).toEqual(["m1", "b1", "m6"]);
	});
});
