import { afterAll, describe, expect, it } from "vitest";
import { BUNDLE_PATH } from "../support/run-pi.ts";
import { closeScenarios, fold, openScenario, read, withoutNudges } from "../support/scenario.ts";
import { expectGrowth, expectWholePairs, lastResult, outline, stableLines, textOf } from "../support/wire.ts";

/** Another extension whose section of the system prompt differs from run to run. */
const mood = `export default function (pi) {
	pi.on("before_agent_start", (event) => {
		event.systemPromptOptions.sections.mood = process.env.MOOD;
	});
}
`;

const model = { compat: { supportsMidConvoSystemMessages: true } };

afterAll(closeScenarios);

describe("a model that takes system messages in mid-conversation", () => {
	it("keeps its cached prefix when a section changes on resume, and every system message its place when folded over", async () => {
		const acp = { ...withoutNudges, preserveRecentMessages: 0, preserveRecentTokens: 0 };
		const scene = await openScenario({ models: [model], acp });
		const extensions = [BUNDLE_PATH, scene.extension("mood.js", mood)];
		for (const name of ["a", "b"]) scene.file(`${name}.txt`, `a line of ${name}\n`.repeat(500));
		const work = (prompt: string, MOOD: string, args: string[]) =>
			scene.run(prompt, { extensions, env: { MOOD }, args });

		scene.replies(read("a.txt"), { text: "read" });
		await work("Read a", "calm", []);
		scene.replies(read("b.txt"), { text: "read" });
		await work("Read b", "lively", ["-c"]);
		scene.replies(fold(["m00002", "m00008"]), { text: "folded" });
		await work("Fold all of it", "tired", ["-c"]);

		const { requests } = scene;
		expectGrowth(requests.slice(0, 5));
		const [resumed, beforeFold, afterFold] = [requests[2], requests[4], requests[5]];
		expect(outline(resumed).slice(outline(requests[1]).length)).toEqual(["assistant", "system", "user m00005"]);
		expect(outline(beforeFold).slice(-3)).toEqual(["assistant", "system", "user m00009"]);
		const changes = beforeFold?.body.messages.filter((message) => message.role === "system").slice(1) ?? [];
		expect(changes.map((message) => /calm|lively|tired/.exec(textOf(message))?.[0])).toEqual(["lively", "tired"]);

		expect(lastResult(afterFold)).toMatch(/^Folded:\nb1 = m00002-m00008 \(7 messages/);
		const folded = ["system", "user m00001", "b1", "system", "system", "user m00009", "assistant", "tool m00011"];
		expect(outline(afterFold)).toEqual(folded);
		expect(stableLines(afterFold).slice(0, 2)).toEqual(stableLines(beforeFold).slice(0, 2));
		expect(stableLines(afterFold).slice(3, 5)).toEqual(changes.map((message) => JSON.stringify(message)));
		for (const request of scene.requests) expectWholePairs(request);
	});
});
