import { afterEach, describe, expect, it } from "vitest";
import extension from "../../src/index.ts";
import { call, closeScenarios, fold, openScenario, read, withoutNudges } from "../support/scenario.ts";
import { blocksIn, expectGrowth, expectWholePairs, outline, stableLines } from "../support/wire.ts";

afterEach(closeScenarios);

const pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const long = "a line of the file\n".repeat(500);

describe("a session with images", () => {
	it("keeps those in view, folds them away, and gets them back as images", async () => {
		const models = [{ input: ["text" as const, "image" as const] }];
		const scene = await openScenario({ models, acp: withoutNudges });
		scene.file("pixel.png", Buffer.from(pixel, "base64"));
		scene.file("long.txt", long);
		scene.replies(
			read("pixel.png"),
			read("long.txt"),
			fold(["m00004", "m00005"]),
			fold(["m00002", "m00003"]),
			call("decompress", { id: "b2" }),
			{ text: "seen" },
		);
		const one = await scene.session({ extensions: [extension], bind: true, models });
		await one.session.prompt("Look", { images: [{ type: "image", data: pixel, mimeType: "image/png" }] });
		await one.session.waitForIdle();
		await one.dispose();

		const { requests } = scene;
		const images = requests.map((request) => stableLines(request).filter((line) => line.includes('"image_url"')));
		expect(images.map((lines) => lines.length)).toEqual([1, 2, 2, 2, 1, 2]);
		expect(images[2]).toEqual(images[1]);
		expect(images[3]).toEqual(images[1]);
		expect(images[5]?.[0]).toBe(images[0]?.[0]);
		const url = /data:image[^"]+/;
		expect(url.exec(images[5]?.[1] ?? "")?.[0]).toBe(url.exec(images[1]?.[1] ?? "")?.[0]);
		// The first call that folded is spent and hidden; the pictures of a result follow it as a user message.
		const folded = ["system", "user m00001", "b2", "b1", "assistant", "tool m00009"];
		expect(outline(requests[4])).toEqual(folded);
		expect(outline(requests[5])).toEqual([...folded, "assistant", "tool m00011", "user"]);
		for (const request of requests) expectWholePairs(request);
	});
});

describe("a session with shell commands of the user", () => {
	it("counts each, shows those that are not excluded, and keeps what was sent", async () => {
		const scene = await openScenario({ acp: withoutNudges });
		const one = await scene.session({ extensions: [extension], bind: true });
		await one.prompt("Hello");
		await one.session.executeBash("echo shown");
		await one.session.executeBash("echo hidden", undefined, { excludeFromContext: true });
		await one.prompt("Go on");
		await one.dispose();
		expect(outline(scene.requests[1])).toEqual(["system", "user m00001", "assistant", "user m00003", "user m00005"]);
		expect(stableLines(scene.requests[1]).join()).not.toContain("hidden");
		expectGrowth(scene.requests);
	});
});

describe("a session on the Anthropic messages API", () => {
	it("keeps thinking and its signatures, grows between folds, and folds in place", async () => {
		const models = [{ api: "anthropic-messages" as const, reasoning: true }];
		const scene = await openScenario({ models, acp: withoutNudges });
		scene.file("long.txt", long);
		const open = () => scene.session({ extensions: [extension], bind: true, models });
		scene.replies(
			{ ...read("long.txt"), reasoning: "I read it." },
			{ ...read("long.txt"), reasoning: "I read it again." },
			{ ...fold(["m00002", "m00003"]), reasoning: "I fold it." },
			{ text: "done" },
		);
		const first = await open();
		await first.prompt("Read it");
		await first.dispose();
		const second = await open();
		await second.prompt("Go on");
		await second.dispose();
		const { requests } = scene;
		expect(requests).toHaveLength(5);
		expectGrowth(requests.slice(0, 3));
		expectGrowth(requests.slice(3));
		const [before, after] = [stableLines(requests[2]), stableLines(requests[3])];
		expect(before[1]).toContain('"signature":"signature-0"');
		expect(blocksIn(requests[3])).toEqual(["b1"]);
		expect(after.slice(2, 4)).toEqual(before.slice(3, 5));
		expect(after.join()).not.toContain("signature-0");
		expect(after.join()).toContain('"signature":"signature-2"');
	});
});
