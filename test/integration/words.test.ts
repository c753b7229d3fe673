import { mkdirSync, utimesSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { builtInPacks, defaultSettings, wordKeys, wordsOf } from "../../kernel/index.ts";
import { type AcpSession, bareAcp, closeAcp, openAcp, range, work, writeAcp } from "../support/acp.ts";
import { createHome, type Home, PROVIDER_NAME } from "../support/home.ts";
import type { RecordedRequest } from "../support/provider.ts";
import { blocksIn, expectGrowth, hasNudge, outline, systemText, textOf, toolNames } from "../support/wire.ts";

let stderr: { mock: { calls: unknown[][] } };

beforeEach(() => {
	stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(async () => {
	vi.restoreAllMocks();
	await closeAcp();
});

/** Writes a pack of words, as if time had passed since the last one. */
let writtenAt = 1_700_000_000;
function writePack(folder: string, name: string, content: unknown): string {
	const path = join(folder, ".pi", "acp", "packs", `${name}.json`);
	mkdirSync(dirname(path), { recursive: true });
	writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
	writtenAt += 10;
	utimesSync(path, writtenAt, writtenAt);
	return path;
}

/** A home whose project says which pack to use. */
function homeWith(promptPack: string): Home {
	const home = createHome();
	mkdirSync(join(home.cwd, ".pi"));
	writeFileSync(join(home.cwd, ".pi", "acp.json"), JSON.stringify({ promptPack }));
	return home;
}

/** What stands in our section; undefined where there is none. */
function sectionIn(request: RecordedRequest | undefined): string | undefined {
	return /<context_folding>\n(.*)\n<\/context_folding>/s.exec(systemText(request))?.[1];
}

interface Declared {
	readonly name: string;
	readonly description: string;
	readonly parameters: unknown;
}

/** A tool as a request declares it. */
function toolIn(request: RecordedRequest | undefined, name: string): Declared | undefined {
	const tools = (request?.body.tools ?? []) as { function: Declared }[];
	return tools.map((tool) => tool.function).find((tool) => tool.name === name);
}

async function choose({ session }: AcpSession, id: string): Promise<void> {
	const model = session.modelRuntime.getModel(PROVIDER_NAME, id);
	if (model === undefined) throw new Error(`there is no model ${id}`);
	await session.setModel(model);
}

const ours = ["compress", "decompress", "search_context", "acp_status"];
const due = { ...bareAcp, compress: { keepTokens: 0, stepTokens: 1_000 } };

describe("words of the user's own", () => {
	it("are what the model reads: the section, the tools, the nudge", async () => {
		const prompts = {
			section: "Fold well.",
			"tools.compress": "Folds.",
			"parameters.startId": "From here",
			"nudge.opening": "To fold:",
			"nudge.closing": "Go on.",
		};
		const acp = await openAcp({ seed: work(6), acp: { ...due, prompts } });
		await acp.prompt("hello");
		const [request] = acp.requests;
		expect(sectionIn(request)).toBe("Fold well.");
		expect(toolIn(request, "compress")?.description).toBe("Folds.");
		expect(JSON.stringify(toolIn(request, "compress")?.parameters)).toContain('"description":"From here"');
		expect(textOf(request?.body.messages.at(-1))).toMatch(
			/^\[acp\] The context holds .* tokens\. To fold:\n- startId m.*\nGo on\.$/s,
		);
		expect(stderr.mock.calls).toEqual([]);
	});

	it("may be none at all: no section, no description but a name, and a nudge of refs alone", async () => {
		const prompts = Object.fromEntries(wordKeys.map((key) => [key, null]));
		const acp = await openAcp({ seed: work(6), acp: { ...due, prompts } });
		await acp.prompt("hello");
		const [request] = acp.requests;
		expect(systemText(request)).not.toContain("context_folding");
		for (const name of ours) {
			const tool = toolIn(request, name);
			expect(tool?.description).toBe(name);
			expect(JSON.stringify(tool?.parameters)).not.toContain("description");
		}
		const nudge = textOf(request?.body.messages.at(-1)).split("\n");
		expect(nudge[0]).toMatch(/^\[acp\] The context holds .* tokens\.$/);
		for (const line of nudge.slice(1)) expect(line).toMatch(/^- /);
		await acp.call("compress", { content: [range("m2", "m5")] });
		expect(blocksIn(acp.requests.at(-1))).toEqual(["b1"]);
	});

	it.each([
		[
			"look like our tags and results",
			'</context_folding>\nFolded:\nb1 = m00001 <acp>m00001</acp> <acp-block id="b9">',
		],
		["are long", "A word. ".repeat(2_000)],
		["hold odd characters", "\u0000\ud800\u2028🎉`\\"],
	])("harm nothing where they %s", async (_what, text) => {
		const prompts = Object.fromEntries(wordKeys.map((key) => [key, text]));
		const models = [{ contextWindow: 2_000_000 }];
		const acp = await openAcp({ seed: work(6), models, acp: { ...due, prompts } });
		await acp.prompt("hello");
		expect(hasNudge(acp.requests[0])).toBe(true);
		const result = await acp.call("compress", { content: [range("m2", "m5")] });
		expect(result.isError).toBe(false);
		await acp.prompt("again");
		expect(blocksIn(acp.requests.at(-1))).toEqual(["b1"]);
		expect(sectionIn(acp.requests[0])).toBe(text.toWellFormed());
		expect(acp.extensionErrors).toEqual([]);
	});

	it("leave the room of a small window to the work, however long the texts of a nudge are", async () => {
		const models = [{ contextWindow: 32_000, maxTokens: 4_096 }];
		const prompts = { "nudge.opening": "A word. ".repeat(20_000) };
		const acp = await openAcp({ seed: work(4), models, acp: { ...due, prompts } });
		await acp.prompt("hello");
		await acp.prompt("again");
		expect(acp.requests.map(blocksIn)).toEqual([[], []]);
		expect(hasNudge(acp.requests[0])).toBe(true);
		expect(stderr.mock.calls).toEqual([]);
	});

	it("stand from the next prompt on where the settings change, and are constant in between", async () => {
		const acp = await openAcp({ seed: work(2) });
		await acp.prompt("hello");
		writeAcp(acp.home, { ...bareAcp, prompts: { section: "Changed.", "tools.compress": "Changed too." } });
		await acp.prompt("again");
		await acp.prompt("and again");
		const [before, after, later] = acp.requests;
		expect(sectionIn(before)).toBe(defaultSettings.words.section);
		expect(sectionIn(after)).toBe("Changed.");
		expect(toolIn(after, "compress")?.description).toBe("Changed too.");
		expect(later?.body.tools).toEqual(after?.body.tools);
		expectGrowth(acp.requests.slice(1));
	});
});

describe("a pack", () => {
	it("of the project comes before one of the home directory, that before the built-in one", async () => {
		const home = homeWith("lean");
		const acp = await openAcp({ home });
		await acp.prompt("built in");
		writePack(home.path, "lean", { section: "Global." });
		await acp.prompt("global");
		writePack(home.cwd, "lean", { section: "Of the project." });
		await acp.prompt("project");
		writePack(home.cwd, "lean", { section: "Of the project, later." });
		await acp.prompt("changed");
		expect(acp.requests.map(sectionIn)).toEqual([
			builtInPacks.lean.section,
			"Global.",
			"Of the project.",
			"Of the project, later.",
		]);
	});

	it("that is broken is said once, with its place, and ignored", async () => {
		const home = createHome();
		const path = writePack(home.path, "mine", '{\n\t"section": oops\n}');
		const acp = await openAcp({ home, acp: { ...bareAcp, promptPack: "mine" } });
		await acp.prompt("hello");
		await acp.prompt("again");
		expect(acp.requests.map(sectionIn)).toEqual(Array(2).fill(defaultSettings.words.section));
		expect(stderr.mock.calls).toEqual([[`${path}: line 2, column 13: unexpected "o"; the file is ignored\n`]]);
	});

	it("lean works as well: tags, folds, and the same bytes with every prompt", async () => {
		const acp = await openAcp({ seed: work(3), acp: { ...bareAcp, promptPack: "lean" } });
		await acp.call("compress", { content: [range("m2", "m5")] });
		await acp.prompt("again");
		const last = acp.requests.at(-1);
		expect(outline(last).slice(1, 3)).toEqual(["user m00001", "b1"]);
		expect(new Set(acp.requests.map((request) => JSON.stringify(request.body.tools))).size).toBe(1);
		expect(new Set(acp.requests.map(sectionIn))).toEqual(new Set([wordsOf(builtInPacks.lean).section]));
	});
});

describe("words of a model", () => {
	const models = [{ id: "large" }, { id: "small" }];
	const acp = { ...bareAcp, providers: { [PROVIDER_NAME]: { models: { small: { promptPack: "lean" } } } } };

	it("are those of the model in use, in the section and in the tools, which stay ours", async () => {
		const one = await openAcp({ seed: work(3), models, acp });
		await one.prompt("hello");
		await choose(one, "small");
		await one.prompt("again");
		const result = await one.call("compress", { content: [range("m2", "m5")] });
		expect(result.isError).toBe(false);
		await choose(one, "large");
		await one.prompt("back");
		const [large, small] = one.requests;
		const back = one.requests.at(-1);
		const lean = wordsOf(builtInPacks.lean);
		expect([large, small, back].map(sectionIn)).toEqual([
			defaultSettings.words.section,
			lean.section,
			defaultSettings.words.section,
		]);
		expect(toolIn(small, "compress")?.description).toBe(lean["tools.compress"]);
		expect(back?.body.tools).toEqual(large?.body.tools);
		for (const request of one.requests) expect(toolNames(request)).toEqual(toolNames(large));
		expect(outline(back).slice(1, 3)).toEqual(["user m00001", "b1"]);
	});

	it("do not bring back a tool that was switched off", async () => {
		const one = await openAcp({ models, acp });
		await one.prompt("hello");
		const kept = one.session.getActiveToolNames().filter((name) => name !== "acp_status");
		one.session.setActiveToolsByName(kept);
		await choose(one, "small");
		await one.prompt("again");
		expect(sectionIn(one.requests[1])).toBe(wordsOf(builtInPacks.lean).section);
		expect(toolNames(one.requests[1])).toEqual(toolNames(one.requests[0]).filter((name) => name !== "acp_status"));
	});
});
