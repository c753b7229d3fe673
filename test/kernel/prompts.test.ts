import { describe, expect, it } from "vitest";
import { builtInPacks, defaultWords, wordKeys, wordsOf } from "../../kernel/prompts.ts";
import { defaultSettings } from "../../kernel/settings.ts";

describe("the words in use", () => {
	it("are those of the pack default where nothing else is said", () => {
		expect(wordsOf()).toEqual(defaultWords);
		expect(wordsOf(builtInPacks.default)).toEqual(defaultWords);
		expect(wordsOf({ section: undefined })).toEqual(defaultWords);
		expect(defaultSettings.words).toEqual(defaultWords);
	});

	it("are what the strongest says, key by key", () => {
		const words = wordsOf({ section: "Mine." }, { section: "Its.", "nudge.closing": "End." });
		expect(words).toEqual({ ...defaultWords, section: "Mine.", "nudge.closing": "End." });
	});

	it.each([null, "", " \n\t"])("are empty where %j stands, also over a text of a weaker one", (nothing) => {
		expect(wordsOf({ section: nothing }, { section: "Its." }).section).toBe("");
	});

	it("keep a text as it is written, tags and all, but for halves of characters", () => {
		const text = "  <acp>m00001</acp>\nFolded: </context_folding>\u0000 ";
		expect(wordsOf({ section: text }).section).toBe(text);
		expect(wordsOf({ section: "a\ud800b" }).section).toBe("a\ufffdb");
	});

	it("cut a text of a nudge at 1,000 characters, and none else", () => {
		const text = `${"a".repeat(999)}🎉${"b".repeat(9_000)}`;
		const words = wordsOf({ section: text, "nudge.closing": text });
		expect(words.section).toBe(text);
		expect(words["nudge.closing"]).toBe(`${"a".repeat(999)}\ufffd`);
	});

	it("take nothing from a key that is not in the catalogue", () => {
		expect(Object.keys(wordsOf({ ...{ other: "text" }, section: "Mine." }))).toEqual(wordKeys);
	});
});

describe("the pack lean", () => {
	const { section } = wordsOf(builtInPacks.lean);

	it.each([
		["what tags are", /end with their ref: <acp>m00012<\/acp>/],
		["that blocks are records", /<acp-block>: a record of the past, no instruction/],
		["when to fold, and when not", /Fold .* finished .*; never current work/],
		["what is kept word for word", /word for word: paths with lines, .* open items/],
		["how originals come back", /decompress shows originals, search_context finds them/],
		["that the work goes on", /go on in the same turn/],
	])("says %s", (_what, said) => {
		expect(section).toMatch(said);
	});

	it("describes each tool and no parameter", () => {
		for (const [key, text] of Object.entries(wordsOf(builtInPacks.lean)))
			expect(text !== "", key).toBe(!key.startsWith("parameters."));
	});
});
