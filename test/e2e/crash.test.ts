import { readFileSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { RecordedRequest } from "../support/provider.ts";
import { closeScenarios, fold, openScenario, read, type Scenario, withoutNudges } from "../support/scenario.ts";
import { blocksIn, expectGrowth, expectWholePairs, outline, stableLines } from "../support/wire.ts";

let scene: Scenario;
let before: RecordedRequest;
let after: RecordedRequest;
/** The log up to the call of compress, its result, and what follows. */
let upToCall: string;
let result: string;

beforeAll(async () => {
	scene = await openScenario({ acp: withoutNudges });
	scene.file("long.txt", "a line of the file\n".repeat(600));
	scene.replies(read("long.txt"), read("long.txt"), fold(["m00002", "m00003"]), { text: "done" });
	const { made } = await scene.run("Read it twice");
	[before, after] = made.slice(2) as [RecordedRequest, RecordedRequest];
	expect(blocksIn(after)).toEqual(["b1"]);
	const lines = readFileSync(scene.sessionFile(), "utf8").split("\n");
	const at = lines.findIndex((line) => line.includes('"toolName":"compress"'));
	upToCall = `${lines.slice(0, at).join("\n")}\n`;
	result = lines[at] ?? "";
	expect(result.length).toBeGreaterThan(100);
});

afterAll(closeScenarios);

/** Pi goes on twice with a log as a crash left it: with a fold, and in one more process. */
async function resume(log: string): Promise<RecordedRequest[]> {
	writeFileSync(scene.sessionFile(), log);
	scene.replies(fold(["m00002", "m00003"]), { text: "folded" });
	const first = await scene.run("Go on", { args: ["-c"] });
	const second = await scene.run("And on", { args: ["-c"] });
	expect([first.stderr, second.stderr]).toEqual(["", ""]);
	const requests = [...first.made, ...second.made];
	for (const request of requests) expectWholePairs(request);
	return requests;
}

describe("a session that crashed in the middle of a compress call", () => {
	it.each([
		["before its result was written", () => ""],
		["while its result was written", () => result.slice(0, result.length / 2)],
		["when all but the end of a message was written", () => result.slice(0, -1)],
	])("%s, goes on as if there had been no call", async (_when, rest) => {
		const [first, folded, next] = await resume(upToCall + rest());
		expect(blocksIn(first)).toEqual([]);
		expect(stableLines(first).slice(0, stableLines(before).length)).toEqual(stableLines(before));
		expect(outline(first).at(-1)).toMatch(/^user m000\d\d$/);
		expect(blocksIn(folded)).toEqual(["b1"]);
		expect(blocksIn(next)).toEqual(["b1"]);
		expectGrowth([folded, next].flatMap((request) => request ?? []));
	});

	it("after its result was written, but not the end of the line, keeps the fold", async () => {
		writeFileSync(scene.sessionFile(), upToCall + result);
		const { made, stderr } = await scene.run("Go on", { args: ["-c"] });
		expect(stderr).toBe("");
		expectGrowth([after, ...made]);
		expect(blocksIn(made[0])).toEqual(["b1"]);
		const { made: more } = await scene.run("And on", { args: ["-c"] });
		expectGrowth([...made, ...more]);
	});
});
