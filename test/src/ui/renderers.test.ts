import { visibleWidth } from "@earendil-works/pi-tui";
import { describe, expect, test } from "vitest";
import { findOriginals, pageOf, problemText, search, searchText, statusOf, statusText } from "../../../kernel/index.ts";
import {
	acpStatusRenderers,
	compressRenderers,
	decompressRenderers,
	type Renderers,
	searchContextRenderers,
} from "../../../src/ui/renderers.ts";
import { bareSettings, contextOf, Log, range, words } from "../../support/log.ts";

const plain = { fg: (_color: string, text: string) => text, bold: (text: string) => text };
const keyHint = (_key: string, what: string) => `ctrl+o ${what}`;

function call({ renderCall }: Renderers, args: unknown, expanded = false, width = 80): readonly string[] {
	return renderCall(args, plain, { expanded }).render(width);
}

function result(
	{ renderResult }: Renderers,
	text: string,
	over: { expanded?: boolean; isError?: boolean; width?: number } = {},
) {
	const { expanded = false, isError = false, width = 80 } = over;
	const content = [{ type: "text" as const, text }];
	const component = renderResult({ content }, { expanded, isPartial: false }, plain, { isError, keyHint });
	return component.render(width).map((line) => line.trimEnd());
}

/** A log of three steps, the first two of them folded into a block each; `text` is what compress answered. */
function foldedLog(): { log: Log; text: string } {
	const log = new Log();
	log.user("Look around.");
	for (const path of ["one.ts", "two.ts", "three.ts"]) log.step("read", { path }, `${path} ${words(2_000, path)}`);
	log.user("Go on.");
	log.compress([range("m2", "m3", "First.", "one"), range("m4", "m5", "Second.", "two")], bareSettings);
	const last = log.branch().message(log.branch().lastOrdinal)?.message?.content;
	const text = Array.isArray(last) && last[0] !== undefined && "text" in last[0] ? String(last[0].text) : "";
	return { log, text };
}

describe("compress", () => {
	const content = [
		range("m2", "m9", "A long\nsummary, which says all that has to be known.", "auth bug"),
		range("m12", "m20", words(600)),
	];

	test("a call is one line: how many ranges and what they are about", () => {
		expect(call(compressRenderers, { content })).toEqual(["compress 2 ranges: auth bug; m12-m20"]);
	});

	test("an expanded call shows each summary", () => {
		const lines = call(compressRenderers, { content: content.slice(0, 1) }, true).map((line) => line.trimEnd());
		expect(lines).toEqual([
			"compress 1 range: auth bug",
			"m2-m9 auth bug",
			"  A long",
			"  summary, which says all that has to be known.",
		]);
	});

	test.each([undefined, {}, { content: [] }, { content: [{ startId: "m2" }] }])(
		"arguments that are still arriving (%j) draw the name",
		(args) => {
			expect(call(compressRenderers, args)).toEqual(["compress"]);
		},
	);

	test("a result names the blocks and what the view takes now", () => {
		const [line, ...more] = result(compressRenderers, foldedLog().text);
		expect(line).toMatch(/^b1 b2: [\d.]+K → [\d.]+K \(±[\d.]+K\) of 900\.0K tokens \(ctrl\+o to expand\)$/);
		expect(more).toEqual([]);
	});

	test("a result says so if the view still does not fit", () => {
		const text =
			"Folded:\nb1 = m00002-m00003\nThe view went from 90.1K to 64.5K (±2.0K) tokens, more than the 60.0K that fit. Go on.";
		const [line] = result(compressRenderers, text);
		expect(line).toMatch(/^b1: 90\.1K → 64\.5K \(±2\.0K\) tokens, more than the 60\.0K that/);
	});

	test("a result says which ranges were refused", () => {
		const text = foldedLog().text.replace("\nThe view", "\nRefused: m99 does not exist.\nThe view");
		const [blocks, refused] = result(compressRenderers, text);
		expect(blocks).toMatch(/^b1 b2: /);
		expect(refused).toMatch(/^Refused: m99 does not exist\. \(ctrl\+o/);
	});

	test("an expanded result is the whole text", () => {
		const { text } = foldedLog();
		const lines = result(compressRenderers, text, { expanded: true, width: 400 });
		expect(lines).toEqual(text.split("\n"));
	});
});

describe("decompress", () => {
	test("a call names what it opens, the page and the place", () => {
		expect(call(decompressRenderers, { id: "b2" })).toEqual(["decompress b2"]);
		expect(call(decompressRenderers, { id: "b2", page: 3 })).toEqual(["decompress b2 page 3"]);
		expect(call(decompressRenderers, { id: "m4-m9", to: "view" })).toEqual(["decompress m4-m9 to view"]);
	});

	test("a page is its heading", () => {
		const { log } = foldedLog();
		const originals = findOriginals(log.branch(), "b1");
		if ("code" in originals) throw new Error(originals.code);
		const page = pageOf(originals, 1);
		if ("code" in page) throw new Error(page.code);
		const [part] = page.parts;
		const lines = result(decompressRenderers, part !== undefined && "text" in part ? String(part.text) : "");
		expect(lines).toEqual([
			expect.stringMatching(/^\[b1 \(m00002-m00003\): 2 messages, .*; page 1 of \d\]? ?.*to expand\)$/),
		]);
	});

	test("images in a result are named", () => {
		const content = [
			{ type: "text" as const, text: "[m4]" },
			{ type: "image" as const, data: "", mimeType: "image/png" },
		];
		const options = { expanded: true, isPartial: false };
		const lines = decompressRenderers.renderResult({ content }, options, plain, { isError: false, keyHint }).render(20);
		expect(lines.map((line) => line.trimEnd())).toEqual(["[m4]", "[image]"]);
	});
});

