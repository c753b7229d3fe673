import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { afterEach, describe, expect, it } from "vitest";
import extension from "../../src/index.ts";
import { call, closeScenarios, fold, openScenario, read, type Scenario, withoutNudges } from "../support/scenario.ts";
import { blocksIn, expectGrowth, expectWholePairs, outline, stableLines, toolNames } from "../support/wire.ts";

afterEach(closeScenarios);

async function filled(): Promise<Scenario> {
	const scene = await openScenario({ acp: withoutNudges });
	scene.file("long.txt", "a line of the file\n".repeat(500));
	return scene;
}

/** Another extension that takes away what our results carry for the log. */
const forgetful: ExtensionFactory = (pi) => {
	pi.on("tool_result", () => ({ details: { mine: true } }));
};

describe("calls whose details another extension replaced", () => {
	it("fold and unfold as they said, and the next process sees the same", async () => {
		const scene = await filled();
		const first = await scene.session({ extensions: [extension, forgetful], bind: true });
		scene.replies(
			read("long.txt"),
			read("long.txt"),
			fold(["m00002", "m00003"], ["m00004", "m00005"]),
			call("decompress", { id: "b2", to: "view" }),
			{ text: "done" },
		);
		await first.prompt("Read it twice");
		await first.dispose();
		const second = await scene.session({ extensions: [extension], bind: true });
		await second.prompt("Go on");
		await second.dispose();

		const { requests } = scene;
		expect(JSON.stringify(scene.entries())).not.toContain('"acp":1');
		expect(requests.map((request) => blocksIn(request).join())).toEqual(["", "", "", "b1,b2", "b1", "b1"]);
		expect(stableLines(requests[4]).slice(3, 5)).toEqual(stableLines(requests[2]).slice(4, 6));
		expectGrowth(requests.slice(4));
		for (const request of requests) expectWholePairs(request);
	});

	it("are not replayed if they were refused", async () => {
		const scene = await filled();
		const one = await scene.session({ extensions: [extension, forgetful], bind: true });
		scene.replies(read("long.txt"), fold(["m00002", "m00099"]), { text: "done" });
		await one.prompt("Read it");
		await one.dispose();
		expect(blocksIn(scene.requests[2])).toEqual([]);
		expectGrowth(scene.requests);
	});
});

describe("a message that another extension puts into the list", () => {
	it("passes through in its place, and folds go on around it", async () => {
		const scene = await filled();
		const remark = {
			role: "custom" as const,
			customType: "remark",
			content: "A remark.",
			display: false,
			timestamp: 1,
		};
		const meddling: ExtensionFactory = (pi) => {
			pi.on("context", ({ messages }) => ({ messages: [...messages.slice(0, 1), remark, ...messages.slice(1)] }));
		};
		const one = await scene.session({ extensions: [meddling, extension], bind: true });
		scene.replies(read("long.txt"), fold(["m00001", "m00003"]), { text: "done" });
		await one.prompt("Read it");
		await one.prompt("Go on");
		await one.dispose();
		const { requests } = scene;
		expect(outline(requests[1])).toEqual(["system", "user m00001", "user", "assistant", "tool m00003"]);
		expect(outline(requests[2])).toEqual(["system", "user m00001", "user", "b1", "assistant", "tool m00005"]);
		expect(stableLines(requests[2])[2]).toContain("A remark.");
		expectGrowth(requests.slice(2));
		for (const request of requests) expectWholePairs(request);
	});
});

describe("a session with folds", () => {
	it("shows them without tools, tags and section while we are switched off, and goes on where it was afterwards", async () => {
		const scene = await filled();
		const work = async (enabled: boolean, ...prompts: string[]) => {
			const acp = { ...withoutNudges, enabled };
			const one = await scene.session({ extensions: [extension], bind: true, acp });
			for (const prompt of prompts) await one.prompt(prompt);
			await one.dispose();
			expect(one.extensionErrors).toEqual([]);
		};
		scene.replies(read("long.txt"), fold(["m00002", "m00003"]), { text: "done" });
		await work(true, "Read it");
		await work(false, "Go on", "And on");
		await work(true, "And on again");

		const [before, off, stillOff, after] = scene.requests.slice(2);
		for (const request of [off, stillOff]) {
			expect(outline(request).slice(0, 5)).toEqual(["system", "user", "b1", "assistant", "tool"]);
			expect(outline(request).join()).not.toMatch(/m\d{5}/);
			expect(toolNames(request)).toEqual(["read", "bash", "edit", "write"]);
			expect(stableLines(request)[0]).not.toContain("context_folding");
		}
		expectGrowth(scene.requests.slice(3, 5));
		expect(stableLines(after).slice(0, 5)).toEqual(stableLines(before));
		expect(outline(after).slice(-2)).toEqual(["assistant", "user m00011"]);
	});

	it("keeps each branch its own: folds made after a point are not there when the user goes back to it", async () => {
		const scene = await filled();
		const one = await scene.session({ extensions: [extension], bind: true });
		scene.replies(read("long.txt"), { text: "read" }, fold(["m00002", "m00003"]), { text: "done" });
		await one.prompt("Read it");
		await one.prompt("Fold it");
		const fork = scene
			.entries()
			.find(
				(entry) =>
					entry.type === "message" &&
					entry.message.role === "user" &&
					JSON.stringify(entry.message).includes("Fold it"),
			);
		await one.session.navigateTree(fork?.id ?? "");
		await one.prompt("Do not fold it");
		await one.dispose();
		const [unfolded, folded, back] = [scene.requests[2], scene.requests[3], scene.requests[4]];
		expect(blocksIn(folded)).toEqual(["b1"]);
		expect(blocksIn(back)).toEqual([]);
		expect(stableLines(back).slice(0, -1)).toEqual(stableLines(unfolded).slice(0, -1));
		expect(outline(back).at(-1)).toBe("user m00005");
	});
});
