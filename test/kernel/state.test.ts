import { describe, expect, it } from "vitest";
import type { LoggedBlock, Operation } from "../../kernel/operation.ts";
import { apply, blockAt, emptyState, isHidden, type Place, type State, topOf } from "../../kernel/state.ts";

const place: Place = { entryId: "e99", timestampMs: 5_000, ordinal: 40, locate: (_, ordinal) => ordinal };

function block(number: number, spans: readonly (readonly [number, number])[], tier = 1): LoggedBlock {
	return {
		number,
		tier,
		summary: `summary ${number}`,
		text: `<acp-block id="b${number}">`,
		spans: spans.map(([from, to]) => ({ fromId: `e${from}`, from, toId: `e${to}`, to })),
		children: [],
		messages: 2,
		sizeTokens: 900,
	};
}

function fold(...blocks: readonly LoggedBlock[]): Operation {
	return { kind: "fold", author: "model", blocks, reductions: [], sizeTokens: 1_000 };
}

function stateOf(...operations: readonly Operation[]): State {
	return operations.reduce((state, operation) => apply(state, operation, place), emptyState);
}

function tops(state: State): readonly number[] {
	return state.tops.map((top) => top.number);
}

const two = fold(block(1, [[20, 30]]), block(2, [[2, 10]]));

describe("a fold", () => {
	it("adds its blocks in the order of their messages, with who made them and when", () => {
		const state = stateOf(two);
		expect(tops(state)).toEqual([2, 1]);
		expect(state.lastNumber).toBe(2);
		expect(state.blocks.get(1)).toMatchObject({
			author: "model",
			createdAtMs: 5_000,
			madeBy: "e99",
			spans: [{ from: 20, to: 30 }],
		});
	});

	it("is a commit: growth counts from the size after it", () => {
		expect(stateOf(two)).toMatchObject({
			commit: { entryId: "e99", ordinal: 40 },
			baseTokens: 1_000,
		});
	});

	it("takes the blocks inside its spans as children, whatever the log says they are", () => {
		const state = stateOf(two, fold({ ...block(3, [[1, 30]], 2), children: [7] }));
		expect(tops(state)).toEqual([3]);
		expect(state.blocks.get(3)?.children).toEqual([2, 1]);
		expect(state.blocks.size).toBe(3);
	});

	it("changes nothing in the state it starts from", () => {
		const state = stateOf(two);
		const before = JSON.stringify([...state.blocks.values(), state.tops, state.intervals()]);
		apply(state, fold(block(3, [[1, 30]])), place);
		expect(JSON.stringify([...state.blocks.values(), state.tops, state.intervals()])).toBe(before);
		expect(state.lastNumber).toBe(2);
	});

	it.each([
		["cuts through a block", block(3, [[5, 12]])],
		["has a number that is taken", block(2, [[12, 13]])],
		[
			"has spans in disorder",
			block(3, [
				[14, 15],
				[12, 13],
			]),
		],
	])("leaves out a block that %s", (_, bad) => {
		const state = stateOf(two, fold(bad, block(4, [[32, 33]])));
		expect(tops(state)).toEqual([2, 1, 4]);
		expect(state.blocks.has(3)).toBe(false);
	});

	it("leaves out a block whose messages the branch does not have", () => {
		for (const missing of [2, 10]) {
			const locate: Place["locate"] = (_, ordinal) => (ordinal === missing ? undefined : ordinal);
			const state = apply(emptyState, fold(block(1, [[2, 10]])), { ...place, locate });
			expect(tops(state)).toEqual([]);
		}
	});

	it("leaves out a block whose ends have changed places on the branch", () => {
		const state = apply(emptyState, fold(block(1, [[2, 10]])), { ...place, locate: (_, ordinal) => 20 - ordinal });
		expect(tops(state)).toEqual([]);
	});
});

describe("looking up a block", () => {
	const state = stateOf(
		fold(
			block(1, [
				[2, 4],
				[7, 9],
			]),
			block(2, [[12, 20]]),
		),
	);

	it("finds the top-level block around a message, in each of its spans", () => {
		const found = [1, 2, 4, 5, 6, 7, 9, 10, 12, 20, 21].map((ordinal) => blockAt(state, ordinal)?.number);
		const none = undefined;
		expect(found).toEqual([none, 1, 1, none, none, 1, 1, none, 2, 2, none]);
		expect(blockAt(emptyState, 1)).toBeUndefined();
	});

	it("finds the top-level block that holds another one, or none if it was opened", () => {
		const nested = apply(state, fold(block(3, [[1, 20]], 2)), place);
		const [inner, outer] = [nested.blocks.get(1), nested.blocks.get(3)];
		if (inner === undefined || outer === undefined) expect.unreachable();
		expect(topOf(nested, inner)).toBe(outer);
		expect(topOf(nested, outer)).toBe(outer);
		const opened = apply(nested, { kind: "unfold", block: 3, sizeTokens: 1 }, place);
		expect(topOf(opened, outer)).toBeUndefined();
		expect(topOf(opened, inner)).toBe(inner);
	});
});

