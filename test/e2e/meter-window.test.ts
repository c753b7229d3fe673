import { afterEach, describe, expect, it } from "vitest";
import {
	answerRoom,
	counting,
	countRequest,
	figuresIn,
	readFigures,
	readingModel,
	readTokens,
	resultText,
} from "../support/counting.ts";
import { modelId, PROVIDER_NAME } from "../support/home.ts";
import type { Reply } from "../support/provider.ts";
import type { Rpc } from "../support/run-pi.ts";
import { call, closeScenarios, openScenario, read, type Scenario } from "../support/scenario.ts";

afterEach(closeScenarios);

/** Lines of prose, all different, of about ten tokens each. */
function proseOf(lines: number, name: string): string {
	return Array.from({ length: lines }, (_, line) => `${name}: sentence ${line} tells what was found there.`).join("\n");
}

function writeFiles(scene: Scenario, files: readonly string[], lines: number): void {
	for (const name of files) scene.file(name, proseOf(lines, name));
}

/** Answers with one reply after the other. */
function scripted(replies: Reply[]): () => Reply {
	return () => replies.shift() ?? { text: "done" };
}

/** A file that says it is a PNG of this size, filled up to a length with noise. */
function png(widthPixels: number, heightPixels: number, lengthBytes: number): Buffer {
	const header = Buffer.alloc(33);
	header.write("89504e470d0a1a0a0000000d49484452", 0, "hex");
	header.writeUInt32BE(widthPixels, 16);
	header.writeUInt32BE(heightPixels, 20);
	header.write("0806000000", 24, "hex");
	const body = Buffer.alloc(lengthBytes - header.length);
	body.writeUInt32BE(body.length - 12, 0);
	body.write("IDAT", 4, "latin1");
	for (let at = 8; at < body.length; at++) body[at] = (at * 2_654_435_761) >>> 24;
	return Buffer.concat([header, body]);
}

const notices = (rpc: Rpc): string[] =>
	rpc.uiRequests.filter((request) => request.method === "notify").map((request) => String(request.message));

describe("a model switched in mid-session to one with a quarter of the window", () => {
	const models = [
		{ contextWindow: 64_000, maxTokens: 4_096 },
		{ contextWindow: 16_000, maxTokens: 2_048 },
	];
	const files = ["a.md", "b.md", "c.md", "d.md", "e.md", "f.md"];

	it("says at once that the view does not fit, and the next request fits", async () => {
		const reading = readingModel({ files, folds: false, statusEvery: 10 });
		const providers = new Map(
			models.map(({ contextWindow }, index) => [
				modelId(models, index),
				counting(reading, { windowTokens: contextWindow }),
			]),
		);
		const scene = await openScenario({ models }, (request) => providers.get(request.body.model)?.(request) ?? {});
		const refused = () =>
			scene.requests.filter((request) => {
				const index = models.findIndex((_, each) => modelId(models, each) === request.body.model);
				return countRequest(request.body) + answerRoom(request) > (models[index]?.contextWindow ?? 0);
			});
		writeFiles(scene, files, 550);
		const rpc = scene.rpc();
		const choose = (index: number) =>
			rpc.command({ type: "set_model", provider: PROVIDER_NAME, modelId: modelId(models, index) });
		for (const index of [1, 0]) await choose(index);
		expect(notices(rpc)).toEqual([]);
		await rpc.prompt("Read all files");
		const held = countRequest(scene.requests.at(-1)?.body ?? { model: "", messages: [] });
		expect(held).toBeGreaterThan(30_000);

		expect(await choose(1)).toMatchObject({ success: true });
		expect(notices(rpc)).toEqual([expect.stringContaining(modelId(models, 1))]);
		const figures = readFigures(notices(rpc)[0] ?? "");
		expect(Math.abs((figures?.sizeTokens ?? 0) - held)).toBeLessThan(held * 0.02);
		expect(figures?.wholeTokens).toBeLessThan(16_000);

		await rpc.prompt("Go on");
		expect(scene.requests.at(-1)?.body.model).toBe(modelId(models, 1));
		expect(refused()).toEqual([]);
		await rpc.prompt("And on");
		expect(refused()).toEqual([]);
		expect(notices(rpc)).toHaveLength(1);
		expect((await rpc.close()).code).toBe(0);
	});
});

