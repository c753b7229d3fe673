import { describe, expect, it } from "vitest";
import { findOriginals, pageOf } from "../../../kernel/index.ts";
import { type Part, textOf } from "../../../kernel/message.ts";
import { begun, foldFirst, reductionsIn, shownMessage, switched } from "../../support/filtering.ts";
import { range, words } from "../../support/log.ts";

const marker = '[left out: a later call reads the same; decompress({ id: "m00005" }) shows this result]';

type Inputs = Readonly<Record<string, unknown>>;

/** A log that reads twice, m4 and m5, m6 and m7, as the inputs say. */
function readTwice(first: Inputs, second: Inputs = first) {
	const log = begun();
	log.step("read", first, words(300, "old"));
	log.step("read", second, words(300, "new"));
	return log;
}

describe("what a read returned", () => {
	it.each([
		["the same file", { path: "a.ts" }, { path: "a.ts" }],
		["the same part", { path: "a.ts", offset: 10, limit: 20 }, { limit: 20, offset: 10, path: "a.ts" }],
		["the same file by another name of the argument", { file_path: "a.ts" }, { path: "a.ts" }],
	])("gives way to a marker once a later one shows %s", (_what, first, second) => {
		const log = readTwice(first, second);
		expect(foldFirst(log)).toEqual(["m5 supersededReads"]);
		expect(shownMessage(log, 5)).toMatchObject({ content: [{ type: "text", text: marker }], toolName: "read" });
		expect(textOf(shownMessage(log, 7) ?? expect.unreachable())).toBe(words(300, "new"));
	});

	it.each([
		["another file", { path: "b.ts" }],
		["another part", { path: "a.ts", offset: 2 }],
		["nothing that can be told", {}],
	])("stays where the later one reads %s", (_what, second) => {
		expect(foldFirst(readTwice({ path: "a.ts" }, second))).toEqual([]);
	});

	it("stays where neither says what it reads, and where the rule is off", () => {
		expect(foldFirst(readTwice({}))).toEqual([]);
		expect(foldFirst(readTwice({ path: "a.ts" }), { supersededReads: false })).toEqual([]);
	});

	it("stays where a marker would save next to nothing", () => {
		const log = begun();
		log.step("read", { path: "a.ts" }, words(40));
		log.step("read", { path: "a.ts" }, words(40));
		expect(foldFirst(log)).toEqual([]);
	});

	it("is measured by the last of several reads that is whole", () => {
		const log = readTwice({ path: "a.ts" });
		log.step("read", { path: "a.ts" }, words(300, "newest"));
		log.assistant("", [{ name: "read", arguments: { path: "a.ts" } }]);
		log.result("no such file", { isError: true });
		log.step("read", { path: "a.ts" }, " ");
		expect(foldFirst(log)).toEqual(["m5 supersededReads", "m7 supersededReads"]);
	});

	it("stays where the later read is folded by the same call, or is cut, or was rewritten", () => {
		const folded = readTwice({ path: "a.ts" });
		const plan = folded.compress([range("m2", "m3"), range("m6", "m7")], switched({}));
		expect(reductionsIn(plan.operation)).toEqual([]);
		const cut = readTwice({ path: "a.ts" });
		const reduction = { id: "e7", ordinal: 7, rule: "truncate", keepChars: 10, savedTokens: 250 } as const;
		cut.operation({ kind: "truncate", reductions: [reduction], sizeTokens: 1 });
		expect(foldFirst(cut)).toEqual([]);
		const edited = readTwice({ path: "a.ts" });
		edited.edit("e7", { content: "(removed)" });
		expect(foldFirst(edited)).toEqual([]);
	});

	it("takes its images with it, and gives all of it back when asked by the ref", () => {
		const log = begun();
		const shown: Part[] = [
			{ type: "text", text: "a picture" },
			{ type: "image", data: "aW1hZ2U=", mimeType: "image/png" },
		];
		for (const content of [shown, shown]) {
			log.assistant("", [{ name: "read", arguments: { path: "a.png" } }]);
			log.result(content);
		}
		expect(foldFirst(log)).toEqual(["m5 supersededReads"]);
		expect(shownMessage(log, 5)?.content).toEqual([{ type: "text", text: marker }]);
		const originals = findOriginals(log.branch(), "m00005");
		const page = "code" in originals ? expect.unreachable() : pageOf(originals, 1);
		expect(JSON.stringify(page)).toContain("aW1hZ2U=");
	});
});
