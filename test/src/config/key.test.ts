import { Check } from "typebox/value";
import { describe, expect, test } from "vitest";
import { count, flag, names, path, portion, share, tokens, tokensOr } from "../../../src/config/key.ts";

const limits = { minimum: 10, maximum: 2_000_000, default: 20 };

describe("tokens", () => {
	const key = tokens(limits);

	test.each([
		[20_000, 20_000],
		["20000", 20_000],
		["20K", 20_000],
		["20k", 20_000],
		["1.5 K", 1_500],
		["0.1K", 100],
		["1.2345k", 1_235],
		["2M", 2_000_000],
		[10, 10],
	])("reads %j as %d", (value, amount) => {
		expect(key.read(value)).toBe(amount);
		expect(key.readText(String(value))).toBe(amount);
		expect(Check(key.schema, value)).toBe(true);
	});

	test.each([9, 2_000_001, "3M", 10.5, "20 kilo", "K", "-20", "1e3", "", null, true, [20], {}, Number.NaN])(
		"refuses %j",
		(value) => {
			expect(key.read(value)).toBeUndefined();
		},
	);
});

describe("a share", () => {
	const key = share({ minimum: 0.1, maximum: 0.9, default: 0.5 });

	test.each([
		[0.75, 0.75],
		["75%", 0.75],
		["12.5 %", 0.125],
		["90%", 0.9],
	])("reads %j as %d", (value, amount) => {
		expect(key.read(value)).toBe(amount);
		expect(key.readText(String(value))).toBe(amount);
		expect(Check(key.schema, value)).toBe(true);
	});

	test.each([75, "0.75", "95%", "9%", 0, "%", null, Number.POSITIVE_INFINITY])("refuses %j", (value) => {
		expect(key.read(value)).toBeUndefined();
	});
});

describe("a portion", () => {
	const key = portion({ default: 1, least: 0.1, minimum: 1_000, maximum: 2_000_000 });

	test.each([
		[0.75, 0.75],
		["75%", 0.75],
		[1, 1],
		[1_000, 1_000],
		["100K", 100_000],
		["2M", 2_000_000],
	])("reads %j as %d", (value, amount) => {
		expect(key.read(value)).toBe(amount);
		expect(Check(key.schema, value)).toBe(true);
	});

	test.each([0, 0.05, 1.5, 999, 2_000_001, "5%", "101%", "1", "many", null, true, {}])("refuses %j", (value) => {
		expect(key.read(value)).toBeUndefined();
	});
});

describe("a count", () => {
	const key = count({ ...limits, maximum: 50 });

	test("is a whole number within its range", () => {
		expect([10, 50, 9, 51, 10.5, "10"].map(key.read)).toEqual([10, 50, undefined, undefined, undefined, undefined]);
		expect(["10", "50", "51", "ten", "-10", "1e1"].map(key.readText)).toEqual([10, 50, ...Array(4).fill(undefined)]);
	});
});

describe("a flag", () => {
	const key = flag({ default: true });

	test("is a boolean in a file and a word in the environment", () => {
		expect([true, false, "true", 1, null].map(key.read)).toEqual([true, false, undefined, undefined, undefined]);
		expect(["1", "TRUE", "yes", "On"].map(key.readText)).toEqual([true, true, true, true]);
		expect(["0", "false", "No", "off"].map(key.readText)).toEqual([false, false, false, false]);
		expect(["2", "maybe", "constructor"].map(key.readText)).toEqual([undefined, undefined, undefined]);
	});
});

describe("tokens or a word", () => {
	const key = tokensOr("pace", { minimum: 10, maximum: 2_000_000 });

	test("are the word where nothing else is set", () => {
		expect(key.default).toBe("pace");
		expect([20, "20K", "pace", 5, "pac", null].map(key.read)).toEqual([
			...[20, 20_000, "pace"],
			...[undefined, undefined, undefined],
		]);
		expect([key.readText("20K"), key.readText("pace"), key.readText("x")]).toEqual([20_000, "pace", undefined]);
	});
});

describe("names", () => {
	const key = names({ default: ["a"] });

	test("are a list of texts that are not empty, which may be empty itself", () => {
		expect(key.read([])).toEqual([]);
		expect(key.read(["read", "mcp_*"])).toEqual(["read", "mcp_*"]);
		for (const value of ["read", [""], [1], ["read", null], {}, null]) expect(key.read(value)).toBeUndefined();
		expect(key.readText("read, bash,,")).toEqual(["read", "bash"]);
	});
});

describe("a path", () => {
	const key = path({ default: "~/x" });

	test("is any text a disk can take", () => {
		expect(key.read("~/größe x.log")).toBe("~/größe x.log");
		expect(key.readText("/tmp/x")).toBe("/tmp/x");
		for (const value of ["", "a\0b", 5, null]) expect(key.read(value)).toBeUndefined();
	});
});

test("a key says in words what it takes", () => {
	expect(tokens({ ...limits, environment: "ACP_X" })).toMatchObject({
		default: 20,
		form: 'tokens: `20000` or `"20K"`',
		range: "10 to 2,000,000",
		environment: "ACP_X",
	});
	expect(share({ minimum: 0.1, maximum: 1, default: 0.5 })).toMatchObject({
		range: "10% to 100%",
		environment: "",
	});
});
