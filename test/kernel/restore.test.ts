import { describe, expect, it } from "vitest";
import { isText, type Part, textOf } from "../../kernel/message.ts";
import { estimateTokens } from "../../kernel/meter/estimate.ts";
import type { Problem } from "../../kernel/problem.ts";
import { fileText, findOriginals, type Originals, type Page, pageOf } from "../../kernel/restore.ts";
import { bareSettings, Log, range, words } from "../support/log.ts";

const image: Part = { type: "image", data: "aGVsbG8=", mimeType: "image/png" };

function find(log: Log, id: string): Originals {
	const found = findOriginals(log.branch(), id);
	return "code" in found ? expect.unreachable(found.code) : found;
}

function ordinals(log: Log, id: string): readonly number[] {
	return find(log, id).records.map((record) => record.ordinal);
}

function pages(originals: Originals): readonly Page[] {
	const all: Page[] = [];
	for (;;) {
		const page = pageOf(originals, all.length + 1);
		if ("code" in page) return all;
		all.push(page);
	}
}

/** The text of a page below its heading. */
function body(page: Page): string {
	const text = page.parts.filter(isText).map((part) => part.text);
	return text.join("\n").split("\n").slice(1).join("\n");
}

/** Four steps of work, two of them in b1, and b2 around b1 and the third. */
function folded(): Log {
	const log = new Log();
	log.user("task");
	for (const name of ["a", "b", "c", "d"]) log.step("read", { path: name }, words(600, name));
	log.user("go on");
	log.compress([range("m2", "m5", "First.")], bareSettings);
	log.compress([range("b1", "m7", "More.")], bareSettings);
	return log;
}

describe("what a ref stands for", () => {
	it("is the messages of a block, those of its children included, also when it was folded into another", () => {
		expect(ordinals(folded(), "b1")).toEqual([2, 3, 4, 5]);
		expect(ordinals(folded(), " B02 ")).toEqual([2, 3, 4, 5, 6, 7]);
		expect(find(folded(), "b2")).toMatchObject({ title: "b2 (m00002-m00007)", block: { number: 2 } });
	});

	it("is a message, or the messages from one ref to another in any order", () => {
		expect(ordinals(folded(), "m3")).toEqual([3]);
		expect(ordinals(folded(), "m00003-m00006")).toEqual([3, 4, 5, 6]);
		expect(ordinals(folded(), "m6-m3")).toEqual([3, 4, 5, 6]);
		expect(ordinals(folded(), "b1 to m8")).toEqual([2, 3, 4, 5, 6, 7, 8]);
		expect(find(folded(), "m6-m3").title).toBe("m00003-m00006");
	});

	it("is that of the entry a foreign ref names, if the number agrees", () => {
		expect(ordinals(folded(), "m00002@e2")).toEqual([2]);
		expect(ordinals(folded(), "m2@e2-m4@e4")).toEqual([2, 3, 4]);
		expect(ordinals(folded(), "b1@e12")).toEqual([2, 3, 4, 5]);
	});

	it("is nothing for the number of an anchor; what that stands for has refs of its own", () => {
		const log = new Log();
		log.user("one");
		log.anchor("summary", null);
		log.user("three");
		expect(findOriginals(log.branch(), "m2")).toMatchObject({ code: "unknownMessage", ref: "m00002" });
		const originals = findOriginals(log.branch(), "m1-m3");
		if ("code" in originals) expect.unreachable();
		expect(fileText(originals)).toBe("[m00001 user]\none\n[m00003 user]\nthree\n");
	});

	it("is still there after the block was opened", () => {
		const log = folded();
		log.operation({ kind: "unfold", block: 2, sizeTokens: 1 });
		expect(ordinals(log, "b2")).toEqual([2, 3, 4, 5, 6, 7]);
	});

	it.each<[string, Problem]>([
		["", { code: "unreadableRef", text: "" }],
		["the block", { code: "unreadableRef", text: "the block" }],
		["m99", { code: "unknownMessage", ref: "m00099", last: 14 }],
		["m2-m99", { code: "unknownMessage", ref: "m00099", last: 14 }],
		["b7", { code: "unknownBlock", ref: "b7", known: [1, 2] }],
		["b7-m2", { code: "unknownBlock", ref: "b7", known: [1, 2] }],
		["m2@e3", { code: "foreignRef", ref: "m00002@e3" }],
		["b1@e2", { code: "foreignRef", ref: "b1@e2" }],
		["m2@elsewhere/e2", { code: "foreignRef", ref: "m00002@elsewhere/e2" }],
	])("is nothing for %j, with the reason", (id, problem) => {
		expect(findOriginals(folded().branch(), id)).toEqual(problem);
	});

	it("lists a dozen spans and blocks and counts the rest", () => {
		const log = new Log();
		log.user("task");
		for (let index = 0; index < 30; index++) log.step(index % 2 === 0 ? "read" : "skill", {}, words(300, `${index}-`));
		log.user("go on");
		log.compress([range("m2", "m61")], { ...bareSettings, protectedTools: ["skill"] });
		const { title } = find(log, "b1");
		expect(title).toMatch(/^b1 \(m00002-m00003, m00006-m00007, .*, m00046-m00047, 3 more\)$/);
		expect(title.split(", ")).toHaveLength(13);
	});
});

