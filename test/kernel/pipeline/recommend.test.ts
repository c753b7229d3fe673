import { describe, expect, it } from "vitest";
import { foldableRanges, leastRangeTokens, recommend } from "../../../kernel/pipeline/recommend.ts";
import type { Settings } from "../../../kernel/settings.ts";
import { piecesOf } from "../../../kernel/unit.ts";
import { bareSettings, contextOf, Log, range, summaryOf, words } from "../../support/log.ts";

const big = words(4 * leastRangeTokens);

function offered(log: Log, settings: Settings = bareSettings): readonly (readonly [number, number])[] {
	const context = contextOf(log.branch(), { settings });
	return recommend(log.view(), context).foldable.map((each) => [each.from, each.to]);
}

describe("the stage recommend", () => {
	it("offers what can be folded, cut at the user's messages, oldest first", () => {
		const log = new Log();
		log.user("one");
		log.step("read", { path: "a" }, big);
		log.step("read", { path: "b" }, big);
		log.user("two");
		log.step("read", { path: "c" }, big);
		log.user("three");
		expect(offered(log)).toEqual([
			[1, 5],
			[6, 8],
		]);
	});

	it("joins a turn that is too light with the next one, and offers nothing light", () => {
		const log = new Log();
		log.user("one");
		log.assistant("short");
		log.user("two");
		log.step("read", { path: "a" }, big);
		log.user("three");
		log.assistant("short");
		log.user("four");
		expect(offered(log)).toEqual([[1, 5]]);
	});

	it("offers nothing that is protected: neither the only heavy message nor a run across it", () => {
		const log = new Log();
		log.user(big);
		expect(offered(log)).toEqual([]);
		log.step("skill", {}, big);
		log.user("go on");
		expect(offered(log, { ...bareSettings, protectedTools: ["skill"] })).toEqual([[1, 1]]);
		expect(offered(log, { ...bareSettings, preserveRecentTokens: 1_000_000 })).toEqual([]);
	});

	it("counts the session's first user message for nothing, since its block repeats it", () => {
		const log = new Log();
		log.user(words(1_900));
		log.assistant("short");
		log.user("two");
		expect(offered(log)).toEqual([]);
		log.step("read", { path: "a" }, words(1_800));
		log.user("three");
		expect(offered(log)).toEqual([[1, 5]]);
		const summary = summaryOf(log.branch(), 1, 5) + words(300);
		expect(log.compress([range("m1", "m5", summary)], bareSettings).outcomes).toMatchObject([{ isApplied: true }]);
	});

	it("counts it for nothing, however little of it is still in view", () => {
		const log = new Log();
		log.user(words(5_000));
		log.step("read", { path: "a" }, words(1_200));
		log.user("two");
		const cut = { id: "e1", ordinal: 1, rule: "truncate", keepChars: 50, savedTokens: 7_000 } as const;
		log.operation({ kind: "truncate", reductions: [cut], sizeTokens: 1 });
		expect(offered(log)).toEqual([]);
		log.step("read", { path: "b" }, words(3_000));
		log.user("three");
		expect(offered(log)).toEqual([[1, 6]]);
	});

	it("ends runs at blocks and at what is being folded", () => {
		const log = new Log();
		log.user("task");
		for (const name of ["a", "b", "c"]) log.step("read", { path: name }, big);
		log.user("go on");
		const pieces = piecesOf(log.view().items);
		const middle = new Set(pieces.filter((piece) => piece.kind === "unit" && piece.records[0]?.ordinal === 4));
		expect(foldableRanges(pieces, bareSettings, log.branch(), middle).map((each) => [each.from, each.to])).toEqual([
			[1, 3],
			[6, 7],
		]);
		log.compress([range("m4", "m5")], bareSettings);
		expect(offered(log)).toEqual([
			[1, 3],
			[6, 7],
		]);
	});

	it("offers ranges in the order of the view, which compress takes", () => {
		const log = new Log();
		log.user("task");
		for (const name of ["a", "b", "c"]) log.step("read", { path: name }, big);
		log.compaction(words(300), "e6");
		log.user("go on");
		expect(offered(log)).toEqual([[8, 7]]);
		const plan = log.compress([range("m8", "m7")], bareSettings);
		expect(plan.outcomes).toMatchObject([{ isApplied: true, stayed: [], notes: [] }]);
	});
});
