import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../../kernel/meter/overflow.ts";

type Case = readonly [dialect: string, text: string, limitTokens?: number | undefined, requestedTokens?: number];

const overflows: readonly Case[] = [
	["Anthropic", "prompt is too long: 213462 tokens > 200000 maximum", 200_000, 213_462],
	["Anthropic, thousands separated", "prompt is too long: 213,462 tokens > 200,000 maximum", 200_000, 213_462],
	[
		"Anthropic, a whole body",
		'400 {"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 1000429 tokens > 1000000 maximum"},"request_id":"req_429"}',
		1_000_000,
		1_000_429,
	],
	[
		"Anthropic, input and answer together",
		"input length and `max_tokens` exceed context limit: 188240 + 21333 > 200000, decrease input length or `max_tokens` and try again",
		200_000,
		188_240,
	],
	[
		"Anthropic, in bytes",
		'413 {"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size of 33554432 bytes"}}',
	],
	["a gateway, in bytes", "Request payload size exceeds the limit: 20971520 bytes."],
	["a gateway, in few words", "payload too large"],
	["a gateway, in bytes per body", "request body exceeds the maximum size"],
	["nginx", "413 Request Entity Too Large"],
	["OpenAI, in characters", "400 Invalid 'input[2]': string too long. Expected a string with maximum length 10485760."],
	["OpenAI Responses", "Your input exceeds the context window of this model. Please adjust your input and try again."],
	[
		"OpenAI Responses, with figures",
		"400 Input tokens exceed the configured limit of 272,000 tokens. Your messages resulted in 303,500 tokens. Please reduce the length of the messages.",
		272_000,
		303_500,
	],
	["OpenAI, code only", '400: {"error":{"code":"context_length_exceeded"}}'],
	[
		"OpenAI chat",
		"This model's maximum context length is 128000 tokens. However, your messages resulted in 130500 tokens (129000 in the messages, 1500 in the functions).",
		128_000,
		130_500,
	],
	[
		"OpenAI completions",
		"This model's maximum context length is 4097 tokens, however you requested 4200 tokens (3200 in your prompt; 1000 for the completion).",
		4_097,
		3_200,
	],
	[
		"DeepSeek",
		"400 This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (8000 in the messages, 1000 in the completion). Please reduce the length of the messages or completion.",
		8_192,
		8_000,
	],
	[
		"DeepSeek, three shares",
		"This model's maximum context length is 131,072 tokens. However, you requested 150,000 tokens (141,500 in the messages, 500 in the functions, 8,000 in the completion).",
		131_072,
		142_000,
	],
	[
		"Azure",
		"400 This model's maximum context length is 16385 tokens. However, your messages resulted in 20480 tokens. Please reduce the length of the messages.",
		16_385,
		20_480,
	],
	[
		"OpenRouter",
		"This endpoint's maximum context length is 131072 tokens. However, you requested about 200000 tokens (160000 of text input, 8000 of tool input, 32000 in the output). Please reduce the length of either one.",
		131_072,
		168_000,
	],
	["OpenRouter, cut short", "This endpoint's maximum context length is 131072 tokens.", 131_072],
	["a server with advice", "The maximum context length is 131072 tokens. Ask for 4096 tokens or less.", 131_072],
	[
		"SambaNova",
		"The maximum context length of Llama-3.1 is 16384. However, answering your request will take 20000 tokens.",
		16_384,
		20_000,
	],
	[
		"OpenRouter, from Poolside",
		"Input length 140000 exceeds the maximum allowed input length of 131040 tokens.",
		131_040,
		140_000,
	],
	[
		"LiteLLM",
		"litellm.BadRequestError: Requested token count exceeds the model's maximum context length of 131072 tokens.",
		131_072,
	],
	[
		"LiteLLM, before the call",
		"litellm.ContextWindowExceededError: litellm.BadRequestError: Context Window exceeded for given call.",
	],
	[
		"SGLang",
		"Requested token count exceeds the model's maximum context length of 131072 tokens. You requested a total of 150000 tokens: 140000 tokens from the input messages and 10000 tokens for the completion.",
		131_072,
		140_000,
	],
	["vLLM", "Input length (265330) exceeds model's maximum context length (262144).", 262_144, 265_330],
	[
		"vLLM, the answer does not fit",
		"'max_tokens' or 'max_completion_tokens' is too large: 64000. This model's maximum context length is 131072 tokens and your request has 100000 input tokens (64000 > 131072 - 100000).",
		131_072,
		100_000,
	],
	[
		"vLLM, what was passed",
		"You passed 40001 input tokens and requested 0 output tokens. However, the model's context length is only 40000 tokens, resulting in a maximum input length of 40000 tokens.",
		40_000,
		40_001,
	],
	[
		"vLLM, with what was asked first",
		"This model's maximum context length is 8192 tokens. However, you requested 1000 output tokens and your prompt contains at least 7193 input tokens, for a total of at least 8193 tokens.",
		8_192,
		7_193,
	],
	[
		"vLLM, decoder prompt",
		"The decoder prompt (length 40000) is longer than the maximum model length of 32768.",
		32_768,
		40_000,
	],
	[
		"Google",
		"The input token count (1196265) exceeds the maximum number of tokens allowed (1048575).",
		1_048_575,
		1_196_265,
	],
	[
		"Google, the window only",
		"The input token count exceeds the maximum number of tokens allowed (1048576).",
		1_048_576,
	],
	[
		"Vertex",
		"Unable to submit request because the input token count is 1200000 but model only supports up to 1048576.",
		1_048_576,
		1_200_000,
	],
	["Bedrock", "Validation error: Input is too long for requested model."],
	[
		"Bedrock, with figures",
		"ValidationException: 400 Bad Request: Too many input tokens. Max input tokens: 8192, request input token count: 9001",
		8_192,
		9_001,
	],
	["Bedrock, Nova", "Input Tokens Exceeded: Number of input tokens exceeds maximum length."],
	["xAI", "This model's maximum prompt length is 131072 but the request contains 537812 tokens.", 131_072, 537_812],
	["Groq", "400 Please reduce the length of the messages or completion."],
	[
		"Cerebras",
		"Please reduce the length of the messages or completion. Current length is 10500 while limit is 8192",
		8_192,
		10_500,
	],
	[
		"Together",
		"The input (140000 tokens) is longer than the model's context length (131072 tokens).",
		131_072,
		140_000,
	],
	[
		"Together, older",
		"`inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 1000 `max_new_tokens`",
		8_193,
		9_000,
	],
	["Fireworks", "The prompt is too long: 140000, model maximum context length: 131071", 131_071, 140_000],
	["llama.cpp", "the request exceeds the available context size, try increasing it"],
	[
		"llama.cpp, with figures",
		"400 request (155000 tokens) exceeds the available context size (130048 tokens), try increasing it",
		130_048,
		155_000,
	],
	[
		"llama.cpp, as fields",
		'{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error","n_prompt_tokens":155000,"n_ctx":130048}}',
		130_048,
		155_000,
	],
	["llama.cpp, the share of a slot", "500 context shift is off: 155000 / 4 > 32768", 32_768, 155_000],
	["llama.cpp, server error", "500 Context size has been exceeded."],
	["llama.cpp, type only", '400: {"type":"exceed_context_size_error"}'],
	["a bare comparison", "input does not fit: 155000 > 130,048", 130_048, 155_000],
	["LM Studio", "The number of tokens to keep from the initial prompt is greater than the context length."],
	[
		"LM Studio, with figures",
		"Trying to keep the first 20480 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough.",
		4_096,
		20_480,
	],
	[
		"LM Studio, in the middle of an answer",
		"Reached context length of 4096 tokens with model that does not support overflow",
		4_096,
	],
	["Copilot", "400 prompt token count of 135250 exceeds the limit of 128000", 128_000, 135_250],
	["Copilot, in bytes", 'github-copilot API error (413): {"message":"failed to parse request","code":""}'],
	["MiniMax", "invalid params, context window exceeds limit (2013)"],
	["Kimi", "Your request exceeded model token limit: 262144 (requested: 300000)", 262_144, 300_000],
	["Kimi, without the request", "Invalid request: Your request exceeded model token limit: 8192", 8_192],
	["DS4", "Prompt has 140000 tokens, but the configured context size is 131072 tokens", 131_072, 140_000],
	[
		"Mistral",
		"Prompt contains 140000 tokens and 0 draft tokens, too large for model with 131072 maximum context length",
		131_072,
		140_000,
	],
	["z.ai", '400: {"error":{"code":"1261","message":"Prompt too long"}}'],
	["z.ai, Chinese endpoint", '400: {"error":{"code":"1261","message":"Prompt 超长"}}'],
	["z.ai, as words", "Prompt exceeds max length"],
	["z.ai and Xiaomi, as finish reason", "Provider finish_reason: model_context_window_exceeded"],
	["DashScope", "400 <400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 129024]", 129_024],
	["Ollama", "prompt too long; exceeded max context length by 3000 tokens"],
	["Ollama, embedded", "500 the input length exceeds the context length"],
	["Cohere", "too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 5500.", 4_081, 5_500],
	["watsonx", "the number of input tokens 5000 cannot exceed the total tokens limit 4096 for this model", 4_096, 5_000],
	[
		"text-generation-inference",
		"Input validation error: `inputs` must have less than 4095 tokens. Given: 5000",
		4_095,
		5_000,
	],
	[
		"Cloudflare",
		"The estimated number of input and maximum output tokens (40000) exceeded this model context window limit (32768).",
		32_768,
		40_000,
	],
	["a proxy", "Upstream refused: request exceeds context window of 65,536 tokens", 65_536],
	["Codex", "Codex ran out of room in the model's context window."],
	["a server of an unknown kind", "token limit exceeded"],
	["a server of few words", "Too many tokens"],
	["a server of one word", "request_too_large"],
	["z.ai, number only", '{"error":{"code":"1261","message":""}}'],
	["z.ai, Chinese words only", "Prompt 超长"],
	["Copilot, code only", '400: {"code":"model_max_prompt_tokens_exceeded"}'],
];

