import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it, vi } from "vitest";
import extension from "../../src/index.ts";
import { inProcess } from "../support/in-process.ts";
import type { RecordedRequest, Reply } from "../support/provider.ts";
import { call, closeScenarios, fold, openScenario, read, withoutNudges } from "../support/scenario.ts";
import { blocksIn, expectWholePairs, lastResult, outline, systemText, toolNames } from "../support/wire.ts";

afterEach(closeScenarios);

const ownTools = ["compress", "decompress", "search_context", "acp_status"];
const long = "a line of the file\n".repeat(500);

/** Reads a file, folds what it read, ends. */
const working: Reply[] = [read("long.txt"), fold(["m00002", "m00003"]), { text: "done" }];

function expectFolded(requests: readonly RecordedRequest[]): void {
	expect(requests).toHaveLength(3);
	for (const request of requests) {
		expect(toolNames(request)).toEqual(expect.arrayContaining(ownTools));
		expect(systemText(request)).toContain("<context_folding>");
		expectWholePairs(request);
	}
	expect(outline(requests[1])).toEqual(["system", "user m00001", "assistant", "tool m00003"]);
	expect(outline(requests[2])).toEqual(["system", "user m00001", "b1", "assistant", "tool m00005"]);
}

describe("the command line", () => {
	it("folds with --mode json, writes nothing but Pi's events, and says on stderr what is wrong with acp.json", async () => {
		const scene = await openScenario({ acp: { ...withoutNudges, colour: 1 } });
		scene.file("long.txt", long);
		scene.replies(...working);
		const { made, stdout, stderr } = await scene.run("Read the file", { mode: "json" });
		expectFolded(made);
		const events: { type: string }[] = stdout
			.trim()
			.split("\n")
			.map((line) => JSON.parse(line));
		expect(events[0]?.type).toBe("session");
		expect(events.map((event) => event.type)).toContain("agent_settled");
		expect(stderr).toMatch(/^[^\n]*acp\.json[^\n]*colour[^\n]*\n$/);
	});

	it("folds in rpc mode, answers /acp, and says once what is wrong with acp.json", async () => {
		const scene = await openScenario({
			acp: '{ "compress": { "keepTokens": "a lot", "stepTokens": 10000000 }, "colour": 1 }',
		});
		scene.file("long.txt", long);
		scene.replies(...working);
		const rpc = scene.rpc();
		await rpc.prompt("/acp");
		await rpc.prompt("Read the file");
		expectFolded(scene.requests);
		await rpc.prompt("And now?");
		expect(blocksIn(scene.requests[3])).toEqual(["b1"]);
		const notices = () => rpc.uiRequests.filter((request) => request.method === "notify");
		expect(notices().map((notice) => notice.notifyType)).toEqual(["warning", "info"]);
		const [{ message } = { message: "" }] = notices();
		expect(message).toContain("acp.json");
		expect(message).toContain("compress.keepTokens");
		expect(message).toContain("colour");

		for (const asked of ["/acp", "/acp blocks", "/acp nonsense"]) await rpc.prompt(asked);
		expect(scene.requests).toHaveLength(4);
		const answers = notices().slice(2);
		expect(answers.map((notice) => notice.notifyType)).toEqual(["info", "info", "info"]);
		expect(answers[0]?.message).toMatch(/of 191\.8K tokens/);
		expect(answers[1]?.message).toMatch(/^b1 tier 1, m00002-m00003/m);
		expect(answers[2]?.message).toContain("/acp ranges");
		expect((await rpc.close()).code).toBe(0);
	});
});

describe("a session in process", () => {
	it.each([true, false])(
		"has the tools in its first request and folds, whether its host binds extensions or not (%s)",
		async (bind) => {
			const scene = await openScenario({ acp: withoutNudges });
			scene.file("long.txt", long);
			scene.replies(...working);
			const one = await scene.session({ extensions: [extension], bind });
			await one.prompt("Read the file");
			await one.dispose();
			expectFolded(scene.requests);
			expect(one.extensionErrors).toEqual([]);
			// Nothing tells an unbound extension that the session ends, so the last write may still be under way.
			await vi.waitFor(() => expect(existsSync(`${scene.sessionFile()}.acp.json`)).toBe(true), 20_000);
		},
	);

	it("folds without a session file, and leaves none", async () => {
		const scene = await openScenario({ acp: withoutNudges });
		scene.file("long.txt", long);
		scene.replies(...working);
		const { home, provider } = scene;
		const one = await inProcess({ extensions: [extension], home, provider, acp: withoutNudges });
		await one.prompt("Read the file");
		await one.dispose();
		expectFolded(scene.requests);
		const files = readdirSync(home.path, { recursive: true, encoding: "utf8" });
		expect([...files, ...readdirSync(home.cwd)].filter((name) => name.includes("jsonl"))).toEqual([]);
	});

	it("is kept apart from another one in the same process", async () => {
		const scene = await openScenario({ acp: withoutNudges });
		scene.file("long.txt", long);
		const open = (name: string) =>
			scene.session({ extensions: [extension], bind: true, sessionFile: join(scene.home.cwd, `${name}.jsonl`) });
		const [left, right] = [await open("left"), await open("right")];
		scene.replies(...working);
		await left.prompt("Read the file");
		scene.replies(read("long.txt"), call("decompress", { id: "b1" }), { text: "nothing there" });
		await right.prompt("Read the file too");
		expect(scene.requests.slice(3).flatMap(blocksIn)).toEqual([]);
		expect(lastResult(scene.requests[5])).toContain("There is no block b1 here; there are no blocks.");
		await left.prompt("And now?");
		expect(blocksIn(scene.requests[6])).toEqual(["b1"]);
		for (const one of [left, right]) await one.dispose();
	});
});