describe("an image of 3 MB in a prompt and in a result", () => {
	it.each([
		{ input: ["text", "image"] as ("text" | "image")[], least: 1_500, most: 1_700 },
		{ input: ["text"] as "text"[], least: 0, most: 100 },
	])("weighs by the image, not by its length: a model that takes $input", async ({ input, least, most }) => {
		const models = [{ contextWindow: 60_000, maxTokens: 4_096, input }];
		const scene = await openScenario(
			{ models, settings: { images: { autoResize: false } } },
			counting(scripted([read("picture.png"), call("acp_status", { view: "messages" }), call("acp_status", {})]), {
				reports: (index) => (index === 0 ? "count" : "nothing"),
			}),
		);
		scene.file("picture.png", png(2_000, 1_500, 3_000_000));
		await scene.run("What is in it?", { args: ["@picture.png"] });

		const { requests } = scene;
		const images = (requests[2]?.raw.match(/data:image\/png;base64/g) ?? []).length;
		expect(images).toBe(input.includes("image") ? 2 : 0);
		const sizes = [
			...resultText(requests[2]?.body.messages.findLast(({ role }) => role === "tool")).matchAll(/^\S+ ([\d.]+K?) /gm),
		];
		const [prompt = Number.NaN, step = Number.NaN] = sizes.map(([, size = ""]) => readTokens(size));
		for (const sizeTokens of [prompt, step]) {
			expect(sizeTokens).toBeGreaterThanOrEqual(least);
			expect(sizeTokens).toBeLessThanOrEqual(most);
		}
		const off = figuresIn(requests).map((each) => Math.abs(each.sizeTokens - each.countedTokens) - each.errorTokens);
		expect(off).toHaveLength(1);
		expect(off[0]).toBeLessThanOrEqual(0);
	});
});

describe("a provider that refuses beyond 60K what the model declares as 200K", () => {
	it.each([
		{ words: "Anthropic", learnedOf: () => 60_000 },
		{ words: "OpenAI Responses", learnedOf: (refusedTokens: number) => refusedTokens * 0.95 },
	] as const)(
		"is asked for less from then on, and one notice says so: the words of $words",
		async ({ words, learnedOf }) => {
			const files = Array.from({ length: 24 }, (_, index) => `part-${index}.md`);
			const models = [{ contextWindow: 200_000, maxTokens: 8_192 }];
			const reading = readingModel({ files, folds: false, statusEvery: 6 });
			const scene = await openScenario({ models }, counting(reading, { windowTokens: 60_000, words }));
			writeFiles(scene, files, 400);
			const { stdout, stderr } = await scene.run("Read all files");
			expect(stdout.trim()).toBe("All files are read.");
			const sizes = scene.requests.map((request) => countRequest(request.body));
			const refused = sizes.filter((size) => size > 60_000);
			expect(refused).toHaveLength(1);
			expect(sizes.findIndex((size) => size > 60_000)).toBeLessThan(sizes.length - 6);
			const named = [...stderr.matchAll(/window is taken as ([\d,]+) tokens/g)];
			expect(named).toHaveLength(1);
			const learnedTokens = Number(named[0]?.[1]?.replaceAll(",", ""));
			expect(Math.abs(learnedTokens / learnedOf(refused[0] ?? 0) - 1)).toBeLessThan(0.02);
			expect(figuresIn(scene.requests).at(-1)?.wholeTokens).toBeLessThan(60_000);

			const again = await scene.run("Go on", { args: ["-c"] });
			expect(again.made.map((request) => countRequest(request.body)).filter((size) => size > 60_000)).toEqual([]);
		},
	);
});
