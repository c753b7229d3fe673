import type { Message } from "../message.ts";
import { isObject } from "../operation.ts";

/**
 * The names under which the tokens of a request are counted. The first of a row leaves out what the others of the row
 * count; a cache figure that the first already includes is not named here.
 */
const countings: readonly (readonly string[])[] = [
	// Pi
	["input", "cacheRead", "cacheWrite"],
	// OpenAI chat and whoever speaks it; prompt_tokens_details.cached_tokens is inside
	["prompt_tokens"],
	// DeepSeek; where it also gives prompt_tokens, that is the sum
	["prompt_cache_miss_tokens", "prompt_cache_hit_tokens"],
	// Anthropic, and OpenAI Responses, which has its cached tokens inside
	["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"],
	// Google; cachedContentTokenCount is inside
	["promptTokenCount"],
	// Bedrock
	["inputTokens", "cacheReadInputTokens", "cacheWriteInputTokens"],
	// Mistral
	["promptTokens"],
];

/** No request is larger. */
const mostTokens = 100_000_000;

/**
 * Tokens of the request itself, as the provider counted it: input, cache reads and cache writes. Undefined for a failed
 * or aborted answer and for missing, zero or absurd figures.
 */
export function reportedTokens(message: Message): number | undefined {
	const usage: unknown = message.usage;
	if (message.role !== "assistant" || message.stopReason === "error" || message.stopReason === "aborted")
		return undefined;
	if (!isObject(usage)) return undefined;
	const sums = countings.map((names) => names.reduce((sum, name) => sum + count(usage[name]), 0));
	const tokens = sums.find((sum) => sum !== 0) ?? count(usage.totalTokens) - count(usage.output ?? Number.NaN);
	return tokens > 0 && tokens <= mostTokens ? tokens : undefined;
}

/** A count as it stands, 0 where there is none, NaN for what cannot be one. */
function count(value: unknown): number {
	if (value === undefined || value === null) return 0;
	return typeof value === "number" && Number.isInteger(value) && value >= 0 ? value : Number.NaN;
}
