import { describe, expect, it } from "vitest";
import { canonicalJson, isObject } from "../../kernel/json.ts";

describe("canonical JSON", () => {
	it.each([
		[
			{ b: 1, a: { d: [2, 1], c: null } },
			{ a: { c: null, d: [2, 1] }, b: 1 },
		],
		[{ a: 1, b: undefined }, { a: 1 }],
		[undefined, undefined],
	])("is the same for equal values: %j", (left, right) => {
		expect(canonicalJson(left)).toBe(canonicalJson(right));
	});

	it.each([
		[
			[1, 2],
			[2, 1],
		],
		[{ a: "1" }, { a: 1 }],
		[{}, []],
	])("differs for others: %j and %j", (left, right) => {
		expect(canonicalJson(left)).not.toBe(canonicalJson(right));
	});
});

describe("an object", () => {
	it("is neither a list nor null", () => {
		expect([{}, [], null, "x"].map(isObject)).toEqual([true, false, false, false]);
	});
});
