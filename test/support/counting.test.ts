import { describe, expect, it } from "vitest";
import { counting, countRequest, figuresIn, nudgeOf, readFigures, withoutNudge } from "./counting.ts";
import type { RecordedRequest, WireMessage } from "./provider.ts";

const status = "The view holds 18.9K (±0.3K) of 120.0K tokens.";
const nudge = "[acp] The context holds 1.2K of 120.0K tokens.";
const user = { role: "user", content: "hello world" };
const called = {
	role: "assistant",
	content: null,
	tool_calls: [{ id: "c", function: { name: "bash", arguments: "{}" } }],
};

function request(messages: WireMessage[], fields: object = {}): RecordedRequest {
	const body = { model: "scripted-1", messages, ...fields };
	return { index: 0, path: "/v1/chat/completions", headers: {}, raw: JSON.stringify(body), body };
}

const count = (...messages: WireMessage[]) => countRequest(request(messages).body);

describe("what a request counts", () => {
	it("is its texts by o200k, a frame for each message, calls and declared tools, on either API", () => {
		expect(count(user)).toBe(6);
		expect(count({ role: "user", content: [{ type: "text", text: "hello world" }] })).toBe(6);
		expect(count(called)).toBe(6);
		const use = { type: "tool_use", id: "toolu_1", name: "bash", input: {} };
		expect(count({ role: "assistant", content: [use] })).toBe(6);
		const result = { type: "tool_result", tool_use_id: "toolu_1", content: [{ type: "text", text: "hello world" }] };
		expect(count({ role: "user", content: [result] })).toBe(6);
		expect(countRequest(request([user], { system: "hello world", tools: ["hello"] }).body)).toBe(11);
	});

	it("is 1,600 for an image, whatever its length", () => {
		const url = `data:image/png;base64,${"A".repeat(1_000)}`;
		expect(count({ role: "user", content: [{ type: "image_url", image_url: { url } }] })).toBe(1_604);
		expect(count({ role: "user", content: [{ type: "image", source: { data: url } }] })).toBe(1_604);
	});
});

describe("a counting provider", () => {
	const ok = () => ({ text: "ok" });

	it("reports what it counts, or what it is told to", async () => {
		expect(await counting(ok, { factor: 2 })(request([user]))).toMatchObject({ usage: { promptTokens: 12 } });
		expect(await counting(ok, { reports: () => "zero" })(request([user]))).toMatchObject({
			usage: { promptTokens: 0 },
		});
		expect(await counting(ok, { reports: () => "nothing" })(request([user]))).toEqual({ text: "ok", usage: null });
	});

	it("refuses what is beyond its window, by OpenAI's account with the room for the answer", async () => {
		const asked = request([user], { max_completion_tokens: 5 });
		expect(await counting(ok, { windowTokens: 11 })(asked)).toMatchObject({ text: "ok" });
		expect((await counting(ok, { windowTokens: 10 })(asked)).error).toContain(
			"you requested 11 tokens (6 in the messages",
		);
		const anthropic = { words: "Anthropic" } as const;
		expect(await counting(ok, { windowTokens: 6, ...anthropic })(asked)).toMatchObject({ text: "ok" });
		const refused = await counting(ok, { windowTokens: 5, ...anthropic })(asked);
		expect(refused).toEqual({ error: "prompt is too long: 6 tokens > 5 maximum" });
		const wordless = await counting(ok, { windowTokens: 5, words: "OpenAI Responses" })(asked);
		expect(wordless).toEqual({ error: "Your input exceeds the context window of this model." });
	});
});

describe("the figures in a request", () => {
	it("are read from a status beside the count of what was in view before it", () => {
		const result = { role: "tool", tool_call_id: "c", content: `${status}\nNothing is folded.` };
		const figures = { sizeTokens: 18_900, errorTokens: 400, isErrorStated: true, wholeTokens: 120_000 };
		const countedTokens = count(user, called);
		expect(figuresIn([request([user, called, result, { role: "user", content: nudge }])])).toEqual([
			{ ...figures, countedTokens },
		]);
		const anthropic = {
			role: "user",
			content: [{ type: "tool_result", tool_use_id: "c", content: [{ type: "text", text: status }] }],
		};
		expect(figuresIn([request([user, called, anthropic])])).toEqual([{ ...figures, countedTokens }]);
		expect(figuresIn([request([user, called, { ...result, content: "hello" }])])).toEqual([]);
	});

	it("have an error of a percent where none is stated", () => {
		expect(readFigures("holds 2.0K tokens, more than the 900 that fit")).toEqual({
			sizeTokens: 2_000,
			errorTokens: 70,
			isErrorStated: false,
			wholeTokens: 900,
		});
	});

	it("leave the nudge out, whether it is a message or a part of one", () => {
		const apart = request([user, { role: "user", content: nudge }]);
		const part = (text: string) => ({ type: "text", text });
		const merged = request([{ role: "user", content: [part("hello world"), part(nudge)] }]);
		for (const nudged of [apart, merged]) {
			expect(nudgeOf(nudged)).toBe(nudge);
			expect(countRequest(withoutNudge(nudged))).toBe(6);
		}
		expect(nudgeOf(request([user]))).toBeUndefined();
	});
});
