import { copyFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import extension from "../../src/index.ts";
import type { InProcessOptions } from "../support/in-process.ts";
import type { RecordedRequest } from "../support/provider.ts";
import { BUNDLE_PATH } from "../support/run-pi.ts";
import { closeScenarios, fold, openScenario, read, type Scenario } from "../support/scenario.ts";
import {
	blocksIn,
	expectGrowth,
	expectWholePairs,
	hasNudge,
	lastResult,
	outline,
	stableLines,
	systemText,
	toolNames,
} from "../support/wire.ts";

const rivalCode = `export default function (pi) {
	pi.registerTool({
		name: "compress",
		label: "Rival",
		description: "The rival's own tool.",
		parameters: { type: "object", properties: { content: { type: "array" } } },
		execute: async () => ({ content: [{ type: "text", text: "The rival did something." }], details: {} }),
	});
}
`;

/** Settings under which a nudge is due as soon as anything can be folded. */
const eager = { compress: { keepTokens: 0, stepTokens: 1 } };

let scene: Scenario;
let rival: string;
let copy: string;
/** The last request of a session of ours alone, with one fold in it. */
let ours: RecordedRequest;

beforeAll(async () => {
	scene = await openScenario({ acp: eager });
	rival = scene.extension("rival.js", rivalCode);
	copy = join(scene.home.path, "copy.js");
	copyFileSync(BUNDLE_PATH, copy);
	scene.file("long.txt", "a line of the file\n".repeat(500));
	scene.replies(read("long.txt"), fold(["m00002", "m00003"]), { text: "done" });
	const { made } = await scene.run("Read the file");
	expect(made.map(hasNudge)).toEqual([false, true, false]);
	ours = made[2] as RecordedRequest;
	expect(outline(ours)).toEqual(["system", "user m00001", "b1", "assistant", "tool m00005"]);
});

afterAll(closeScenarios);

/** No section, no tag, no nudge; the fold that was made before stands. */
function expectFoldOnly(request: RecordedRequest | undefined): void {
	expect(systemText(request)).not.toContain("context_folding");
	expect(outline(request).slice(0, 4)).toEqual(["system", "user", "b1", "assistant"]);
	expect(outline(request).join()).not.toMatch(/ m\d|nudge|b2/);
	expectWholePairs(request);
}

function compressDescription(request: RecordedRequest | undefined): string | undefined {
	const tools = (request?.body.tools ?? []) as { function: { name: string; description: string } }[];
	return tools.find((tool) => tool.function.name === "compress")?.function.description;
}

describe("beside an extension that owns compress", () => {
	it.each<[string, (paths: { rival: string; own: string }) => string[]]>([
		["before", ({ rival, own }) => [rival, own]],
		["after", ({ rival, own }) => [own, rival]],
	])("that is loaded %s us, folds are rendered and nothing else, and the user is told once", async (_place, order) => {
		scene.replies(read("long.txt"), fold(["m00002", "m00003"]), { text: "done" });
		const extensions = order({ rival, own: BUNDLE_PATH });
		const { made, stderr } = await scene.run("Go on", { extensions, args: ["-c"] });
		expect(made).toHaveLength(3);
		for (const request of made) expectFoldOnly(request);
		expectGrowth(made);
		expect(compressDescription(made[0])).toBe("The rival's own tool.");
		expect(toolNames(made[0])).not.toContain("decompress");
		expect(lastResult(made[2])).toBe("The rival did something.");
		expect(stderr.match(/stands down/g)).toHaveLength(1);
	});
});

describe("two copies of us", () => {
	it("do the work once: one section, one tag, one nudge, one block", async () => {
		const counted = scene.entries().filter((entry) => entry.type === "message" && entry.message.role !== "system");
		const [call, result] = [counted.length + 2, counted.length + 3].map(
			(ordinal) => `m${`${ordinal}`.padStart(5, "0")}`,
		);
		scene.replies(read("long.txt"), fold([`${call}`, `${result}`]), { text: "done" });
		const { made, stderr } = await scene.run("Go on", { extensions: [BUNDLE_PATH, copy], args: ["-c"] });
		expect(made).toHaveLength(3);
		expectGrowth([ours, ...made.slice(0, 2)]);
		expect(made.map((request) => blocksIn(request))).toEqual([["b1"], ["b1"], ["b1", "b2"]]);
		expect(lastResult(made[2])).toContain(`Folded:\nb2 = ${call}-${result} `);
		for (const request of made) {
			expect(systemText(request).match(/<context_folding>/g)).toHaveLength(1);
			expect(stableLines(request).join("\n")).not.toMatch(/<\/acp>\s*<acp>/);
			expect(new Set(toolNames(request)).size).toBe(toolNames(request).length);
			expectWholePairs(request);
		}
		expect(outline(made[1]).filter((line) => line === "nudge")).toHaveLength(1);
		expect(stderr.match(/stands down/g)).toHaveLength(1);
	});
});

describe("with compress left out of the loadout", () => {
	it("folds are rendered and nothing else", async () => {
		const blocks = blocksIn(scene.requests.at(-1));
		scene.replies(read("long.txt"), { text: "done" });
		const { made, stderr } = await scene.run("Go on", { args: ["-c", "--tools", "read"] });
		expect(made).toHaveLength(2);
		for (const request of made) {
			expect(toolNames(request)).toEqual(["read"]);
			expect(blocksIn(request)).toEqual(blocks);
			expect(outline(request).join()).not.toMatch(/ m\d|nudge/);
			expect(systemText(request)).not.toContain("context_folding");
			expectWholePairs(request);
		}
		expectGrowth(made);
		expect(stderr).toBe("");
	});
});

describe("two copies of us that only render", () => {
	it.each<[string, boolean, string[] | undefined]>([
		["switched off", false, undefined],
		["with compress left out of the loadout", true, ["read"]],
	])("show every block and every cut once: %s", async (_why, enabled, tools) => {
		const models = [{ contextWindow: 16_000, maxTokens: 4_000 }];
		const crowded = await openScenario({ models });
		crowded.file("huge.txt", "a line of the file\n".repeat(1_900));
		const work = async (prompt: string, options: Partial<InProcessOptions>) => {
			const one = await crowded.session({ extensions: [extension], bind: true, models, ...options });
			await one.prompt(prompt);
			await one.dispose();
			expect(one.extensionErrors).toEqual([]);
		};
		crowded.replies(read("huge.txt"), fold(["m00002", "m00003"]), read("huge.txt"), { text: "read" });
		const acp = { strategy: "model" };
		await work("Read it", { acp });
		vi.resetModules();
		const { default: copyOfUs } = await import("../../src/index.ts");
		const rendering = { acp: { ...acp, enabled }, ...(tools && { sessionOptions: { tools } }) };
		await work("Go on", { ...rendering, extensions: [extension] });
		await work("Go on", { ...rendering, extensions: [extension, copyOfUs] });

		const [alone, both] = crowded.requests.slice(4);
		expect(outline(both).slice(0, 7)).toEqual(["system", "user", "b1", "assistant", "tool", "assistant", "tool"]);
		expect(stableLines(both)[6]).toMatch(/characters left out/);
		expectGrowth([alone, both].flatMap((request) => request ?? []));
	});
});
