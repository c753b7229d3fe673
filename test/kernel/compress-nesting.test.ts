import { describe, expect, it } from "vitest";
import { textOf } from "../../kernel/message.ts";
import { viewTokens } from "../../kernel/view.ts";
import { bareSettings, Log, range, shown, words } from "../support/log.ts";

/** m1, then b1 to b3 over two messages each, m8 and m9, and the spent calls behind. */
function folded(): Log {
	const log = new Log();
	log.user("task");
	for (const name of ["a", "b", "c", "d"]) log.step("read", { path: name }, words(1_200, name));
	log.user("go on");
	log.compress([range("m2", "m3", "First."), range("m4", "m5", "Second."), range("m6", "m7", "Third.")], bareSettings);
	return log;
}

function tiers(log: Log): readonly (readonly [number, number])[] {
	return log.branch().state.tops.map((top) => [top.number, top.tier]);
}

describe("blocks in a block", () => {
	it("are merged by block refs into one of the next tier, though all their messages are folded", () => {
		const log = folded();
		const plan = log.compress([range("b1", "b3", "All three.")], bareSettings);
		expect(plan.operation).toMatchObject({
			blocks: [{ number: 4, tier: 2, children: [1, 2, 3], messages: 6, spans: [{ from: 2, to: 7 }] }],
		});
		expect(shown(log.view())).toEqual(["m1", "b4", "m8", "m9", "m10", "m13", "m14"]);
		expect(log.branch().state.blocks.size).toBe(4);
	});

	it("keep the size of the messages they stand for, and the record is that of the messages", () => {
		const log = folded();
		const sizes = [1, 2, 3].map((number) => log.branch().state.blocks.get(number)?.sizeTokens ?? 0);
		log.compress([range("b1", "b3", "All three.")], bareSettings);
		const block = log.branch().state.blocks.get(4);
		expect(block?.sizeTokens).toBe(sizes.reduce((sum, size) => sum + size));
		expect(block?.text).toContain("files: a (read), b (read), c (read)");
	});

	it("may be given in any order", () => {
		const log = folded();
		log.compress([range("b3", "b2", "Two.")], bareSettings);
		expect(shown(log.view()).slice(0, 4)).toEqual(["m1", "b1", "b4", "m8"]);
		log.compress([range("b4", "b1", "All.")], bareSettings);
		expect(tiers(log)).toEqual([[5, 3]]);
	});

	it("made in another order than they stand are found by place", () => {
		const log = new Log();
		log.user("task");
		for (const name of ["a", "b", "c", "d"]) log.step("read", { path: name }, words(1_200, name));
		log.user("go on");
		log.compress([range("m6", "m9", "Later part.")], bareSettings);
		log.compress([range("m2", "m5", "Earlier part.")], bareSettings);
		const plan = log.compress([range("b1", "b2", "Both parts.")], bareSettings);
		expect(plan.operation).toMatchObject({ blocks: [{ number: 3, tier: 2, children: [2, 1] }] });
		expect(shown(log.view()).slice(0, 3)).toEqual(["m1", "b3", "m10"]);
	});

	it("take the messages between them along", () => {
		const log = new Log();
		log.user("task");
		for (const name of ["a", "b", "c"]) log.step("read", { path: name }, words(1_200, name));
		log.user("go on");
		log.compress([range("m2", "m3", "First."), range("m6", "m7", "Third.")], bareSettings);
		log.compress([range("b1", "b2", "All.")], bareSettings);
		expect(log.branch().state.blocks.get(3)).toMatchObject({
			tier: 2,
			messages: 6,
			spans: [{ from: 2, to: 7 }],
			children: [1, 2],
		});
	});

	it("in a range of message refs keep the tier of the highest", () => {
		const log = folded();
		log.compress([range("m3", "m9", "Everything so far.")], bareSettings);
		expect(tiers(log)).toEqual([[4, 1]]);
		expect(log.branch().state.blocks.get(4)?.children).toEqual([1, 2, 3]);
		log.compress([range("b4", "b4", "Short.")], bareSettings);
		log.step("read", { path: "e" }, words(1_200));
		log.user("and on");
		log.compress([range("m2", "m18", "Longer.")], bareSettings);
		expect(tiers(log)[0]).toEqual([6, 2]);
	});

	it("between a block ref and a message ref keep the tier as well", () => {
		const log = folded();
		log.compress([range("b3", "m8", "The last part.")], bareSettings);
		expect(tiers(log)).toEqual([
			[1, 1],
			[2, 1],
			[4, 1],
		]);
	});

	it("never appear twice: each summary in view stands there once", () => {
		const log = folded();
		log.compress([range("b1", "b2", "First and second.")], bareSettings);
		const text = log.sent().slice(0, -2).map(textOf).join("\n");
		for (const summary of ["First and second.", "Third."]) expect(text.split(summary)).toHaveLength(2);
		for (const summary of ["First.", "Second."]) expect(text).not.toContain(`\n${summary}\n`);
	});
});

