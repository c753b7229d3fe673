import { join } from "node:path";
import type { AssistantMessage, Context } from "@earendil-works/pi-ai";
import { ModelRuntime } from "@earendil-works/pi-coding-agent";
import { afterEach, describe, expect, it } from "vitest";
import { createHome, type ModelOptions, modelId, PROVIDER_NAME, writeHomeFiles } from "./home.ts";
import { type Provider, type Script, startProvider } from "./provider.ts";

const APIS = ["openai-completions", "anthropic-messages"] as const;
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
	for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

async function start(script: Script): Promise<Provider> {
	const provider = await startProvider(script);
	cleanups.push(() => provider.close());
	return provider;
}

/** Sends one request through Pi's own client for the API and returns the message it understood. */
async function ask(provider: Provider, model: ModelOptions, text = "hello"): Promise<AssistantMessage> {
	const home = createHome();
	cleanups.push(home.remove);
	writeHomeFiles(home, { providerUrl: provider.url, models: [model] });
	const runtime = await ModelRuntime.create({
		authPath: join(home.agentDir, "auth.json"),
		modelsPath: join(home.agentDir, "models.json"),
	});
	const known = runtime.getModel(PROVIDER_NAME, modelId([model]));
	if (known === undefined) throw new Error("the scripted model is unknown");
	const context: Context = { messages: [{ role: "user", content: text, timestamp: 1 }] };
	return runtime.complete(known, context, { maxRetries: 0 });
}

describe.each(APIS)("a reply over %s", (api) => {
	it("arrives with its reasoning, text, calls and usage", async () => {
		const text = "A long enough answer to need several deltas, with an emoji on the border 🙂🙂🙂.";
		const provider = await start([
			{
				reasoning: "let me think",
				text,
				toolCalls: [
					{ name: "read", arguments: { path: "a.ts" } },
					{ name: "bash", arguments: '{"command":"ls"}', id: "mine" },
				],
				usage: { promptTokens: 1000, completionTokens: 20, cachedTokens: 600 },
			},
		]);
		const message = await ask(provider, { api, reasoning: true });
		expect(message.content).toMatchObject([
			{ type: "thinking", thinking: "let me think" },
			{ type: "text", text },
			{ type: "toolCall", id: "call_0_0", name: "read", arguments: { path: "a.ts" } },
			{ type: "toolCall", id: "mine", name: "bash", arguments: { command: "ls" } },
		]);
		expect(message.stopReason).toBe("toolUse");
		expect(message.usage).toMatchObject({ input: 400, cacheRead: 600, output: 20, totalTokens: 1020 });
	});

	it("reports a quarter of the request's characters as prompt tokens unless told otherwise", async () => {
		const provider = await start([{ text: "12345678" }, { text: "no usage", usage: null }]);
		const message = await ask(provider, { api }, "x".repeat(400));
		expect(message.usage.input).toBe(Math.ceil((provider.requests[0]?.raw.length ?? 0) / 4));
		expect(message.usage.output).toBe(2);
		expect((await ask(provider, { api })).usage.totalTokens).toBe(0);
	});

	it("can stop at the output limit, fail with a status, with or without words, or break off", async () => {
		const provider = await start([
			{ text: "cut short", finishReason: "length" },
			{ error: "prompt is too long: 9 tokens > 8 maximum" },
			{ status: 413, error: "" },
			{ text: "half an ans", cut: true },
		]);
		expect(await ask(provider, { api })).toMatchObject({ stopReason: "length" });
		const refused = await ask(provider, { api });
		expect(refused).toMatchObject({ stopReason: "error", content: [] });
		expect(refused.errorMessage).toContain("prompt is too long");
		expect((await ask(provider, { api })).errorMessage).toBe("413 status code (no body)");
		expect(await ask(provider, { api })).toMatchObject({ stopReason: "error", content: [{ text: "half an ans" }] });
	});
});

describe("the provider", () => {
	it("records each request and lets a function answer it", async () => {
		const provider = await start(async (request) => ({ text: `answer ${request.index}` }));
		await ask(provider, {}, "first");
		const second = await ask(provider, {}, "second");
		expect(second.content).toMatchObject([{ type: "text", text: "answer 1" }]);
		expect(provider.requests.map((request) => request.body.messages.at(-1)?.content)).toEqual(["first", "second"]);
		expect(JSON.parse(provider.requests[1]?.raw ?? "")).toEqual(provider.requests[1]?.body);
		expect(provider.requests[1]?.headers.authorization).toBe("Bearer sk-loopback");
	});

	it("repeats the last reply", async () => {
		const provider = await start([{ text: "one" }, { text: "two" }]);
		for (const text of ["one", "two", "two"]) {
			expect((await ask(provider, {})).content).toMatchObject([{ text }]);
		}
	});

	it("fails the test whose script throws", async () => {
		const provider = await startProvider(() => {
			throw new Error("unexpected request");
		});
		expect((await ask(provider, {})).errorMessage).toContain("unexpected request");
		await expect(provider.close()).rejects.toThrow("unexpected request");
	});

	it("closes while a reply is still delayed", async () => {
		const provider = await startProvider([{ text: "too late", delayMs: 3_600_000 }]);
		const asked = ask(provider, {});
		await expect.poll(() => provider.requests.length).toBe(1);
		await provider.close();
		expect((await asked).stopReason).toBe("error");
	});
});
