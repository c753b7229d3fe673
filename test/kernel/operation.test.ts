import { describe, expect, it } from "vitest";
import { filterRules } from "../../kernel/filters/index.ts";
import { isMarked, mark, type Operation, readMarked } from "../../kernel/operation.ts";

const block = {
	number: 1,
	tier: 1,
	summary: "s",
	text: "<acp-block>",
	spans: [{ fromId: "e1", from: 1, toId: "e3", to: 3 }],
	children: [],
	messages: 3,
	sizeTokens: 900,
};
const hide = { id: "e5", ordinal: 5, rule: "hide" as const, savedTokens: 0 };
const cut = { id: "e6", ordinal: 6, rule: "truncate" as const, keepChars: 2_000, savedTokens: 700 };
const fold: Operation = { kind: "fold", author: "model", blocks: [block], reductions: [hide, cut], sizeTokens: 100 };

const operations: readonly Operation[] = [
	fold,
	{ ...fold, author: "rules", blocks: [{ ...block, topic: "t" }], reductions: [] },
	{ kind: "unfold", block: 2, sizeTokens: 0 },
	{ kind: "truncate", reductions: [cut], sizeTokens: 100 },
	{ ...fold, reductions: filterRules.map(({ name }) => ({ ...hide, rule: name })) },
	{ kind: "nudge", sizeTokens: 100 },
	{ kind: "nudge", sizeTokens: 100, voice: "emergency" },
];

describe("a marked operation", () => {
	it.each(operations)("of kind $kind survives the log", (operation) => {
		expect(readMarked(JSON.parse(JSON.stringify(mark(operation))))).toEqual(operation);
	});

	it("is recognised by its mark, readable or not", () => {
		expect(isMarked({ acp: 1 })).toBe(true);
		for (const value of [undefined, null, 1, "acp", [], {}, { acp: 2 }, { acp: true }]) {
			expect(isMarked(value)).toBe(false);
			expect(readMarked(value)).toBeUndefined();
		}
	});
});

describe("hostile details", () => {
	const damaged: readonly unknown[] = [
		undefined,
		null,
		"fold",
		[],
		{},
		{ ...fold, kind: "explode" },
		{ ...fold, sizeTokens: -1 },
		{ ...fold, sizeTokens: "9" },
		{ ...fold, author: "nobody" },
		{ ...fold, blocks: block },
		{ ...fold, blocks: [null] },
		{ ...fold, reductions: undefined },
		{ kind: "unfold", block: 0, sizeTokens: 1 },
		{ kind: "nudge", sizeTokens: 1, voice: "shout" },
		{ kind: "truncate", reductions: {}, sizeTokens: 1 },
		...[
			{ number: 0 },
			{ number: 1.5 },
			{ tier: 0 },
			{ topic: 7 },
			{ summary: null },
			{ text: 1 },
			{ spans: [] },
			{ spans: [null] },
			{ spans: [{ fromId: 1, from: 1, toId: "e3", to: 3 }] },
			{ spans: [{ fromId: "e1", from: 1, toId: null, to: 3 }] },
			{ spans: [{ fromId: "e1", from: 0, toId: "e3", to: 3 }] },
			{ spans: [{ fromId: "e1", from: 1, toId: "e3", to: Number.NaN }] },
			{ spans: [{ fromId: "e3", from: 3, toId: "e1", to: 1 }] },
			{ children: ["b1"] },
			{ messages: null },
			{ sizeTokens: Number.POSITIVE_INFINITY },
		].map((over) => ({ ...fold, blocks: [{ ...block, ...over }] })),
		...[{ id: 5 }, { ordinal: 0 }, { rule: "burn" }, { savedTokens: -1 }, { rule: "truncate" }, { rule: ["hide"] }].map(
			(over) => ({
				...fold,
				reductions: [{ ...hide, ...over }],
			}),
		),
		{ ...fold, reductions: ["hide"] },
	];

	it.each(damaged.map((op) => ({ op })))("$op are no operation", ({ op }) => {
		expect(readMarked({ acp: 1, op })).toBeUndefined();
	});
});