const suspects: readonly string[] = [
	"400 status code (no body)",
	"413 status code (no body)",
	"OpenAI API error (413): 413 status code (no body)",
	"400 (no body)",
	"(no status code or body)",
	"400 Bad Request",
	"Request failed with status code 400",
	"500 status code (no body)",
	"500 Internal Server Error",
	"502: <html><head><title>502 Bad Gateway</title></head></html>",
	"<html><head><title>504 Gateway Time-out</title></head></html>",
	'503 {"error":{"message":"no healthy upstream"}}',
	'{"error":{"code":500,"status":"INTERNAL"}}',
	"OpenAI API error (520): unknown",
	"HTTP 524",
	"upstream responded with 502",
	"Service unavailable: try later",
	'{"type":"error","error":{"type":"api_error","message":"Internal server error"}}',
	"The server had an error while processing your request: server_error",
	"Anthropic stream ended before message_stop",
	"Stream ended without finish_reason",
	"WebSocket stream closed before response.completed",
	"stream disconnected before completion",
	"upstream_stream_read_error",
	"peer closed while reading",
	"other side closed",
	"the server closed the connection",
	"socket was closed",
	"answer ended without a terminal event",
	"incomplete chunked read",
	"reset before headers",
	"Internal server error",
	"Bad Gateway",
	"Premature close",
	"unexpected EOF",
	"Unexpected end of JSON input",
	"peer closed connection without sending complete message body (incomplete chunked read)",
	"terminated",
	"terminated: other side closed",
	"read ECONNRESET",
	"Connection closed.",
	"connection reset by peer",
	"Network connection lost.",
	"The socket connection was closed unexpectedly",
	"socket hang up",
	"Provider finish_reason: network_error",
	"Request timed out.",
	"408 Request Timeout",
	"The operation was aborted due to timeout",
	"Codex SSE response headers timed out after 300000ms",
	"context deadline exceeded",
	"Empty response from the model",
	"No response body",
	"Mistral response has no body",
	"litellm.ServiceUnavailableError: upstream",
	"litellm.InternalServerError: upstream",
	"The response was empty",
	"upstream connect error or disconnect/reset before headers",
	"http2 request did not get a response",
];

