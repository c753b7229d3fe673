import { describe, expect, it } from "vitest";
import { termsOf } from "../../../kernel/search/terms.ts";

describe("the terms of a text", () => {
	it("are its words and numbers in lower case", () => {
		expect(termsOf("Fix the AUTH_bug in src/login.ts:42!")).toEqual([
			"fix",
			"the",
			"auth_bug",
			"in",
			"src",
			"login",
			"ts",
			"42",
		]);
		expect(termsOf("Größe naïve")).toEqual(["größe", "naïve"]);
	});

	it("are a run where no blanks divide words", () => {
		expect(termsOf("验证 流程")).toEqual(["验证", "流程"]);
	});

	it("of nothing are none", () => {
		for (const text of ["", "  ", "?!…"]) expect(termsOf(text)).toEqual([]);
	});
});
