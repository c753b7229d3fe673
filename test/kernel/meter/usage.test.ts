import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Message } from "../../../kernel/message.ts";
import { reportedTokens } from "../../../kernel/meter/usage.ts";

function answer(usage: unknown, more: Partial<Message> = {}): Message {
	return { role: "assistant", content: [], timestamp: 1, ...more, usage } as Message;
}

const usage = { input: 10_000, output: 500, cacheRead: 0, cacheWrite: 0, totalTokens: 10_500 };

describe("the reported tokens of a request", () => {
	it.each([
		["Pi", { input: 1_200, output: 50, cacheRead: 3_000, cacheWrite: 400, totalTokens: 4_650 }, 4_600],
		["Pi, nearly all of it cached", { input: 12, output: 9, cacheRead: 150_000, cacheWrite: 4_000 }, 154_012],
		["Pi, an empty answer", { input: 900_000, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 900_000 }, 900_000],
		["Pi, all of it cached", { input: 0, output: 9, cacheRead: 5_000, cacheWrite: 0, totalTokens: 5_009 }, 5_000],
		["Pi, without cache figures", { input: 5_000, output: 9 }, 5_000],
		[
			"OpenAI chat",
			{ prompt_tokens: 5_000, completion_tokens: 9, prompt_tokens_details: { cached_tokens: 4_000 } },
			5_000,
		],
		[
			"OpenAI Responses",
			{ input_tokens: 5_000, output_tokens: 9, input_tokens_details: { cached_tokens: 4_000 } },
			5_000,
		],
		[
			"Anthropic",
			{ input_tokens: 7, output_tokens: 9, cache_read_input_tokens: 5_000, cache_creation_input_tokens: 300 },
			5_307,
		],
		[
			"Anthropic, without a cache",
			{ input_tokens: 700, cache_read_input_tokens: null, cache_creation_input_tokens: null },
			700,
		],
		[
			"LiteLLM, in both of these ways",
			{ prompt_tokens: 5_307, cache_read_input_tokens: 5_000, cache_creation_input_tokens: 300 },
			5_307,
		],
		["Google", { promptTokenCount: 5_000, candidatesTokenCount: 9, cachedContentTokenCount: 4_000 }, 5_000],
		[
			"Bedrock",
			{ inputTokens: 12, outputTokens: 9, cacheReadInputTokens: 150_000, cacheWriteInputTokens: 4_000 },
			154_012,
		],
		["DeepSeek", { prompt_cache_hit_tokens: 4_000, prompt_cache_miss_tokens: 1_000 }, 5_000],
		["DeepSeek, nothing cached", { prompt_cache_hit_tokens: 0, prompt_cache_miss_tokens: 1_000 }, 1_000],
		[
			"DeepSeek, with the sum",
			{ prompt_tokens: 5_000, prompt_cache_hit_tokens: 4_000, prompt_cache_miss_tokens: 1_000 },
			5_000,
		],
		["Mistral", { promptTokens: 5_000, completionTokens: 9, totalTokens: 5_009 }, 5_000],
		["a total and the answer", { totalTokens: 5_009, output: 9 }, 5_000],
		["a total and an empty answer", { totalTokens: 5_000, output: 0 }, 5_000],
		["a total beside empty figures", { ...usage, input: 0, totalTokens: 10_500 }, 10_000],
	])("are read as %s counts them", (_, given, tokens) => {
		expect(reportedTokens(answer(given))).toBe(tokens);
	});

	it.each([
		["none", undefined],
		["null", null],
		["a number", 5_000],
		["a list", [5_000]],
		["empty", {}],
		["zero", { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 }],
		["of the answer alone", { input: 0, output: 50, cacheRead: 0, cacheWrite: 0, totalTokens: 50 }],
		["an answer without a total", { output: 50 }],
		["a total without an answer", { totalTokens: 5_000 }],
		["an answer larger than the total", { totalTokens: 50, output: 60 }],
		["negative", { ...usage, input: -1 }],
		["negative in a cache figure", { ...usage, cacheRead: -1 }],
		["not a number", { ...usage, input: Number.NaN }],
		["infinite", { ...usage, input: Number.POSITIVE_INFINITY }],
		["a text", { ...usage, input: "10000" }],
		["a fraction", { ...usage, input: 0.5 }],
		["a text in a cache figure", { ...usage, cacheWrite: "1" }],
		["absurd", { ...usage, input: 100_000_001 }],
		["absurd in sum", { ...usage, cacheRead: 100_000_000 }],
	])("are unknown if the usage is %s", (_, given) => {
		expect(reportedTokens(answer(given))).toBeUndefined();
	});

	it("are unknown for a failed or aborted answer", () => {
		expect(reportedTokens(answer(usage, { stopReason: "error" }))).toBeUndefined();
		expect(reportedTokens(answer(usage, { stopReason: "aborted" }))).toBeUndefined();
	});

	it("are known however else the answer ended", () => {
		for (const stopReason of ["stop", "length", "toolUse"]) {
			expect(reportedTokens(answer(usage, { stopReason }))).toBe(10_000);
		}
	});

	it("are unknown for a message that is no answer", () => {
		for (const role of ["user", "toolResult", "custom", "system"]) {
			expect(reportedTokens(answer(usage, { role }))).toBeUndefined();
		}
	});

	it("are a positive whole number or unknown, whatever the usage is", () => {
		const value = fc.oneof(fc.integer(), fc.double(), fc.string(), fc.constant(null), fc.maxSafeInteger());
		const names = fc.constantFrom("input", "output", "cacheRead", "totalTokens", "prompt_tokens", "inputTokens");
		fc.assert(
			fc.property(fc.oneof(fc.anything(), fc.dictionary(names, value)), (given) => {
				const tokens = reportedTokens(answer(given));
				expect(tokens === undefined || (Number.isInteger(tokens) && tokens > 0 && tokens <= 100_000_000)).toBe(true);
			}),
			{ seed: 20_261_202 },
		);
	});
});
