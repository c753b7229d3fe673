import { describe, expect, it } from "vitest";
import { hasEcho, withoutEchoes, withoutLastEcho } from "../../kernel/echo.ts";
import { tag } from "../../kernel/ref.ts";

describe("tags that a model repeats", () => {
	it("are taken off the end of a text, however many", () => {
		for (const ordinal of [1, 99_999, 1_234_567]) expect(withoutLastEcho(`Done.\n${tag(ordinal)}`)).toBe("Done.");
		expect(withoutLastEcho(`Done. ${tag(1)}\n${tag(2)}\n`)).toBe("Done.");
		expect(withoutLastEcho(`${tag(1)} says so.`)).toBe(`${tag(1)} says so.`);
		expect(withoutLastEcho("Done.\n")).toBe("Done.\n");
	});

	it("are taken out of every string of a value, which stays the same value where there is none", () => {
		const clean = { path: "a", edits: [{ oldText: "x", newText: "y" }], count: 3, nothing: null };
		expect(withoutEchoes(clean)).toBe(clean);
		const echoed = { ...clean, edits: [{ oldText: `x\n${tag(7)}`, newText: `y${tag(8)}\nz` }] };
		expect(withoutEchoes(echoed)).toEqual({ ...clean, edits: [{ oldText: "x", newText: "y\nz" }] });
	});

	it("are found as we write them only", () => {
		expect(hasEcho(`a ${tag(12)} b`)).toBe(true);
		for (const other of ["<acp>12</acp>", "<acp>m12</acp>", "<acp-block>", "m00012"])
			expect(hasEcho(other)).toBe(false);
	});
});
