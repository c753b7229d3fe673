import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RecordedRequest } from "../support/provider.ts";
import { call, closeScenarios, fold, openScenario, read, type Scenario, withoutNudges } from "../support/scenario.ts";
import {
	blocksIn,
	expectGrowth,
	expectWholePairs,
	hasNudge,
	lastResult,
	outline,
	stableLines,
	systemText,
	textOf,
} from "../support/wire.ts";

/** Text that a sloppy hand would change: wide characters, blanks at ends of lines, look-alikes of our own marks. */
const original = (name: string) =>
	Array.from({ length: 300 }, (_, line) => `${name}${line}\t“wörter” 漢字 🎈 <acp>m00002</acp> \\n  `).join("\n");

const letters = ["a", "b", "c", "d"];
const model = { contextWindow: 40_000, maxTokens: 4_096 };
const garbage = "\u0000 not { JSON";
/** Over Pi's threshold of 23,616 tokens: Pi would start a compaction of its own. */
const nearlyFull = { promptTokens: 26_000, completionTokens: 200 };

let scene: Scenario;
let working: RecordedRequest[];
let stderr: string;

/** The request with the call that folds in it is the last one before the fold. */
const [beforeFold, afterFold] = [4, 5];

beforeAll(async () => {
	const settings = { compaction: { keepRecentTokens: 1_000 } };
	scene = await openScenario({ models: [model], settings, acp: { ...withoutNudges, strategy: "model" } });
	for (const name of letters) scene.file(`${name}.txt`, original(name));
	scene.replies(
		...letters.map((name) => read(`${name}.txt`, nearlyFull)),
		{ ...fold(["m00002", "m00003"], ["m00004", "m00005"], ["m00006", "m00007"]), usage: nearlyFull },
		read("a.txt"),
		{ text: "done" },
	);
	const result = await scene.run("Read the files");
	expect(result.stdout.trim()).toBe("done");
	working = result.made;
	stderr = result.stderr;
});

afterAll(closeScenarios);