describe("an unfold", () => {
	it("puts the children of a block back", () => {
		const state = stateOf(two, fold(block(3, [[1, 30]], 2)), { kind: "unfold", block: 3, sizeTokens: 2_000 });
		expect(tops(state)).toEqual([2, 1]);
		expect(state.blocks.has(3)).toBe(true);
		expect(state.baseTokens).toBe(2_000);
	});

	it("frees the messages of a block without children, and its number is not used again", () => {
		const state = stateOf(two, { kind: "unfold", block: 2, sizeTokens: 1 });
		expect(tops(state)).toEqual([1]);
		expect(blockAt(state, 5)).toBeUndefined();
		expect(state.lastNumber).toBe(2);
	});

	it("of a block that does not stand leaves the blocks as they are", () => {
		const nested = stateOf(two, fold(block(3, [[1, 30]], 2)));
		for (const number of [1, 9]) {
			expect(tops(apply(nested, { kind: "unfold", block: number, sizeTokens: 1 }, place))).toEqual([3]);
		}
	});
});

describe("reductions", () => {
	const cut = { id: "e5", ordinal: 5, rule: "truncate" as const, keepChars: 100, savedTokens: 70 };
	const hide = { id: "e7", ordinal: 7, rule: "hide" as const, savedTokens: 0 };

	it("hold for the message they name from their commit on", () => {
		const state = stateOf({ kind: "truncate", reductions: [cut, hide], sizeTokens: 900 });
		expect(state.reductions.get(5)).toEqual([{ rule: "truncate", keepChars: 100, savedTokens: 70 }]);
		expect(state.reductions.get(7)).toEqual([{ rule: "hide", savedTokens: 0 }]);
		expect(state.baseTokens).toBe(900);
		expect(emptyState.reductions.size).toBe(0);
	});

	it("of one message stand in their order, and one by the same rule takes the place of the one before it", () => {
		const thinking = { id: "e5", ordinal: 5, rule: "unsignedThinking" as const, savedTokens: 90 };
		const deeper = { ...cut, keepChars: 10, savedTokens: 120 };
		const state = stateOf(
			{ kind: "truncate", reductions: [cut, thinking], sizeTokens: 900 },
			{ kind: "truncate", reductions: [deeper], sizeTokens: 800 },
		);
		expect(state.reductions.get(5)).toEqual([
			{ rule: "unsignedThinking", savedTokens: 90 },
			{ rule: "truncate", keepChars: 10, savedTokens: 120 },
		]);
	});

	it("end with the one that hides the unit", () => {
		const hidden = stateOf({ kind: "truncate", reductions: [cut, { ...cut, rule: "hide" }], sizeTokens: 900 });
		expect(hidden.reductions.get(5)?.map(({ rule }) => rule)).toEqual(["hide"]);
		expect(isHidden(hidden, { ordinal: 5 })).toBe(true);
		const again = apply(hidden, { kind: "truncate", reductions: [cut], sizeTokens: 800 }, place);
		expect(again).toBe(hidden);
	});

	it("come with a fold as well, and those of unknown messages are left out", () => {
		const operation: Operation = { ...fold(block(1, [[1, 2]])), reductions: [cut, hide] } as Operation;
		const locate: Place["locate"] = (id, ordinal) => (id === "e7" ? undefined : ordinal);
		const state = apply(emptyState, operation, { ...place, locate });
		expect([...state.reductions.keys()]).toEqual([5]);
	});
});

describe("a nudge", () => {
	it("is no commit; growth counts from it", () => {
		const state = stateOf(two, { kind: "nudge", sizeTokens: 4_000 });
		expect(state.baseTokens).toBe(4_000);
		expect(state.commit).toEqual(stateOf(two).commit);
	});

	it("keeps how it spoke until the next one", () => {
		const nudged = stateOf(two, { kind: "nudge", sizeTokens: 1_500, voice: "pressure" });
		expect(nudged).toMatchObject({ baseTokens: 1_500, voice: "pressure", commit: { entryId: "e99" }, alarms: [] });
		expect(apply(nudged, fold(block(3, [[40, 41]])), place).voice).toBeUndefined();
		expect(apply(nudged, { kind: "undo", sizeTokens: 1 }, place).voice).toBeUndefined();
		expect(stateOf({ kind: "nudge", sizeTokens: 1 }).voice).toBe("soft");
	});

	it("in an emergency is remembered by its place, the last three of them, through commits", () => {
		const alarm = (state: State, ordinal: number) =>
			apply(state, { kind: "nudge", sizeTokens: 1, voice: "emergency" }, { ...place, ordinal });
		const state = [1, 2, 3, 4].reduce(alarm, emptyState);
		expect(state.alarms).toEqual([2, 3, 4]);
		expect(apply(state, two, place).alarms).toEqual([2, 3, 4]);
	});
});
