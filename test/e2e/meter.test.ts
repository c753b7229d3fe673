import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import {
	answerRoom,
	type Counting,
	counting,
	countRequest,
	figuresIn,
	foldAll,
	nudgeOf,
	offeredIn,
	type Reading,
	readFigures,
	readingModel,
	resultText,
	withoutNudge,
} from "../support/counting.ts";
import type { ModelOptions } from "../support/home.ts";
import type { RecordedRequest } from "../support/provider.ts";
import { call, closeScenarios, openScenario, type Scenario } from "../support/scenario.ts";
import { chinese, japanese, korean } from "../support/texts.ts";
import { blocksIn, textsOf } from "../support/wire.ts";

afterEach(closeScenarios);

const prose = readFileSync(
	new URL("../../node_modules/@earendil-works/pi-coding-agent/docs/extensions.md", import.meta.url),
	"utf8",
);

interface Case extends Counting, Partial<Omit<Reading, "files">> {
	model: ModelOptions;
	/** The files of the project, by name. */
	texts: Record<string, string>;
}

/** Pi's own threshold stands so near the window that only the meter decides when something has to go. */
const settings = { compaction: { reserveTokens: 1_000 } };

/** Runs Pi on a project of files, with a model that reads all of them in one turn. */
async function readAll({ model, texts, ...how }: Case): Promise<Scenario & { stderr: string }> {
	const reading = readingModel({ folds: true, statusEvery: 3, ...how, files: Object.keys(texts) });
	const scene = await openScenario({ models: [model], settings }, counting(reading, how));
	for (const [name, text] of Object.entries(texts)) scene.file(name, text);
	const { stdout, stderr } = await scene.run("Read all files");
	expect(stdout.trim()).toBe("All files are read.");
	return { ...scene, stderr };
}

/** Cuts a text into files of so many characters, and begins anew where it ends. */
function cutUp(text: string, files: number, chars: number, name = "part"): Record<string, string> {
	const whole = text.repeat(Math.ceil((files * chars) / text.length));
	const part = (index: number) => whole.slice(index * chars, (index + 1) * chars);
	return Object.fromEntries(Array.from({ length: files }, (_, index) => [`${name}-${index}.md`, part(index)]));
}

/** What requests count by a provider, the room for the answer included. */
function sizesOf(requests: readonly RecordedRequest[], factor = 1): readonly number[] {
	return requests.map((request) => factor * countRequest(request.body) + answerRoom(request));
}

/** Fails where a status or a nudge is off by more than it says, or says more than the whole. */
function expectHonest(requests: readonly RecordedRequest[], factor = 1): void {
	const figures = [...figuresIn(requests), ...nudgesIn(requests)];
	const off = figures.filter((each) => Math.abs(each.sizeTokens - factor * each.countedTokens) > each.errorTokens);
	expect(off).toEqual([]);
	expect(figures.filter((each) => each.sizeTokens > each.wholeTokens)).toEqual([]);
	expect(figuresIn(requests).length).toBeGreaterThan(2);
	expect(nudgesIn(requests).length).toBeGreaterThan(0);
	const said = requests.flatMap(({ body }) =>
		body.messages.slice(1).flatMap((each) => [...textsOf(each), resultText(each)]),
	);
	const ours = said.filter((text) => /^(?:\[acp\]|The view holds|Folded:)/.test(text)).join("\n");
	expect([...ours.matchAll(/([\d.]+) ?%/g)].filter(([, share]) => Number(share) > 100)).toEqual([]);
}

/** What nudges say of the view they stand under. */
function nudgesIn(requests: readonly RecordedRequest[]) {
	return requests.flatMap((request) => {
		const figures = readFigures(nudgeOf(request) ?? "");
		return figures === undefined ? [] : { ...figures, countedTokens: countRequest(withoutNudge(request)) };
	});
}

describe("a provider that never reports usage", () => {
	const model = { contextWindow: 40_000, maxTokens: 4_096 };
	const how = { model, texts: cutUp(prose, 14, 11_000), reports: () => "nothing" as const };

	it("gets requests that fit while the model folds, and every figure has an error that it keeps to", async () => {
		const { requests } = await readAll(how);
		expect(Math.max(...sizesOf(requests))).toBeLessThanOrEqual(40_000);
		expectHonest(requests);
		expect(figuresIn(requests).every((each) => each.isErrorStated)).toBe(true);
		expect(nudgesIn(requests).length).toBeGreaterThan(1);
		expect(blocksIn(requests.at(-1)).length).toBeGreaterThan(1);
	});

	it("gets requests that fit where the model folds nothing and reads twice what fits", async () => {
		const { requests } = await readAll({ ...how, texts: cutUp(prose, 28, 11_000), folds: false });
		expect(Math.max(...sizesOf(requests))).toBeLessThanOrEqual(40_000);
		expectHonest(requests);
	});
});

