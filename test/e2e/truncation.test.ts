import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { afterEach, describe, expect, it, vi } from "vitest";
import extension from "../../src/index.ts";
import { call, closeScenarios, fold, openScenario, read, type Scenario } from "../support/scenario.ts";
import { blocksIn, expectGrowth, expectWholePairs, textOf } from "../support/wire.ts";

afterEach(closeScenarios);

/** Smaller than what Pi lets one call of `read` return. */
const models = [{ contextWindow: 16_000, maxTokens: 4_000 }];
const settings = { compaction: { keepRecentTokens: 1_000 } };
const huge = Array.from({ length: 1_500 }, (_, line) => `line ${line} of a huge file`).join("\n");

async function crowded(): Promise<Scenario> {
	const scene = await openScenario({ models, settings, acp: { strategy: "model" } });
	scene.file("huge.txt", huge);
	scene.file("small.txt", "small\n");
	return scene;
}

describe("a tool output too large for the window", () => {
	it("is cut once, says how to get all of it, and stays cut in the same way, also after a restart", async () => {
		const scene = await crowded();
		const open = () => scene.session({ extensions: [extension], bind: true, models });
		const first = await open();
		scene.replies(read("huge.txt"), read("small.txt"), { text: "read" });
		await first.prompt("Read it");
		await first.dispose();
		const second = await open();
		await second.prompt("Go on");
		await second.dispose();

		const { requests } = scene;
		expect(requests).toHaveLength(4);
		expectGrowth(requests);
		for (const request of requests) expectWholePairs(request);
		expect(requests.map((request) => request.body.max_completion_tokens)).toEqual([4_000, 4_000, 4_000, 4_000]);
		const text = textOf(requests[1]?.body.messages[3]);
		expect(text).toMatch(
			/^line 0 of[\s\S]{1900,2100}\n\[… \d+ characters left out; decompress\(\{ id: "m00003" \}\) shows all …\]\n[\s\S]{1900,2100} 1499 of a huge file\n<acp>m00003<\/acp>$/,
		);
		const operations = scene.entries().filter((entry) => entry.type === "custom");
		expect(operations).toMatchObject([{ data: { op: { kind: "truncate", reductions: [{ ordinal: 3 }] } } }]);
		expect([first.extensionErrors, second.extensionErrors]).toEqual([[], []]);
	});

	it("is whole in the log and opened in pages, and can be folded", async () => {
		const scene = await crowded();
		const one = await scene.session({ extensions: [extension], bind: true, models });
		scene.replies(read("huge.txt"), call("decompress", { id: "m00003", page: 2 }), fold(["m00002", "m00003"]), {
			text: "folded",
		});
		await one.prompt("Read it");
		await one.dispose();
		const { requests } = scene;
		const [heading, ...page] = textOf(requests[2]?.body.messages.at(-1))
			.replace(/\n<acp>.*$/, "")
			.split("\n");
		expect(heading).toContain("page 2 of");
		expect(huge).toContain(page.join("\n"));
		expect(blocksIn(requests[3])).toEqual(["b1"]);
		expect(JSON.stringify(scene.entries())).toContain(JSON.stringify(huge).slice(1, -1));
	});

	it("is cut once where a copy of us stands down beside us", async () => {
		const scene = await crowded();
		vi.resetModules();
		const { default: copyOfUs } = await import("../../src/index.ts");
		const work = async (prompt: string, ...extensions: ExtensionFactory[]) => {
			const one = await scene.session({ extensions, bind: true, models });
			await one.prompt(prompt);
			await one.dispose();
		};
		scene.replies(read("huge.txt"), { text: "read" });
		await work("Read it", extension, copyOfUs);
		await work("Go on", extension);
		expect(textOf(scene.requests[1]?.body.messages[3])).toContain("characters left out");
		expectGrowth(scene.requests);
	});
});
