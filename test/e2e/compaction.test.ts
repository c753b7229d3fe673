import { afterEach, describe, expect, it } from "vitest";
import extension from "../../src/index.ts";
import { call, closeScenarios, fold, openScenario, read, type Scenario, withoutNudges } from "../support/scenario.ts";
import { blocksIn, expectGrowth, expectWholePairs, lastResult, outline, textOf } from "../support/wire.ts";

afterEach(closeScenarios);

const long = "a line of the file\n".repeat(500);
const settings = { compaction: { keepRecentTokens: 3_000 } };

async function filled(): Promise<Scenario> {
	const scene = await openScenario({ settings, acp: withoutNudges });
	scene.file("long.txt", long);
	return scene;
}

describe("a compaction by Pi that is not ours to cancel", () => {
	it.each([
		["the user's", "m00011", "m00012"],
		["one after an overflow", "m00013", "m00011"],
	])("leaves a view that grows on, and every block can still be opened: %s", async (whose, summaryRef, promptRef) => {
		const scene = await filled();
		const one = await scene.session({ extensions: [extension], bind: true });
		scene.replies(read("long.txt"), read("long.txt"), fold(["m00002", "m00003"]), read("long.txt"), { text: "read" });
		await one.prompt("Read it");
		const summary = { text: "Pi's summary." };
		if (whose === "the user's") {
			scene.replies(summary);
			await one.session.compact();
		} else {
			scene.replies({ error: "This model's maximum context length is 8192 tokens" }, summary);
		}
		await one.prompt("Go on");
		await one.prompt("And on");
		await one.dispose();
		const again = await scene.session({ extensions: [extension], bind: true });
		scene.replies(call("decompress", { id: "b1" }), { text: "opened" });
		await again.prompt("Open it");
		await again.dispose();

		const from = scene.requests.findIndex((request) => textOf(request.body.messages[1]).includes("<summary>"));
		const after = scene.requests.slice(from);
		const kept = ["assistant", "tool m00007", "assistant", "tool m00009", "assistant"];
		expect(outline(after[0])).toEqual(["system", `user ${summaryRef}`, ...kept, `user ${promptRef}`]);
		expect(textOf(after[0]?.body.messages[1])).toContain("Pi's summary.");
		expect(after).toHaveLength(4);
		expectGrowth(after);
		for (const request of after) expectWholePairs(request);
		expect(after.flatMap(blocksIn)).toEqual([]);
		expect(lastResult(after[3])).toContain(`[m00003 read]\n${long}`);
	});
});