describe("a provider that reports every third answer", () => {
	it.each(["zero", "nothing"] as const)(
		"is matched by every figure within its error, also between reports and after a restart: else %s",
		async (rest) => {
			const model = { contextWindow: 60_000, maxTokens: 4_096 };
			const reports = (index: number) => (index % 3 === 2 ? ("count" as const) : rest);
			const scene = await readAll({ model, texts: cutUp(prose, 14, 11_000), reports, statusEvery: 2 });
			expect(Math.max(...sizesOf(scene.requests))).toBeLessThanOrEqual(60_000);
			expectHonest(scene.requests);

			scene.replies({ ...call("acp_status", {}), usage: null }, { text: "done", usage: null });
			await scene.run("How full is it?", { args: ["-c"] });
			const [before, after] = figuresIn(scene.requests).slice(-2);
			expectHonest(scene.requests);
			expect(after?.errorTokens).toBeLessThan((before?.errorTokens ?? 0) * 1.5);
		},
	);
});

describe("a provider that counts twice what the estimate says", () => {
	const windowTokens = 60_000;
	const texts = cutUp(prose, 14, 9_000);
	const apis = [
		["openai-completions", "OpenAI"],
		["anthropic-messages", "Anthropic"],
	] as const;

	it.each(apis)(
		"is followed from its first report on: figures, nudges and cuts are in its tokens (%s)",
		async (api, words) => {
			const model = { contextWindow: windowTokens, maxTokens: 4_096, api };
			const { requests } = await readAll({ model, texts, factor: 2, windowTokens, words, folds: false });
			const sizes = requests.map((request) => 2 * countRequest(request.body));
			expect(Math.max(...sizes)).toBeLessThanOrEqual(windowTokens);
			if (words === "OpenAI") expect(Math.max(...sizesOf(requests, 2))).toBeLessThanOrEqual(windowTokens);
			expectHonest(requests, 2);

			// A nudge is due where the unfolded part passes keepTokens and a step, in the share that the window has of 128K.
			const dueTokens = ((15_000 + 30_000) * windowTokens) / 128_000;
			const [first = 0] = sizes;
			const nudged = requests.findIndex((request) => nudgeOf(request) !== undefined);
			expect((sizes[nudged] ?? 0) - first).toBeGreaterThan(dueTokens * 0.95);
			expect((sizes[nudged - 1] ?? 0) - first).toBeLessThan(dueTokens * 1.05);
			// What has to go goes near the window, not at half of it.
			expect(Math.max(...sizes)).toBeGreaterThan(windowTokens * 0.8);
		},
	);

	it.each(apis)("is followed after a single refusal where it reports nothing before (%s)", async (api, words) => {
		const model = { contextWindow: windowTokens, maxTokens: 4_096, api };
		const reports = (_: number, refusals: number) => (refusals > 0 ? ("count" as const) : "nothing");
		const { requests } = await readAll({ model, texts, factor: 2, windowTokens, words, folds: false, reports });
		const tooLarge = requests.filter((request) => {
			const answerTokens = words === "OpenAI" ? answerRoom(request) : 0;
			return 2 * countRequest(request.body) + answerTokens > windowTokens;
		});
		expect(tooLarge).toHaveLength(1);
	});
});

describe("a session in Chinese, Japanese and Korean", () => {
	it("nearly fills the window without an overflow, with figures that hold, and folds what nudges offered", async () => {
		const windowTokens = 60_000;
		// Beyond this a nudge may be what makes a request too large.
		const untilTokens = windowTokens * 0.88;
		const model = { contextWindow: windowTokens, maxTokens: 1_024 };
		const text = chinese + japanese + korean;
		const texts = { ...cutUp(text, 20, 3_000, "large"), ...cutUp(text, 20, 900, "small") };
		const scene = await readAll({ model, texts, windowTokens, folds: false, untilTokens });
		const { requests } = scene;
		const read = [...requests];
		expectHonest(read);
		expect(Math.max(...figuresIn(read).map((each) => each.countedTokens))).toBeGreaterThanOrEqual(untilTokens);
		expect(Math.max(...sizesOf(read))).toBeLessThanOrEqual(windowTokens);
		expect(read.map(answerRoom).filter((tokens) => tokens < model.maxTokens)).toEqual([]);

		const nudges = read.flatMap((request) => nudgeOf(request) ?? []);
		for (const nudge of nudges) expect(offeredIn(nudge)).not.toEqual([]);
		const latest = nudges.at(-1) ?? "";
		scene.replies({ ...foldAll(latest), usage: null }, { text: "Folded.", usage: null });
		const { made } = await scene.run("Fold it", { args: ["-c"] });
		expect(blocksIn(made[1])).toHaveLength(offeredIn(latest).length);
		expect(Math.max(...sizesOf(made))).toBeLessThanOrEqual(windowTokens);
	});
});
