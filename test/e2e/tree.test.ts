import { copyFileSync, readFileSync, renameSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RecordedRequest } from "../support/provider.ts";
import { BUNDLE_PATH, type Rpc } from "../support/run-pi.ts";
import { closeScenarios, fold, openScenario, read, type Scenario, withoutNudges } from "../support/scenario.ts";
import { blocksIn, expectGrowth, expectWholePairs, outline, stableLines } from "../support/wire.ts";

/** `/nav <entry id>` moves in the tree, as the user does with `/tree`. */
const navigation = `export default function (pi) {
	pi.registerCommand("nav", {
		handler: async (id, ctx) => {
			await ctx.navigateTree(id.trim(), { summarize: false });
		},
	});
}
`;

let scene: Scenario;
let pi: Rpc;
let parent: string;
/** The requests of the parent: `Fold a` is asked in the third, `Fold b` in the seventh; the last shows both folds. */
let working: RecordedRequest[];
const [askedToFoldA, askedToFoldB, last] = [2, 6, 7];

beforeAll(async () => {
	scene = await openScenario({ acp: withoutNudges });
	for (const name of ["a", "b"]) scene.file(`${name}.txt`, `a line of ${name}\n`.repeat(600));
	pi = scene.rpc({ extensions: [BUNDLE_PATH, scene.extension("nav.js", navigation)] });
	scene.replies(read("a.txt"), { text: "read" }, fold(["m00002", "m00003"]), { text: "folded" });
	scene.replies(read("b.txt"), { text: "read" }, fold(["m00010", "m00011"]), { text: "folded" });
	for (const prompt of ["Read a", "Fold a", "Read b", "Fold b"]) await pi.prompt(prompt);
	working = [...scene.requests];
	expect(working.map((request) => blocksIn(request).join())).toEqual(["", "", "", "b1", "b1", "b1", "b1", "b1,b2"]);
	parent = await sessionFile();
});

afterAll(closeScenarios);

/** The request that a prompt makes. */
async function requestOf(prompt: string): Promise<RecordedRequest> {
	const from = scene.requests.length;
	await pi.prompt(prompt);
	const [request, more] = scene.requests.slice(from);
	if (request === undefined || more !== undefined) throw new Error(`${prompt} made not one request`);
	expectWholePairs(request);
	return request;
}

async function command(type: string, fields: object = {}): Promise<unknown> {
	const response = await pi.command({ type, ...fields });
	expect(response).toMatchObject({ success: true });
	return response.data;
}

async function sessionFile(): Promise<string> {
	const { sessionFile } = (await command("get_state")) as { sessionFile: string };
	return sessionFile;
}

/** The id of the entry with a text, on whatever branch. */
function entryWith(text: string): string {
	const lines = readFileSync(parent, "utf8").trim().split("\n");
	const line = lines.find((each) => each.includes(`"text":"${text}"`)) ?? "{}";
	return JSON.parse(line).id;
}

/** Fails unless a request is an earlier one with another last message. */
function expectSameBut(request: RecordedRequest, earlier: RecordedRequest | undefined): void {
	expect(stableLines(request).slice(0, -1)).toEqual(stableLines(earlier).slice(0, -1));
	expect(outline(request).at(-1)).toBe(outline(earlier).at(-1));
}

describe("a move in the tree of the real Pi", () => {
	it("shows each branch as it was: before both folds, between them, and after them again", async () => {
		const { leafId } = (await command("get_entries")) as { leafId: string };
		await pi.prompt(`/nav ${entryWith("Fold a")}`);
		const before = await requestOf("Leave a as it is");
		expect(blocksIn(before)).toEqual([]);
		expectSameBut(before, working[askedToFoldA]);

		await pi.prompt(`/nav ${entryWith("Fold b")}`);
		const between = await requestOf("Leave b as it is");
		expect(blocksIn(between)).toEqual(["b1"]);
		expectSameBut(between, working[askedToFoldB]);

		await pi.prompt(`/nav ${leafId}`);
		const after = await requestOf("Go on");
		expect(blocksIn(after)).toEqual(["b1", "b2"]);
		expectGrowth([...working.slice(last), after]);
	});
});

describe("a child session of the real Pi", () => {
	it.each([
		["before the first fold", "Fold a", askedToFoldA, []],
		["between two folds", "Fold b", askedToFoldB, ["b1"]],
	])("made by a fork %s has no fold of later", async (_where, text, asked, blocks) => {
		await command("switch_session", { sessionPath: parent });
		await command("fork", { entryId: entryWith(text) });
		expect(await sessionFile()).not.toBe(parent);
		const request = await requestOf("Another way");
		expect(blocksIn(request)).toEqual(blocks);
		expectSameBut(request, working[asked]);
	});

	it("made by a clone goes on where its parent was, and neither sees what the other folds from then on", async () => {
		await command("switch_session", { sessionPath: parent });
		const before = await requestOf("Once more");
		await command("clone");
		expect(await sessionFile()).not.toBe(parent);
		scene.replies(fold(["b1", "b2"]), { text: "folded" });
		const from = scene.requests.length;
		await pi.prompt("Fold both");
		const [first, second] = scene.requests.slice(from);
		expectGrowth([before, ...(first ? [first] : [])]);
		expect(blocksIn(second)).toEqual(["b3"]);

		await command("switch_session", { sessionPath: parent });
		const back = await requestOf("Go on without the clone");
		expectGrowth([before, back]);
		expect(blocksIn(back)).toEqual(["b1", "b2"]);
	});
});

describe("the log of a session as a mere file", () => {
	/** What is left out depends on the project: the system prompt names its folder. */
	const withoutSystem = (request: RecordedRequest | undefined) => stableLines(request).slice(1);

	it("shows the same in another home, without its sidecar, and under another name beside its old one", async () => {
		await pi.close();
		const log = scene.sessionFile();
		const copied = await openScenario({ acp: withoutNudges });
		const copy = join(copied.home.cwd, "bare.jsonl");
		copyFileSync(log, copy);
		const renamed = join(scene.home.cwd, "renamed.jsonl");
		renameSync(log, renamed);

		const elsewhere = await copied.run("Go on", { args: ["--session", copy] });
		const here = await scene.run("Go on", { args: ["--session", renamed] });
		expect(blocksIn(here.made[0])).toEqual(["b3"]);
		expect(withoutSystem(elsewhere.made[0])).toEqual(withoutSystem(here.made[0]));
		const inClone = scene.requests.findLast((each) => blocksIn(each).join() === "b3" && each !== here.made[0]);
		expectGrowth([...(inClone ? [inClone] : []), ...here.made]);
		for (const path of [copy, renamed]) {
			const { blocks } = JSON.parse(readFileSync(`${path}.acp.json`, "utf8"));
			expect(blocks).toMatchObject([{ blockId: "b1" }, { blockId: "b2" }, { blockId: "b3", active: true }]);
		}
	});
});