describe("a model that folds three ranges in one call", () => {
	it("sees three blocks in their places from then on", () => {
		expect(working).toHaveLength(7);
		expect(outline(working[beforeFold])).toEqual([
			"system",
			"user m00001",
			...["m00003", "m00005", "m00007", "m00009"].flatMap((ref) => ["assistant", `tool ${ref}`]),
		]);
		const folded = ["system", "user m00001", "b1", "b2", "b3", "assistant", "tool m00009", "assistant", "tool m00011"];
		expect(outline(working[afterFold])).toEqual(folded);
		// An anchor is an entry that counts, so it takes m00012.
		expect(outline(working[afterFold + 1])).toEqual([...folded, "assistant", "tool m00014"]);
		expect(textOf(working[afterFold]?.body.messages[3])).toMatch(
			/^<acp-block id="b2" tier="1" covers="m00004-m00005" messages="2" tokens="\d+">\nWhat m00004 to m00005 said\. .*\n\n\[record made by code\]\nfiles: b\.txt \(read\)\n<\/acp-block>$/,
		);
	});

	it("is told what became of each range", () => {
		const answer = lastResult(working[afterFold]);
		for (const line of ["b1 = m00002-m00003", "b2 = m00004-m00005", "b3 = m00006-m00007"])
			expect(answer).toContain(line);
		expect(answer).not.toContain("Refused");
	});

	it("finds everything before the first fold and after the last one unchanged, byte for byte", () => {
		const [before, after] = [stableLines(working[beforeFold]), stableLines(working[afterFold])];
		expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
		expect(after.slice(5, 7)).toEqual(before.slice(8, 10));
	});

	it("sees each request grow out of the one before, except at the fold", () => {
		expectGrowth(working.slice(0, afterFold));
		expectGrowth(working.slice(afterFold));
	});

	it("never sees a call without its results or a nudge that is not due", () => {
		for (const request of working) expectWholePairs(request);
		expect(working.some(hasNudge)).toBe(false);
	});

	it("may answer at full length once the context is small again", () => {
		expect(working[afterFold]?.body.max_completion_tokens).toBe(model.maxTokens);
		expect(working[afterFold + 1]?.body.max_completion_tokens).toBe(model.maxTokens);
	});

	it("is not compacted by Pi, though Pi asks for it: before the fold that is cancelled, after it there is an anchor", () => {
		expect(readFileSync(`${scene.home.path}/.pi/acp.log`, "utf8")).toContain("reason=threshold cancelled=true");
		for (const request of working) expect(systemText(request)).toContain("<context_folding>");
		const compactions = scene.entries().filter((entry) => entry.type === "compaction");
		for (const { details } of compactions) expect(details).toEqual({ acp: 1, anchor: true });
		expect(stderr.match(/folding it is left to the model/g)).toHaveLength(1);
	});

	it("leaves the log as Pi writes it: originals whole, no tag, no block", () => {
		const messages = scene.entries().flatMap((entry) => (entry.type === "message" ? [entry.message] : []));
		const results = messages.filter((message) => message.role === "toolResult" && message.toolName === "read");
		const texts = ["a", "b", "c", "d", "a"].map((name) => [{ type: "text", text: original(name) }]);
		expect(results).toMatchObject(texts.map((content) => ({ content })));
		const log = readFileSync(scene.sessionFile(), "utf8");
		expect(log).not.toMatch(/<acp>m\d+<\/acp>"/);
		expect(scene.entries().some((entry) => entry.type === "custom_message")).toBe(false);
	});
});

describe("a session that was folded, after a restart", () => {
	const sidecar = () => `${scene.sessionFile()}.acp.json`;

	it.each<[string, () => void]>([
		["deleted", () => rmSync(sidecar())],
		["truncated", () => truncateSync(sidecar(), 100)],
		["replaced by garbage", () => writeFileSync(sidecar(), garbage)],
	])("goes on where it was with its sidecar %s", async (_state, damage) => {
		const blocks = ["b1", "b2", "b3"];
		damage();
		const last = scene.requests.slice(-1);
		const { made, stderr } = await scene.run("Go on", { args: ["-c"] });
		expectGrowth([...last, ...made]);
		expect(outline(made[0]).at(-1)).toMatch(/^user m000\d\d$/);
		expect(blocksIn(made[0])).toEqual(blocks);
		expect(stderr).toBe("");
		const written: { blocks: { blockId: string }[] } = JSON.parse(readFileSync(sidecar(), "utf8"));
		expect(written.blocks.map((block) => block.blockId)).toEqual(blocks);
		expect(statSync(sidecar()).mode & 0o777).toBe(0o600);
	});

	it("has set aside what it could not read, each under a name of its own", () => {
		expect(readFileSync(`${sidecar()}.bak`, "utf8")).toHaveLength(100);
		expect(readFileSync(`${sidecar()}.bak.1`, "utf8")).toBe(garbage);
	});
});

describe("a model that opens what was folded", () => {
	let made: RecordedRequest[];
	let answers: string[];

	beforeAll(async () => {
		scene.replies(
			...[1, 2, 3, 4, 5].map((page) => call("decompress", { id: "m00002-m00005", page })),
			call("decompress", { id: "b3", to: "file" }),
			call("decompress", { id: "b2", to: "view" }),
			{ text: "opened" },
		);
		const last = scene.requests.slice(-1);
		made = [...last, ...(await scene.run("Open the blocks", { args: ["-c"] })).made];
		expect(made).toHaveLength(9);
		// On the wire look-alikes of our marks are made visibly different, so what was answered is read from the log.
		answers = scene.entries().flatMap((entry) => {
			if (entry.type !== "message" || entry.message.role !== "toolResult") return [];
			const { toolName, content } = entry.message;
			return toolName === "decompress" ? [content.map((part) => ("text" in part ? part.text : "")).join("")] : [];
		});
		expect(lastResult(made[2])).toBe(answers[0]?.replaceAll("<acp>m00002</acp>", "< acp>m00002</acp>"));
	});

	it("reads it page by page, byte for byte, and is told where it ends", () => {
		const pages = Number(/; page 1 of (\d); next: page 2\]\n/.exec(answers[0] ?? "")?.[1]);
		expect(pages).toBeGreaterThan(1);
		const shown = answers.slice(0, pages).map((answer) => answer.slice(answer.indexOf("\n") + 1));
		expect(shown.join("")).toContain(original("a"));
		expect(shown.join("")).toContain(original("b"));
		expect(shown.join("")).toContain('(calls read) {"path":"b.txt"}');
		expect(answers[4]).toBe(`There is no page 5; there are ${pages}. Ask for page 1.`);
	});

	it("gets a file that holds all of it", () => {
		const path = /\/\S+\.txt$/.exec(answers[5] ?? "")?.[0] ?? "";
		expect(readFileSync(path, "utf8")).toContain(`(calls read) {"path":"c.txt"}\n[m00007 read]\n${original("c")}\n`);
		expect(statSync(path).mode & 0o777).toBe(0o600);
	});

	it("goes on where it was before, with a sidecar that was left alone", () => {
		expect(outline(made[1])).toEqual([...outline(made[0]), "assistant", expect.stringMatching(/^user m000\d\d$/)]);
	});

	it("gets it back in its place, and nothing else moves", () => {
		expectGrowth(made.slice(0, -1));
		const [whole, folded, opened] = [working[beforeFold], made.at(-2), made.at(-1)].map(stableLines);
		expect(blocksIn(made.at(-1))).toEqual(["b1", "b3"]);
		expect(opened?.slice(0, 3)).toEqual(folded?.slice(0, 3));
		expect(opened?.slice(3, 5)).toEqual(whole?.slice(4, 6));
		expect(opened?.slice(5, -2)).toEqual(folded?.slice(4));
		for (const request of made) expectWholePairs(request);
	});
});
