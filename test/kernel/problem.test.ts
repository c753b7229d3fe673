import { describe, expect, it } from "vitest";
import { formatTokens, next, type Problem, problemText, whatIsWrong, whatToDo } from "../../kernel/problem.ts";
import type { Range } from "../../kernel/unit.ts";

const foldable: readonly Range[] = Array.from({ length: 7 }, (_, index) => ({
	from: 10 * index + 1,
	to: 10 * index + 9,
	messages: 9,
	sizeTokens: 1_500,
	tools: [],
	paths: [],
	words: "",
}));

const problems: readonly (readonly [Problem, string, RegExp])[] = [
	[{ code: "arguments", reason: "No range could be read" }, "No range could be read.", /^Can be folded now/],
	[
		{ code: "unreadableRef", text: "x".repeat(99) },
		`"${"x".repeat(40)}" is not a ref; refs look like m00012 or b3.`,
		/^Can/,
	],
	[
		{ code: "unknownMessage", ref: "m00099", last: 9 },
		"m00099 does not exist; the newest message is m00009.",
		/^Can be folded now: m00001-m00009/,
	],
	[{ code: "unknownBlock", ref: "b4", known: [] }, "There is no block b4 here; there are no blocks.", /acp_status/],
	[
		{ code: "unknownBlock", ref: "b4", known: [1, 2] },
		"There is no block b4 here; the blocks are b1, b2.",
		/acp_status/,
	],
	[
		{ code: "unknownBlock", ref: "b99", known: Array.from({ length: 20 }, (_, index) => index + 1) },
		"There is no block b99 here; the newest blocks are b13, b14, b15, b16, b17, b18, b19, b20.",
		/acp_status/,
	],
	[{ code: "foreignRef", ref: "m1@e2" }, "m1@e2 names no message or block of this branch.", /acp_status/],
	[{ code: "notInView", range: "m1-m2" }, "m1-m2 holds nothing that is in view.", /^Can be folded now/],
	[
		{ code: "notFolded", ref: "m1" },
		"m1 is in no block of the view; there is nothing to put back.",
		/^decompress\(\{ id: "m1" \}\)/,
	],
	[
		{ code: "alreadyFolded", range: "m1-m2", block: 3 },
		"m1-m2 is already folded in b3.",
		/^decompress\(\{ id: "b3" \}\) shows it\. Can be folded now/,
	],
	[
		{ code: "nothingLeft", range: "m1-m2", reasons: ["m1 (recent messages)", "b1 (already folded)"] },
		"m1-m2 cannot be folded now: m1 (recent messages), b1 (already folded).",
		/^Can be folded now/,
	],
	[{ code: "overlap", range: "m1-m2", other: "m2-m3" }, "m1-m2 overlaps m2-m3 of the same call.", /^Can be folded now/],
	[
		{ code: "tooShort", range: "m1-m2", width: 28 },
		"The summary for m1-m2 has 28 characters; the least is 50.",
		/^Write what has to be known/,
	],
	[
		{ code: "filler", range: "m1-m2" },
		"The summary for m1-m2 has not one word of what it replaces.",
		/^Write what has to be known/,
	],
	[{ code: "emptySummary", range: "m1-m2" }, "The summary for m1-m2 is empty.", /^Write what has to be known/],
	[
		{ code: "notSmaller", range: "m1-m2", textTokens: 90, sizeTokens: 80 },
		"The block for m1-m2 would take 90 tokens, what it replaces takes 80.",
		/^Fold a larger range or write less\. Can be folded now/,
	],
	[{ code: "topTier", block: 9 }, "b9 is of the highest tier and alone; rewriting it would gain nothing.", /^Can/],
	[{ code: "nothingToUndo" }, "There is nothing to take back.", /^Can be folded now/],
	[{ code: "nothingToRedo" }, "There is nothing to do again: no undo since the last fold.", /^Can be folded now/],
	[{ code: "aborted" }, "The call was aborted; nothing changed.", /^Go on/],
	[{ code: "standingDown", reason: "Another extension owns compress." }, "Another extension owns compress.", /^Go on/],
	[{ code: "emptyQuery" }, "The query is empty.", /^Give words/],
	[{ code: "noPage", page: 5, pages: 2 }, "There is no page 5; there are 2.", /^Ask for page 1/],
	[{ code: "unwritable", path: "/x", reason: "disk full" }, "/x could not be written: disk full.", /^Read it in pages/],
];

describe("a refusal", () => {
	it.each(problems)("of $code says what was wrong and one step that works", (problem, wrong, step) => {
		expect(whatIsWrong(problem)).toBe(wrong);
		expect(whatToDo(problem, foldable)).toMatch(step);
		expect(problemText(problem, foldable)).toBe(`${wrong} ${whatToDo(problem, foldable)}`);
	});

	it("offers no range where there is none", () => {
		expect(problemText({ code: "notInView", range: "m1" }, [])).toBe(
			"m1 holds nothing that is in view. Nothing can be folded now; go on with your task.",
		);
	});

	it("of a ref by a call that does not fold says where refs are listed", () => {
		const step = 'acp_status({ view: "messages" }) lists the refs in view.';
		expect(problemText({ code: "unreadableRef", text: "x" })).toContain(step);
		expect(problemText({ code: "unknownMessage", ref: "m00099", last: 9 })).toContain(step);
		expect(problemText({ code: "unknownBlock", ref: "b9", known: [] })).toContain('acp_status({ view: "blocks" })');
		expect(problemText({ code: "unknownMessage", ref: "m00099", last: 9 }, foldable)).not.toContain(step);
	});

	it("names five ranges and counts the rest", () => {
		expect(next(foldable)).toBe(
			"Can be folded now: m00001-m00009 (1.5K), m00011-m00019 (1.5K), m00021-m00029 (1.5K), m00031-m00039 (1.5K), m00041-m00049 (1.5K) and 2 more.",
		);
		expect(next(foldable.slice(0, 5))).not.toContain("more");
	});
});

describe("tokens for reading", () => {
	it.each([
		[0, "0"],
		[840.4, "840"],
		[999, "999"],
		[1_000, "1.0K"],
		[12_440, "12.4K"],
		[999_949, "999.9K"],
		[999_950, "1.0M"],
		[1_234_567, "1.2M"],
	])("%d is %s", (tokens, text) => {
		expect(formatTokens(tokens)).toBe(text);
	});
});
