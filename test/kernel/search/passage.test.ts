import { describe, expect, it } from "vitest";
import { passageAround } from "../../../kernel/search/passage.ts";

describe("a passage", () => {
	it("is the whole of a short text on one line", () => {
		expect(passageAround("the auth\n\tbug is  fixed", ["bug"])).toBe("the auth bug is fixed");
	});

	it("is cut around the first of the terms, and shows where it is cut", () => {
		const text = `${"before ".repeat(100)}NEEDLE ${"after ".repeat(100)}`;
		const passage = passageAround(text, ["after", "needle", "absent"]);
		expect(passage).toMatch(/^….*before NEEDLE after.*…$/);
		expect(passage.length).toBeLessThan(400);
	});

	it("begins at the beginning where no term is in the text", () => {
		expect(passageAround(`start ${"x ".repeat(500)}`, ["absent"])).toMatch(/^start x .*…$/);
		expect(passageAround("", ["absent"])).toBe("");
	});

	it("tears no character", () => {
		const text = `${"😀".repeat(200)}needle${"😀".repeat(200)}`;
		for (const shift of ["", "x"]) expect(passageAround(shift + text, ["needle"]).isWellFormed()).toBe(true);
	});
});
