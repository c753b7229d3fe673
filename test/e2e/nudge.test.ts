import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import extension from "../../src/index.ts";
import type { InProcess } from "../support/in-process.ts";
import { closeScenarios, fold, openScenario, read, type Scenario } from "../support/scenario.ts";
import { expectGrowth, expectWholePairs, hasNudge, textOf } from "../support/wire.ts";

afterEach(closeScenarios);

/** A file takes about 2.8K tokens: the second read passes `keepTokens` and a step, the fourth a step more. */
const acp = { compress: { keepTokens: 500, stepTokens: 4_500 } };
const open = (scene: Scenario): Promise<InProcess> => scene.session({ extensions: [extension], bind: true });

async function filled(): Promise<Scenario> {
	const scene = await openScenario({ acp });
	scene.file("long.txt", "a line of the file\n".repeat(500));
	return scene;
}

describe("a nudge", () => {
	it("stands at the very end when it is due, once a step, and a restart does not repeat it", async () => {
		const scene = await filled();
		const first = await open(scene);
		scene.replies(read("long.txt"), read("long.txt"), read("long.txt"), { text: "read" });
		await first.prompt("Read it");
		await first.dispose();
		const second = await open(scene);
		await second.prompt("Go on");
		scene.replies(read("long.txt"), { text: "read" });
		await second.prompt("Read it again");
		await second.dispose();

		const { requests } = scene;
		expect(requests.map(hasNudge)).toEqual([false, false, true, false, false, false, true]);
		expectGrowth(requests);
		for (const request of requests) expectWholePairs(request);
		const text = textOf(requests[2]?.body.messages.at(-1));
		expect(text).toMatch(/- startId m00002, endId m00005 \(4 messages, [\d.]+K tokens: read, long\.txt\)/);
		expect(text).not.toContain("<acp>");
	});

	it("lists ranges that compress takes as they are", async () => {
		const scene = await filled();
		const one = await open(scene);
		scene.replies(read("long.txt"), read("long.txt"), fold(["m00002", "m00005"]), { text: "folded" });
		await one.prompt("Read it");
		await one.dispose();
		expect(hasNudge(scene.requests[2])).toBe(true);
		expect(hasNudge(scene.requests[3])).toBe(false);
		expect(textOf(scene.requests[3]?.body.messages.at(-1))).toContain("b1 = m00002-m00005 (4 messages");
	});

	it("that is obeyed at once comes again a step after the fold, not a step after the nudge", async () => {
		const scene = await filled();
		const one = await open(scene);
		scene.replies(read("long.txt"), read("long.txt"), fold(["m00002", "m00005"]));
		scene.replies(read("long.txt"), read("long.txt"), { text: "read" });
		await one.prompt("Read it");
		await one.dispose();
		expect(scene.requests.map(hasNudge)).toEqual([false, false, true, false, false, true]);
	});

	it("leaves a record in the log that no model sees, and no message", async () => {
		const scene = await filled();
		const one = await open(scene);
		scene.replies(read("long.txt"), read("long.txt"), { text: "read" });
		await one.prompt("Read it");
		await one.dispose();
		expect(readFileSync(scene.sessionFile(), "utf8")).not.toContain("The context holds");
		const custom = scene.entries().filter((entry) => entry.type === "custom");
		expect(custom).toMatchObject([{ customType: "acp-operation", data: { acp: 1, op: { kind: "nudge" } } }]);
	});

	it("comes again if the request that held it failed", async () => {
		const scene = await filled();
		const one = await open(scene);
		scene.replies(read("long.txt"), read("long.txt"), { error: "scripted failure" });
		await one.prompt("Read it");
		await one.prompt("Go on");
		await one.prompt("And on");
		await one.dispose();
		expect(scene.requests.map(hasNudge)).toEqual([false, false, true, true, false]);
		expectGrowth(scene.requests);
	});
});