const others: readonly string[] = [
	"429 Too Many Requests",
	"429 status code (no body)",
	'429: {"error":{"message":"prompt is too long: 213462 tokens > 200000 maximum"}}',
	'529 {"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}',
	"529 status code (no body)",
	"503 The model is overloaded. Please try again later.",
	"503 Our servers are currently experiencing high demand",
	"Throttling error: Too many tokens, please wait before trying again.",
	"ThrottlingException: Too many tokens, please wait before trying again.",
	"Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 35000. The input or output tokens must be reduced.",
	"413 Request too large for model `x` on tokens per minute (TPM): Limit 6000, Requested 12000, please reduce your message size",
	"This request would exceed your organization's rate limit of 40,000 input tokens per minute",
	"RESOURCE_EXHAUSTED: Resource has been exhausted",
	"503 server is busy",
	"503 Our servers are currently busy",
	"503 this model is at capacity",
	"503 rate_limit_error",
	"503 too many requests",
	"throttled: too many tokens",
	"Too many tokens, please wait",
	"503 resource exhausted",
	"too many tokens per minute",
	"too many tokens: TPM",
	"503 quota reached",
	"503 see billing",
	"503 no credits",
	"503 insufficient_balance",
	"Daily token limit exceeded",
	"You exceeded your current quota, please check your plan and billing details",
	"This request requires more credits. You requested up to 65535 tokens, but can only afford 1234.",
	"402 insufficient balance",
	"401 Unauthorized",
	"403 status code (no body)",
	"401: your account has been terminated",
	"402 status: terminated",
	"403: connection closed",
	"authentication timed out",
	"Request was aborted",
	"Request was aborted.",
	"Request was aborted: socket hang up",
	"Aborted: connection closed",
	"AbortError: stream cancelled",
	"The user aborted a stream: terminated",
	"The operation was aborted",
	"Stream aborted by user",
	"Response terminated by content_filter",
	"Provider finish_reason: content_filter",
	"400 Invalid value for 'tool_choice'",
	'400: {"error":{"message":"timeout must be a number"}}',
	"404 model not found",
	"422 Unprocessable Entity",
	"invalid_request_error: timeout must be a number",
	"prompt: max_tokens: 100000 > 64000",
	"prompt of a size: 100000 > 64000, which is the maximum allowed number of output tokens",
	"400 max_tokens is too large: 200000. This model supports at most 128000 completion tokens",
	"invalid request: max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens",
	"output token limit exceeded",
	"messages.0.content.1.image.source.base64: image exceeds 5 MB maximum: 6000000 bytes > 5242880 bytes",
	"Invalid 'messages[0].tool_calls[0].id': string too long. Expected a string with maximum length 40",
	"too many images: 101 > 100",
	"Range of max_tokens should be [1, 8192]",
	"line 500 of the template is wrong",
	"500 lines of the template are wrong",
	"unexpected token at position 502",
	"tool call 413 has no result",
	"model gpt-500 is unknown",
	"exit code 500",
	"An unknown error occurred",
	"",
];

