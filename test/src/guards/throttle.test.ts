import type { AgentMessage } from "@earendil-works/pi-agent-core";
import type { ExtensionAPI, ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isThrottled, registerThrottle, type ThrottlePace } from "../../../src/guards/throttle.ts";
import { registerBoundaries } from "../../../src/hooks/boundary.ts";
import piBillionContext from "../../../src/index.ts";
import { createSessions } from "../../../src/session.ts";
import { type AcpOptions, type AcpSession, closeAcp, openAcp, openWithUi, work } from "../../support/acp.ts";
import type { Reply } from "../../support/provider.ts";

let stderr: { mock: { calls: unknown[][] } };

beforeEach(() => {
	stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(async () => {
	vi.restoreAllMocks();
	await closeAcp();
});

const bedrock = "Throttling error: Too many tokens, please wait before trying again.";
const throttle: Reply = { status: 400, error: bedrock };
const times = (count: number): Reply[] => Array<Reply>(count).fill(throttle);

/** A clock that only tests move: each wait is noted and goes on until `pass` or an end by signal. */
function fakeClock() {
	const delaysMs: number[] = [];
	let pass: () => void = () => undefined;
	let begun: () => void = () => undefined;
	return {
		delaysMs,
		/** Resolves when the next wait has begun. */
		begins: () =>
			new Promise<void>((resolve) => {
				begun = resolve;
			}),
		pass: () => pass(),
		wait: (delayMs: number, signal: AbortSignal) =>
			new Promise<void>((resolve) => {
				delaysMs.push(delayMs);
				pass = resolve;
				signal.addEventListener("abort", () => resolve());
				begun();
			}),
	};
}

const minutes = { firstDelayMs: 60_000, maxDelayMs: 300_000, retries: 10 };

function registerGuard(pi: ExtensionAPI, pace: ThrottlePace): void {
	const sessions = createSessions(pi);
	registerBoundaries(pi, sessions, registerThrottle(pi, sessions, pace));
}

/** The guard alone, paced by a test. */
function guardOnly(pace: ThrottlePace): ExtensionFactory {
	return (pi) => registerGuard(pi, pace);
}

/** The whole extension, in which a guard whose waits are over at once comes first. */
const withoutWaits: ExtensionFactory = (pi) => {
	registerGuard(pi, { ...minutes, wait: async () => undefined });
	piBillionContext(pi);
};

async function open(pace: ThrottlePace, options: AcpOptions = {}): Promise<AcpSession> {
	// Pi's own retries are other tests' business; an error of this text it does not retry anyway.
	return openAcp({ settings: { retry: { enabled: false } }, ...options, extensions: [guardOnly(pace)] });
}

function lastMessage(acp: AcpSession): AgentMessage | undefined {
	return acp.session.sessionManager.buildSessionProjection().messages.at(-1);
}

describe("the error text", () => {
	it.each([
		bedrock,
		"ThrottlingException: Too many tokens, please wait before trying again.",
		"429 Too many requests, throttled by the gateway",
		"429 Rate limit reached for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Used 29000, Requested 4000. Visit https://platform.openai.com/account/billing to learn more.",
		"429 This request would exceed your organization's rate limit of 40,000 input tokens per minute",
		"429 Requests to the API have exceeded token rate limit of your current tier. Please retry after 60 seconds.",
	])("speaks of a token rate: %s", (text) => {
		expect(isThrottled(text)).toBe(true);
	});

	it.each([
		"prompt is too long: 213462 tokens > 200000 maximum",
		"This model's maximum context length is 8192 tokens, however you requested 9000 tokens",
		"too many tokens",
		"429 You exceeded your current quota, please check your plan and billing details.",
		"Throttling error: Too many tokens per day, please wait before trying again.",
		"429 Rate limit reached on tokens per day (TPD): Limit 100000",
		"429 Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000",
		"402 insufficient credits: throttled",
		"429 Too Many Requests",
		"529 overloaded_error",
		"500 Internal server error",
		"",
	])("speaks of something else: %s", (text) => {
		expect(isThrottled(text)).toBe(false);
	});
});

describe("a throttled request", () => {
	it("is made again after 60 seconds, doubling to 300, at most 10 times", async () => {
		const delaysMs: number[] = [];
		const wait = async (delayMs: number) => void delaysMs.push(delayMs);
		const acp = await open({ ...minutes, wait });
		acp.replies(...times(12));
		await acp.prompt("Work");
		expect(delaysMs.map((delayMs) => delayMs / 1_000)).toEqual([60, 120, 240, ...Array(7).fill(300)]);
		expect(acp.requests).toHaveLength(11);
		expect(new Set(acp.requests.map(({ body }) => JSON.stringify(body.messages))).size).toBe(1);
		const said = stderr.mock.calls.map(([text]) => String(text));
		expect(said).toEqual([
			expect.stringMatching(/throttles tokens.* again in 60 seconds.* at most 10 times/),
			expect.stringContaining("still throttled after 10 retries"),
		]);
		expect(acp.extensionErrors).toEqual([]);
	});

	it("that succeeds later goes on as if nothing had been, and the next one begins at 60 seconds", async () => {
		const delaysMs: number[] = [];
		const wait = async (delayMs: number) => void delaysMs.push(delayMs);
		const acp = await open({ ...minutes, wait });
		const working: Reply = { toolCalls: [{ name: "ls", arguments: { path: "." } }] };
		acp.replies(...times(2), working, ...times(1), { text: "done" });
		await acp.prompt("Work");
		expect(delaysMs).toEqual([60_000, 120_000, 60_000]);
		expect(lastMessage(acp)).toMatchObject({ role: "assistant", stopReason: "stop" });
		const sent = JSON.stringify(acp.requests.at(-1)?.body.messages);
		expect(sent).not.toContain("Too many tokens");
	});

	it("really waits", async () => {
		const acp = await open({ firstDelayMs: 150, maxDelayMs: 200, retries: 5 });
		acp.replies(...times(2), { text: "done" });
		const began = performance.now();
		await acp.prompt("Work");
		expect(acp.requests).toHaveLength(3);
		expect(lastMessage(acp)).toMatchObject({ role: "assistant", stopReason: "stop" });
		// Timers may fire a millisecond early.
		expect(performance.now() - began).toBeGreaterThanOrEqual(345);
	});

	it("comes after Pi's own retries", async () => {
		const delaysMs: number[] = [];
		const wait = async (delayMs: number) => void delaysMs.push(delayMs);
		const settings = { retry: { enabled: true, maxRetries: 2, baseDelayMs: 1 } };
		const acp = await open({ ...minutes, retries: 2, wait }, { settings });
		const error = "429 This request would exceed your rate limit of 40,000 input tokens per minute";
		acp.replies(...Array<Reply>(9).fill({ status: 400, error }));
		await acp.prompt("Work");
		expect(delaysMs).toEqual([60_000, 120_000]);
		expect(acp.requests).toHaveLength(9);
	});

	it("is left to Pi while switched off", async () => {
		const acp = await open({ ...minutes, wait: () => expect.unreachable() }, { acp: { throttleRetry: false } });
		acp.replies(...times(3));
		await acp.prompt("Work");
		expect(acp.requests).toHaveLength(1);
	});

	it("is left to Pi where the provider speaks of overflow or a quota", async () => {
		const acp = await open({ ...minutes, wait: () => expect.unreachable() });
		acp.replies({ status: 400, error: "You exceeded your current quota of tokens per minute, check your billing" });
		await acp.prompt("Work");
		expect(acp.requests).toHaveLength(1);
	});
});

describe("a wait", () => {
	it("ends at once when the user says something, which goes out with the request", async () => {
		const clock = fakeClock();
		const acp = await open({ ...minutes, wait: clock.wait });
		acp.replies(...times(1), { text: "done" });
		const begins = clock.begins();
		const run = acp.prompt("Work");
		await begins;
		await acp.session.prompt("Never mind, do this", { streamingBehavior: "steer" });
		await run;
		expect(acp.requests).toHaveLength(2);
		expect(JSON.stringify(acp.requests[1]?.body.messages)).toContain("Never mind, do this");
		expect(clock.delaysMs).toEqual([60_000]);
	});

	it("begins anew at 60 seconds after a word of the user", async () => {
		const clock = fakeClock();
		const acp = await open({ ...minutes, wait: clock.wait });
		acp.replies(...times(3), { text: "done" });
		const run = acp.prompt("Work");
		await clock.begins();
		let next = clock.begins();
		clock.pass();
		await next;
		next = clock.begins();
		await acp.session.prompt("Now this", { streamingBehavior: "steer" });
		await next;
		clock.pass();
		await run;
		expect(clock.delaysMs).toEqual([60_000, 120_000, 60_000]);
	});

	it("ends without a request when the user interrupts", async () => {
		const clock = fakeClock();
		const acp = await open({ ...minutes, wait: clock.wait });
		acp.replies(...times(1), { text: "done" });
		const begins = clock.begins();
		const run = acp.prompt("Work");
		await begins;
		await acp.session.abort();
		await run;
		expect(acp.requests).toHaveLength(1);
		expect(acp.session.isIdle).toBe(true);
		await acp.prompt("Go on");
		expect(acp.requests).toHaveLength(2);
		expect(clock.delaysMs).toEqual([60_000]);
	});

	it("stands in the footer", async () => {
		const texts: unknown[] = [];
		const clock = fakeClock();
		const options = {
			settings: { retry: { enabled: false } },
			extensions: [guardOnly({ ...minutes, wait: clock.wait })],
		};
		const acp = await openWithUi(vi.fn(), options, (_key, text) => void texts.push(text));
		acp.replies(...times(1), { text: "done" });
		const begins = clock.begins();
		const run = acp.prompt("Work");
		await begins;
		expect(texts.at(-1)).toMatch(/^acp throttled, retry 1\/10 at \d\d:\d\d:\d\d$/);
		clock.pass();
		await run;
		expect(String(texts.at(-1))).not.toContain("throttled");
	});
});

it("the extension as a whole waits, too", async () => {
	vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"], shouldAdvanceTime: true, advanceTimeDelta: 20 });
	try {
		const acp = await openAcp({ settings: { retry: { enabled: false } }, extensions: [piBillionContext] });
		acp.replies(...times(1), { text: "done" });
		const run = acp.prompt("Work");
		await vi.waitFor(() => expect(stderr.mock.calls.join()).toContain("throttles tokens"));
		await vi.advanceTimersByTimeAsync(50_000);
		expect(acp.requests).toHaveLength(1);
		await vi.advanceTimersByTimeAsync(10_000);
		await run;
		expect(acp.requests).toHaveLength(2);
		expect(await acp.logText()).toMatch(/\[warn\] \[throttle\] retry=1 delayMs=60000 reason="/);
	} finally {
		vi.useRealTimers();
	}
});

it("a throttled request that Pi takes for one too large leaves no compaction in the log", async () => {
	const acp = await openAcp({ seed: work(20), extensions: [withoutWaits] });
	acp.replies(
		{ status: 400, error: "ThrottlingException: Too many tokens, please wait before trying again." },
		{ text: "done" },
	);
	await acp.prompt("Work");
	expect(acp.requests).toHaveLength(2);
	expect(acp.branch().filter((entry) => entry.type === "compaction")).toEqual([]);
});
