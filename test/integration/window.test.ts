import type { ExtensionUIContext } from "@earendil-works/pi-coding-agent";
import { afterEach, describe, expect, it } from "vitest";
import { estimateTokens } from "../../kernel/meter/estimate.ts";
import { type AcpOptions, type AcpSession, closeAcp, openAcp, textIn, work } from "../support/acp.ts";
import { type Figures, readFigures } from "../support/counting.ts";
import type { RecordedRequest, Reply } from "../support/provider.ts";
import { expectGrowth } from "../support/wire.ts";

afterEach(closeAcp);

/** A session that is shown, what it notified, and its line in the footer. */
interface Shown extends AcpSession {
	readonly notices: readonly string[];
	statusLine(): string | undefined;
	status(): Promise<{ text: string; figures: Omit<Figures, "countedTokens"> | undefined }>;
}

/** Opens a session in which Pi repeats a failed request at once, so many times. */
async function openShown(retries: number, options: AcpOptions): Promise<Shown> {
	const retry = { enabled: retries > 0, maxRetries: retries, baseDelayMs: 1 };
	const acp = await openAcp({ settings: { retry }, ...options, bind: false });
	const notices: string[] = [];
	let line: string | undefined;
	const ui: Partial<ExtensionUIContext> = {
		notify: (text) => void notices.push(text),
		setStatus: (_key, text) => {
			line = text;
		},
	};
	await acp.session.bindExtensions({ uiContext: ui as ExtensionUIContext, mode: "tui" });
	return {
		...acp,
		notices,
		statusLine: () => line,
		async status() {
			const text = textIn(await acp.execute("acp_status", {}));
			return { text, figures: readFigures(text) };
		},
	};
}

/** A prompt of about so many tokens. */
function promptOf(tokens: number): string {
	const sentence = "The parser reads one line after the other until it meets the end of the file. ";
	return sentence.repeat(Math.round((tokens * 100) / estimateTokens(sentence.repeat(100))));
}

const answered = (promptTokens: number): Reply => ({ text: "ok", usage: { promptTokens } });
const bodyless: Reply = { status: 400, error: "" };
const model = { contextWindow: 200_000, maxTokens: 8_192 };

/** The same request is sent again and again. */
function expectSame(requests: readonly RecordedRequest[]): void {
	expect(new Set(requests.map((request) => request.raw)).size).toBe(1);
}

describe("five answers in a row that the provider is overloaded", () => {
	it("change neither the size nor the window that the last success told", async () => {
		const one = await openShown(4, { models: [model], seed: work(45, 4_000) });
		one.replies(answered(180_000), ...Array.from({ length: 5 }, () => ({ status: 529, error: "Overloaded" })));
		await one.prompt("Go on");
		await one.prompt("And on");
		expect(one.requests).toHaveLength(6);
		expectSame(one.requests.slice(1));
		expectGrowth(one.requests);
		const { text, figures } = await one.status();
		expect(figures?.sizeTokens).toBeGreaterThan(179_000);
		expect(figures?.sizeTokens).toBeLessThan(182_000);
		expect(figures?.wholeTokens).toBe(191_800);
		expect(text).not.toMatch(/assumed|refused/);
		expect(one.statusLine()).toMatch(/^acp 180\.\dK\/191\.8K/);
		expect(one.notices).toEqual([]);
	});
});

describe("two refusals without a word", () => {
	const fail = async (usedTokens: number, steps: number) => {
		const one = await openShown(0, { models: [model], seed: work(steps, 4_000) });
		one.replies(answered(usedTokens), bodyless, bodyless, { text: "ok", usage: null });
		for (const prompt of ["Go on", "And on", "And on", "And on"]) await one.prompt(prompt);
		return one;
	};

	it("make the next view smaller where it is large", async () => {
		const one = await fail(176_500, 45);
		const [, , second, third] = one.requests.map((request) => request.raw.length);
		expectGrowth(one.requests.slice(0, 3));
		expect(third).toBeLessThan((second ?? 0) * 0.9);
		expect(one.notices).toEqual([
			expect.stringMatching(/failed in a row; its window is taken as 1[56]\d,\d{3} tokens/),
		]);
	});

	it("change nothing where it is small", async () => {
		const one = await fail(19_000, 5);
		expect(one.requests).toHaveLength(4);
		expectGrowth(one.requests);
		expect(one.notices).toEqual([]);
		expect((await one.status()).figures?.wholeTokens).toBe(191_800);
	});
});

describe("streams that are cut at 121K", () => {
	it("make the window smaller until a request of 140K succeeds", async () => {
		const one = await openShown(2, { models: [{ contextWindow: 150_000, maxTokens: 8_192 }] });
		const cut: Reply = { text: "half an ans", cut: true };
		one.replies(answered(2_500), cut, cut, cut, answered(140_000));
		await one.prompt("Hello");
		await one.prompt(promptOf(118_500));
		expect(one.requests).toHaveLength(4);
		const learned = await one.status();
		expect(learned.text).toMatch(/a window of 1\d\d\.\dK is assumed after large requests failed/);
		await one.prompt(promptOf(137_000));
		expect(one.requests).toHaveLength(5);
		const { text, figures } = await one.status();
		expect(figures?.wholeTokens).toBe(141_800);
		expect(text).not.toContain("assumed");
	});
});

describe("a request of 300K to a model that declares 128,000", () => {
	it("shows by its success that the window is larger, and one notice says so", async () => {
		const one = await openShown(0, { models: [{ contextWindow: 128_000, maxTokens: 8_192 }] });
		one.replies(answered(300_000), answered(300_050), answered(300_100));
		await one.prompt(promptOf(297_000));
		await one.prompt("Go on");
		await one.prompt("And on");
		expect(one.notices.filter((text) => text.includes("larger than the window it declares"))).toHaveLength(1);
		const { figures } = await one.status();
		expect(figures?.wholeTokens).toBeGreaterThan(300_000);
	});

	it("keeps requests below the declared window all the same, since Pi leaves an answer no room beyond that", async () => {
		const one = await openShown(0, { models: [{ contextWindow: 128_000, maxTokens: 8_192 }] });
		one.replies(answered(300_000), answered(20_000));
		await one.prompt(promptOf(297_000));
		await one.prompt("Go on");
		expect(one.requests.at(-1)?.body.max_completion_tokens).toBe(8_192);
	});
});