describe("the failure of a request", () => {
	const named = overflows.map(([dialect, text, limitTokens, requestedTokens]) => {
		return { dialect, text, failure: { kind: "overflow", limitTokens, requestedTokens } };
	});

	it.each(named)("is an overflow in the words of $dialect", ({ text, failure }) => {
		expect(failureOf(text)).toEqual(failure);
	});

	it.each(suspects)("may be an overflow: %s", (text) => {
		expect(failureOf(text)).toEqual({ kind: "suspect" });
	});

	it.each(others)("is something else: %s", (text) => {
		expect(failureOf(text)).toBeUndefined();
	});

	it("is read whatever the case of its letters", () => {
		for (const [, text] of overflows) {
			expect(failureOf(text.toUpperCase())).toEqual(failureOf(text));
		}
	});

	it("is read from its beginning only", () => {
		expect(failureOf(`${"x".repeat(20_000)} prompt is too long`)).toBeUndefined();
	});
});

describe("the figures of an overflow", () => {
	it.each([
		["below a thousand", "999"],
		["above a hundred million", "100000001"],
		["of endless digits", "9".repeat(31)],
	])("are none if they are %s", (_, figure) => {
		const figures = (limit: string, requested: string) =>
			failureOf(`prompt is too long: ${requested} tokens > ${limit}`);
		expect(figures(figure, "200000")).toMatchObject({ kind: "overflow", limitTokens: undefined });
		expect(figures("100000", figure)).toMatchObject({ kind: "overflow", requestedTokens: undefined });
	});

	it("are believed at the bounds", () => {
		expect(failureOf("prompt is too long: 100,000,000 tokens > 1000 maximum")).toEqual({
			kind: "overflow",
			limitTokens: 1_000,
			requestedTokens: 100_000_000,
		});
	});

	it("are none if they count bytes or characters", () => {
		for (const unit of ["bytes", " bytes", "KB", " MiB", " characters"]) {
			expect(failureOf(`Input length (300000${unit}) exceeds the maximum of 200000${unit}`)).toEqual({
				kind: "overflow",
				limitTokens: undefined,
				requestedTokens: undefined,
			});
		}
	});

	it("are none if the answer's share is larger than the whole", () => {
		const text = "maximum context length is 8192 tokens, you requested 9000 tokens (10000 in the completion)";
		expect(failureOf(text)).toEqual({ kind: "overflow", limitTokens: 8_192, requestedTokens: undefined });
	});
});

describe("any text", () => {
	const words = fc.constantFrom(...overflows.flatMap(([, text]) => text.split(" ")), ...suspects, ...others);
	const figure = (tokens: number | undefined) =>
		tokens === undefined || (Number.isInteger(tokens) && tokens >= 1_000 && tokens <= 100_000_000);

	it("is read without a throw, and its figures are believable", () => {
		const text = fc.oneof(
			fc.string({ unit: "binary" }),
			fc.array(words, { maxLength: 40 }).map((list) => list.join(" ")),
		);
		fc.assert(
			fc.property(text, (one) => {
				const failure = failureOf(one);
				if (failure?.kind !== "overflow") return;
				expect([failure.limitTokens, failure.requestedTokens].every(figure)).toBe(true);
			}),
			{ seed: 20_261_201 },
		);
	});
});