describe("a page", () => {
	it("begins with the record of a block in full where the block shows only a part of it", () => {
		const log = new Log();
		log.user("task");
		for (let step = 0; step < 90; step++) log.step("read", { path: `src/part-${step}.ts` }, words(100));
		log.user("go on");
		log.compress([range("m2", "m181"), range("b1", "m181")], bareSettings);
		const all = pages(find(log, "b1"));
		const [first = expect.unreachable()] = all;
		expect(body(first)).toMatch(
			/^\[record made by code, in full\]\nfiles: src\/part-0\.ts \(read\), .*, src\/part-89\.ts \(read\)\n\[m00002 assistant\]\n/,
		);
		expect(fileText(find(log, "b1"))).toMatch(/^\[record made by code, in full\]\nfiles: .*\n\[m00002 assistant\]\n/);
		log.step("read", { path: "more.ts" }, "more");
		log.edit("e2", { content: "edited" });
		expect(pages(find(log, "b1"))).toEqual(all);
		expect(body(pages(find(log, "m2-m5"))[0] ?? first)).toMatch(/^\[m00002 assistant\]/);
	});

	it("begins with the originals where the block shows all of its record, or has none", () => {
		expect(body(pages(find(folded(), "b2"))[0] ?? expect.unreachable())).toMatch(/^\[m00002 assistant\]/);
		const log = new Log();
		for (const name of ["a", "b"]) log.assistant(`files ${words(600, name)}`);
		log.user("go on");
		log.compress([range("m1", "m2")], bareSettings);
		expect(body(pages(find(log, "b1"))[0] ?? expect.unreachable())).toMatch(/^\[m00001 assistant\]/);
	});

	it("gives each message with its ref and speaker, and its texts byte for byte", () => {
		const log = new Log();
		log.user("Fix  it.\n\n\ttabs, trailing blanks  ");
		log.assistant("Sure.", [{ name: "bash", arguments: { command: "ls" } }], { thinking: "hm" });
		log.result("boom\n", { isError: true });
		log.message({ role: "custom", content: "note" });
		log.message({ role: "toolResult", content: [{ type: "audio", data: 1 } as Part] });
		expect(body(pages(find(log, "m1-m5"))[0] ?? expect.unreachable())).toBe(
			[
				"[m00001 user]",
				"Fix  it.\n\n\ttabs, trailing blanks  ",
				"[m00002 assistant]",
				"(thinking) hm",
				"Sure.",
				'(calls bash) {"command":"ls"}',
				"[m00003 bash failed]",
				"boom\n",
				"[m00004 user]",
				"note",
				"[m00005 tool]",
				'{"type":"audio","data":1}',
			].join("\n"),
		);
	});

	it("has a heading with what it is, how much, which page of how many, and what is next", () => {
		const log = folded();
		const [first, second] = pages(find(log, "m1-m9"));
		const heading = (page: Page | undefined) =>
			page?.parts[0] && isText(page.parts[0]) ? page.parts[0].text.split("\n")[0] : "";
		expect(pages(find(log, "b2"))).toHaveLength(1);
		expect(heading(pages(find(log, "b2"))[0])).toMatch(
			/^\[b2 \(m00002-m00007\): 6 messages, [\d.K]+ tokens; holds b1; page 1 of 1\]$/,
		);
		expect(first?.pages).toBe(1);
		expect(second).toBeUndefined();
		log.user(words(12_000));
		expect(heading(pages(find(log, "m15"))[0])).toMatch(
			/^\[m00015: 1 messages, .* tokens; page 1 of [2-9]; next: page 2\]$/,
		);
	});

	it("shows the originals, not what edits or other changes made of them", () => {
		const log = folded();
		log.edit("e3", { content: "edited" });
		log.edit("e2", null);
		expect(body(pages(find(log, "m2-m3"))[0] ?? expect.unreachable())).toContain(words(600, "a"));
	});

	it("holds images as images, between the texts before and after them", () => {
		const log = new Log();
		log.user([
			{ type: "text", text: "before", textSignature: "x" } as Part,
			image,
			{ type: "text", text: "after" },
			image,
		]);
		const [page] = pages(find(log, "m1"));
		expect(page?.parts.map((part) => part.type)).toEqual(["text", "image", "text", "image"]);
		expect(page?.parts[1]).toEqual(image);
		expect(page?.parts[2]).toEqual({ type: "text", text: "after" });
	});

	it("holds only so many images", () => {
		const log = new Log();
		log.user(Array.from({ length: 7 }, () => image));
		const all = pages(find(log, "m1"));
		expect(all.length).toBeGreaterThan(1);
		expect(all.flatMap((page) => page.parts).filter((part) => part.type === "image")).toHaveLength(7);
	});

	it.each([0, -1, 2, 1.5, Number.NaN])("%d of one does not exist", (page) => {
		expect(pageOf(find(folded(), "m1"), page)).toMatchObject({ code: "noPage", pages: 1 });
	});
});

