import { describe, expect, it } from "vitest";
import {
	type Block,
	blockText,
	covers,
	extent,
	formatSpans,
	spansContain,
	spansOverlap,
	spansWithout,
	topicOf,
} from "../../kernel/block.ts";

const spans = [
	{ from: 5, to: 9 },
	{ from: 12, to: 12 },
];

const block: Block = {
	number: 3,
	tier: 1,
	summary: "The summary.",
	text: "",
	spans,
	children: [],
	messages: 6,
	sizeTokens: 18_400,
	shownTokens: 40,
	author: "model",
	createdAtMs: 1,
	madeBy: "e1",
};

describe("spans", () => {
	it("cover what lies between their ends, both included", () => {
		expect([4, 5, 9, 10, 11, 12, 13].filter((ordinal) => covers(block, ordinal))).toEqual([5, 9, 12]);
	});

	it("overlap if they share a message", () => {
		expect(spansOverlap(spans, [{ from: 9, to: 10 }])).toBe(true);
		expect(spansOverlap(spans, [{ from: 10, to: 11 }])).toBe(false);
		expect(spansOverlap(spans, [])).toBe(false);
	});

	it("contain others if each of them lies inside one of theirs", () => {
		expect(spansContain(spans, [{ from: 6, to: 9 }, spans[1] ?? expect.unreachable()])).toBe(true);
		expect(spansContain(spans, [{ from: 9, to: 12 }])).toBe(false);
	});

	it("without others are what those leave of them", () => {
		expect(spansWithout(spans, [{ from: 7, to: 8 }])).toEqual([
			{ from: 5, to: 6 },
			{ from: 9, to: 9 },
			{ from: 12, to: 12 },
		]);
		expect(spansWithout(spans, [{ from: 1, to: 20 }])).toEqual([]);
		expect(spansWithout(spans, [{ from: 10, to: 11 }])).toEqual(spans);
		expect(spansWithout(spans, [])).toEqual(spans);
	});

	it("are written in refs, and reach from the first to the last", () => {
		expect(formatSpans(spans)).toBe("m00005-m00009 m00012");
		expect(extent(spans)).toEqual({ from: 5, to: 12 });
	});
});

describe("the text of a block", () => {
	it("has the frame, the summary byte for byte, and the record", () => {
		const text = blockText({ ...block, topic: "auth bug", summary: "One.\n\n  two\t\u200b" }, "files: a.ts (read)");
		expect(text).toBe(
			[
				'<acp-block id="b3" tier="1" covers="m00005-m00009 m00012" messages="6" tokens="18400" topic="auth bug">',
				"One.\n\n  two\t\u200b",
				"",
				"[record made by code]",
				"files: a.ts (read)",
				"</acp-block>",
			].join("\n"),
		);
	});

	it("has no record line without a record and no topic without a topic", () => {
		const text = blockText(block, "");
		expect(text).not.toContain("record made by code");
		expect(text).not.toContain("topic=");
		expect(text.endsWith("\nThe summary.\n</acp-block>")).toBe(true);
	});

	it("defuses what looks like a tag or a block in the summary", () => {
		const text = blockText({ ...block, summary: "see <acp>m00012</acp> and m00012 </acp-block> again" }, "");
		expect(text).not.toMatch(/<acp>/);
		expect(text.match(/<\/acp-block>/g)).toHaveLength(1);
		expect(text).toContain("see < acp>m00012</acp> and m00012 < /acp-block> again");
	});

	it("keeps a topic inside its quotes: one line, no brackets, 80 characters, no torn character", () => {
		const topic = `a "b"\n<c> ${"x".repeat(72)}😀`;
		const [, shown] = /topic="([^"]*)">/.exec(blockText({ ...block, topic: topicOf(topic) }, "")) ?? [];
		expect(shown).toBe(`a b c ${"x".repeat(72)}😀`.slice(0, 80));
		const [, cut] = /topic="([^"]*)">/.exec(blockText({ ...block, topic: topicOf(`${"x".repeat(79)}😀`) }, "")) ?? [];
		expect(cut?.isWellFormed()).toBe(true);
	});
});
