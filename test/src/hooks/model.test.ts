import type { ExtensionUIContext } from "@earendil-works/pi-coding-agent";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import piBillionContext from "../../../src/index.ts";
import {
	type AcpOptions,
	type AcpSession,
	bareAcp,
	closeAcp,
	openAcp,
	openWithUi,
	rival,
	textIn,
	work,
} from "../../support/acp.ts";
import { PROVIDER_NAME } from "../../support/home.ts";
import { textOf } from "../../support/wire.ts";

let notify: ReturnType<typeof vi.fn<ExtensionUIContext["notify"]>>;
let setStatus: ReturnType<typeof vi.fn<ExtensionUIContext["setStatus"]>>;

beforeEach(() => {
	notify = vi.fn();
	setStatus = vi.fn();
});
afterEach(async () => {
	vi.restoreAllMocks();
	await closeAcp();
});

/** A model with a window of 200,000 tokens, and one with a quarter of it. */
const models = [
	{ contextWindow: 200_000, maxTokens: 8_000 },
	{ contextWindow: 50_000, maxTokens: 8_000 },
];

/** Pi leaves failures and full contexts alone. */
const settings = { compaction: { enabled: false }, retry: { enabled: false } };

async function open(options: AcpOptions = {}): Promise<AcpSession> {
	return openWithUi(notify, { models, settings, ...options }, setStatus);
}

async function switchTo({ session }: AcpSession, id: string): Promise<void> {
	const model = session.modelRuntime.getModel(PROVIDER_NAME, id);
	if (model === undefined) throw new Error(`there is no model ${id}`);
	await session.setModel(model);
}

const notices = () => notify.mock.calls.map(([text]) => text);
const status = async (acp: AcpSession) => textIn(await acp.execute("acp_status", {}));

describe("a switch to another model", () => {
	it("says at once that the view does not fit its window, and the next request does", async () => {
		const acp = await open({ seed: work(20, 4_000) });
		acp.replies({ text: "ok", usage: { promptTokens: 90_000 } });
		await acp.prompt("hello");
		expect(notices()).toEqual([]);
		await switchTo(acp, "scripted-2");
		expect(notify.mock.calls).toEqual([
			[
				expect.stringMatching(/holds 90\.0K \(±27\.0K\) tokens, more than the 42\.0K that fit into scripted-2\./),
				"warning",
			],
		]);
		expect(setStatus.mock.lastCall).toEqual(["acp", "acp 90.0K/42.0K"]);
		expect(await status(acp)).toContain("90.0K (±27.0K) tokens, more than the 42.0K that fit");
		await acp.prompt("go on");
		const [before, after] = acp.requests.map((request) => request.raw.length);
		expect(after).toBeLessThan((before ?? 0) / 2);
		expect(await acp.logText()).toMatch(
			/\[info\] \[model\] key=loopback\/scripted-2 sizeTokens=90\d\d\d errorTokens=27\d\d\d usableTokens=42000\n/,
		);
	});

	it("says nothing if the view fits, and measures by the window of the new model", async () => {
		const acp = await open({ seed: work(3, 2_000) });
		await switchTo(acp, "scripted-2");
		expect(notices()).toEqual([]);
		expect(setStatus.mock.lastCall).toEqual(["acp", expect.stringMatching(/^acp \d\.\dK\/42\.0K$/)]);
		await switchTo(acp, "scripted-1");
		expect(setStatus.mock.lastCall).toEqual(["acp", expect.stringMatching(/^acp \d\.\dK\/192\.0K$/)]);
	});

	it("says nothing while we stand down", async () => {
		const off = await open({ seed: work(20, 4_000), acp: { ...bareAcp, enabled: false } });
		await switchTo(off, "scripted-2");
		const shadowed = await open({ seed: work(20, 4_000), extensions: [rival, piBillionContext] });
		await switchTo(shadowed, "scripted-2");
		expect(notices().filter((text) => text.includes("that fit"))).toEqual([]);
	});

	it("is told on the error stream where there is no user interface", async () => {
		const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
		const acp = await openAcp({ models, settings, seed: work(20, 4_000) });
		await switchTo(acp, "scripted-2");
		expect(stderr.mock.calls).toEqual([[expect.stringContaining("that fit into scripted-2")]]);
	});
});

describe("a window that turns out to be another one", () => {
	it("is larger after a request beyond it succeeded: one notice, and a larger window from then on", async () => {
		const acp = await open({ seed: work(12, 4_000) });
		acp.replies({ text: "ok", usage: { promptTokens: 240_000 } }, { text: "ok", usage: { promptTokens: 240_100 } });
		await acp.prompt("hello");
		await acp.prompt("again");
		expect(notices()).toEqual([
			"pi-billion-context: scripted-1 took a request larger than the window it declares; 300,000 tokens is assumed now. Declare its true contextWindow in models.json: Pi sizes answers by it.",
		]);
		expect(await status(acp)).toMatch(
			/ of 292\.\dK tokens; a window of 300\.\dK is assumed after a request larger than/,
		);
	});

	it("is smaller after a refusal that names it: one notice, and a smaller window from then on", async () => {
		const acp = await open({ seed: work(12, 4_000), acp: { ...bareAcp, strategy: "model" } });
		acp.replies({ status: 400, error: "prompt is too long: 60000 tokens > 40000 maximum" });
		await acp.prompt("hello");
		await acp.prompt("again");
		expect(notices().filter((text) => text.includes("window"))).toEqual([
			"pi-billion-context: a request to scripted-1 was refused for its size; its window is taken as 40,000 tokens from now on.",
		]);
		expect(await status(acp)).toMatch(/ of 32\.0K tokens; the provider refused more than a window of 40\.0K/);
		const cut = (index: number) =>
			acp.requests
				.at(index)
				?.body.messages.map((message) => textOf(message))
				.join("");
		expect(cut(0)).not.toContain("characters left out");
		expect(cut(-1)).toContain("characters left out");
	});

	it("is smaller after large requests failed in a row, until a larger one succeeds", async () => {
		const acp = await open({ seed: work(12, 4_000) });
		const failed = { status: 500, error: "Internal Server Error" };
		const answered = (promptTokens: number) => ({ text: "ok", usage: { promptTokens } });
		acp.replies(answered(176_000), failed, failed, answered(120_000));
		for (const prompt of ["one", "two", "three"]) await acp.prompt(prompt);
		expect(notices()).toEqual([
			expect.stringMatching(
				/^pi-billion-context: large requests to scripted-1 failed in a row; its window is taken as 15\d,\d\d\d tokens until a larger one succeeds\.$/,
			),
		]);
		expect(await status(acp)).toMatch(/a window of 15\d\.\dK is assumed after large requests failed/);
		acp.replies(answered(190_000));
		await acp.prompt("four");
		expect(notices()).toHaveLength(1);
		expect(await status(acp)).not.toContain("assumed");
	});

	it("is what the user set, and nothing is said", async () => {
		const acp = await open({ seed: work(1), acp: { ...bareAcp, modelContextLimit: "100K" } });
		acp.replies({ text: "ok", usage: { promptTokens: 240_000 } });
		await acp.prompt("hello");
		expect(notices()).toEqual([]);
		expect(await status(acp)).toContain("; the window of 100.0K is set in acp.json");
	});
});