describe("pages", () => {
	const limitTokens = 4_000;

	it.each([
		["plain text", words(20_000)],
		["lines", Array.from({ length: 3_000 }, (_, index) => `line ${index}`).join("\n")],
		["text that is dense at one end", `${"plain ".repeat(4_000)}${"界".repeat(9_000)}`],
		["characters of two units", "x".concat("😀".repeat(12_000))],
		["words far apart", "word          ".repeat(6_000)],
	])("of %s join back exactly, stay under their limit, and tear no character", (_, text) => {
		const log = new Log();
		log.user(text);
		const all = pages(find(log, "m1"));
		expect(all.length).toBeGreaterThan(1);
		expect(all.map(body).join("").replace("[m00001 user]\n", "")).toBe(text);
		for (const page of all) {
			expect(page.pages).toBe(all.length);
			const shownText = page.parts
				.filter(isText)
				.map((part) => part.text)
				.join("\n");
			expect(estimateTokens(shownText)).toBeLessThanOrEqual(limitTokens);
			expect(shownText.isWellFormed()).toBe(true);
		}
	});

	it("of many messages hold each message once, in order and byte for byte", () => {
		const log = new Log();
		log.user("task");
		for (let index = 0; index < 40; index++) log.step("read", { path: `${index}` }, words(900, `n${index}-`));
		log.user("go on");
		log.compress([range("m2", "m81", "All read.")], bareSettings);
		const originals = find(log, "b1");
		const all = pages(originals);
		const text = all.map(body).join("\n");
		let at = 0;
		for (const record of originals.records) {
			if (record.message?.role !== "toolResult") continue;
			const place = text.indexOf(textOf(record.message), at);
			expect(place).toBeGreaterThanOrEqual(at);
			at = place;
		}
		expect(text.match(/^\[m\d+ \w+\]$/gm)).toHaveLength(80);
		expect(pages(originals)).toEqual(all);
	});
});

describe("a file", () => {
	it("holds everything as text and names the images", () => {
		const log = folded();
		log.user([{ type: "text", text: "look" }, image]);
		expect(fileText(find(log, "m14-m15"))).toMatch(
			/^\[m00014 compress\]\nFolded:\n.*\n\[m00015 user\]\nlook\n\[image\]\n$/s,
		);
		const long = words(20_000);
		log.user(long);
		expect(fileText(find(log, "m16"))).toBe(`[m00016 user]\n${long}\n`);
	});
});