describe("search_context", () => {
	test("a call shows the query on one line", () => {
		expect(call(searchContextRenderers, { query: "auth\nbug" })).toEqual(['search_context "auth bug"']);
	});

	test("a result lists the refs", () => {
		const text = searchText(search(foldedLog().log.branch(), "one.ts", 8));
		expect(result(searchContextRenderers, text)).toEqual([
			expect.stringMatching(/^6 hits: (?:[bm]\d+, ){5}[bm]\d+ \(ctrl/),
		]);
	});

	test("no hits are said in words", () => {
		expect(result(searchContextRenderers, searchText([]))).toEqual([
			expect.stringMatching(/^Nothing folded holds these words/),
		]);
	});
});

describe("acp_status", () => {
	test("the overview is shown whole", () => {
		const text = statusText(statusOf(foldedLog().log.view(), contextOf(foldedLog().log.branch())), "overview", 20);
		expect(result(acpStatusRenderers, text, { width: 400 })).toEqual(text.split("\n"));
	});

	test("a call shows which list was asked for", () => {
		expect(call(acpStatusRenderers, { view: "blocks" })).toEqual(["acp_status blocks"]);
		expect(call(acpStatusRenderers, {})).toEqual(["acp_status"]);
	});
});

describe("every tool", () => {
	const all = { compressRenderers, decompressRenderers, searchContextRenderers, acpStatusRenderers };

	test.each(Object.entries(all))("%s shows a refusal whole, wrapped", (_name, each) => {
		const text = problemText({ code: "unknownMessage", ref: "m99", last: 12 });
		expect(result(each, text, { isError: true, width: 30 }).join(" ")).toBe(text);
	});

	test.each(Object.entries(all))("%s keeps to the width, with wide characters too", (_name, each) => {
		const wide = "折叠了的消息".repeat(40);
		const args = { id: wide, query: wide, view: wide, content: [range("m1", "m2", wide, wide)] };
		const lines = [false, true].flatMap((expanded) =>
			[1, 7, 40, 80].flatMap((width) =>
				[...call(each, args, expanded, width), ...result(each, `${wide}\n${wide}`, { expanded, width })].map(
					(line) => ({
						over: visibleWidth(line) - Math.max(width, 2),
					}),
				),
			),
		);
		expect(lines.filter(({ over }) => over > 0)).toEqual([]);
	});

	test.each(Object.entries(all))("%s draws no control characters", (_name, each) => {
		const text = "\u001b[31mred\u001b[0m \u001b]0;title\u0007bell\u0007\ttab\r\nnext\u001b[2J";
		const lines = [
			...call(each, { id: text, query: text, view: text }, true),
			...result(each, text, { expanded: true }),
		];
		expect(lines.join("")).toMatch(/^[^\p{Cc}]*$/u);
	});
});