describe("tiers", () => {
	/** Three blocks with long summaries; rewritten twice, the first is of tier 3. */
	function rewritten(number: number, log: Log): void {
		for (const sizeTokens of [200, 50]) {
			const last = sizeTokens === 200 ? number : log.branch().state.lastNumber;
			log.compress([range(`b${last}`, `b${last}`, words(sizeTokens))], bareSettings);
		}
	}

	function lengthy(): Log {
		const log = new Log();
		log.user("task");
		for (const name of ["a", "b"]) log.step("read", { path: name }, words(3_000, name));
		log.user("go on");
		log.compress([range("m2", "m3", words(600)), range("m4", "m5", words(600))], bareSettings);
		return log;
	}

	it("rise to three and no further: merged blocks of the top tier stay there", () => {
		const log = lengthy();
		rewritten(1, log);
		rewritten(2, log);
		expect(tiers(log)).toEqual([
			[4, 3],
			[6, 3],
		]);
		log.compress([range("b4", "b6", "Both.")], bareSettings);
		expect(tiers(log)).toEqual([[7, 3]]);
	});

	it("refuse a block of the top tier alone, again and again, and use no number up", () => {
		const log = lengthy();
		rewritten(1, log);
		const state = log.branch().state;
		for (let time = 0; time < 3; time++) {
			const plan = log.compress([range("b4", "b4", "Short.")], bareSettings);
			expect(plan.outcomes).toMatchObject([{ isApplied: false, problem: { code: "topTier", block: 4 } }]);
		}
		expect(log.branch().state).toBe(state);
	});

	it("let eighty blocks become one with a thematic summary", () => {
		const log = new Log();
		log.user("task");
		for (let index = 0; index < 80; index++) log.step("read", { path: `${index}` }, words(900, `n${index}-`));
		log.user("go on");
		const ranges = Array.from({ length: 80 }, (_, index) =>
			range(`m${2 * index + 2}`, `m${2 * index + 3}`, `Part ${index}`),
		);
		log.compress(ranges, bareSettings);
		const before = viewTokens(log.view());
		log.compress([range("b1", "b80", words(1_000))], bareSettings);
		expect(tiers(log)).toEqual([[81, 2]]);
		expect(viewTokens(log.view())).toBeLessThan(before);
	});
});

describe("a block that rules made", () => {
	/** b1 over m2 to m7, made by rules at a tier. */
	function byRules(tier: number): Log {
		const log = new Log();
		log.user("task");
		for (const name of ["a", "b", "c"]) log.step("read", { path: name }, words(1_200, name));
		log.user("go on");
		const { leafId } = log;
		const { operation } = log.compress([range("m2", "m7", "Read a, b and c.")], bareSettings);
		if (operation?.kind !== "fold") expect.unreachable();
		log.leafId = leafId;
		log.operation({ ...operation, author: "rules", blocks: operation.blocks.map((block) => ({ ...block, tier })) });
		return log;
	}

	it("gives way to a better summary of the model, also of the highest tier, and a longer one", () => {
		for (const tier of [1, 3]) {
			const log = byRules(tier);
			log.compress([range("b1", "b1", words(600, "better"))], bareSettings);
			expect(log.branch().state.tops).toMatchObject([
				{ number: 2, tier: Math.min(3, tier + 1), author: "model", children: [1], spans: [{ from: 2, to: 7 }] },
			]);
		}
	});

	it("does not give way to one longer than the originals", () => {
		const plan = byRules(3).compress([range("b1", "b1", words(9_000, "worse"))], bareSettings);
		expect(plan.outcomes).toMatchObject([{ isApplied: false, problem: { code: "notSmaller" } }]);
	});
});
