import { afterEach, describe, expect, it } from "vitest";
import { withMarkerBefore } from "../../../src/hooks/cache-marker.ts";
import { closeAcp, openAcp } from "../../support/acp.ts";
import type { RecordedRequest } from "../../support/provider.ts";
import { expectGrowth, textOf } from "../../support/wire.ts";

afterEach(closeAcp);

const nudge = "[acp] fold these\n- m00002";
const marker = { type: "ephemeral" };
const user = (...content: object[]) => ({ role: "user", content });
const text = (text: string, more: object = {}) => ({ type: "text", text, ...more });
const marked = { cache_control: marker };

describe("the cache marker on a nudge", () => {
	it("moves to the last part of the message before it", () => {
		const result = { type: "tool_result", tool_use_id: "c1", content: "ok" };
		const messages = [user(text("hello")), user(result), user(text(nudge, marked))];
		expect(withMarkerBefore(messages, nudge)).toEqual([
			user(text("hello")),
			user({ ...result, ...marked }),
			user(text(nudge)),
		]);
	});

	it("moves to the part before it in the same message", () => {
		const messages = [user(text("hello"), text(nudge, marked))];
		expect(withMarkerBefore(messages, nudge)).toEqual([user(text("hello", marked), text(nudge))]);
	});

	it("moves to a message whose text is a string, which becomes a part", () => {
		const messages = [{ role: "tool", tool_call_id: "c1", content: "ok" }, user(text(nudge, marked))];
		expect(withMarkerBefore(messages, nudge)).toEqual([
			{ role: "tool", tool_call_id: "c1", content: [text("ok", marked)] },
			user(text(nudge)),
		]);
	});

	it("passes over parts that no provider takes it on", () => {
		const thinking = { type: "thinking", thinking: "hm", signature: "s" };
		const messages = [user(text("hello")), { role: "assistant", content: [thinking] }, user(text(nudge, marked))];
		expect(withMarkerBefore(messages, nudge)?.[0]).toEqual(user(text("hello", marked)));
	});

	it("passes over an empty text", () => {
		const messages = [user(text("hello")), { role: "assistant", content: "" }, user(text(nudge, marked))];
		expect(withMarkerBefore(messages, nudge)?.[0]).toEqual(user(text("hello", marked)));
	});

	it("moves as a part of its own in Bedrock's form", () => {
		const point = { cachePoint: { type: "default" } };
		const result = { toolResult: { toolUseId: "c1", content: [] } };
		expect(withMarkerBefore([user(result), user({ text: nudge }, point)], nudge)).toEqual([
			user(result, point),
			user({ text: nudge }),
		]);
	});

	it("leaves the result that holds the nudge where a provider demands alternation", () => {
		const result = { type: "tool_result", tool_use_id: "c1", content: [text("ok"), text(nudge)] };
		const messages = [user(text("hello")), user({ ...result, ...marked })];
		expect(withMarkerBefore(messages, nudge)).toEqual([user(text("hello", marked)), user(result)]);
	});

	it.each([
		["no message", []],
		["no nudge at the end", [user(text("hello", marked))]],
		["no marker", [user(text("hello")), user(text(nudge))]],
		["a marker before the nudge", [user(text("hello", marked), text(nudge))]],
		["messages in no known form", ["hello", user(text(nudge, marked))]],
	])("is left alone where there is %s", (_case, messages) => {
		expect(withMarkerBefore(messages, nudge)).toBeUndefined();
	});
});

/** The texts of the parts that carry a marker, in order. */
function markedTexts(request: RecordedRequest): readonly string[] {
	return request.body.messages.flatMap(({ content }) =>
		Array.isArray(content) ? content.filter((part) => "cache_control" in part).map((part) => JSON.stringify(part)) : [],
	);
}

describe("ten nudged requests over several user turns", () => {
	it("carry the marker on stable content each time", async () => {
		const acp = await openAcp({
			models: [{ api: "anthropic-messages", contextWindow: 40_000, maxTokens: 4_096 }],
			settings: { compaction: { enabled: false } },
			acp: {
				strategy: "model",
				preserveRecentMessages: 0,
				preserveRecentTokens: 0,
				compress: { keepTokens: 500, stepTokens: 500, emergencyThresholdPercent: 1 },
			},
		});
		for (let turn = 0; turn < 12; turn++) {
			acp.replies({ toolCalls: [{ name: "bash", arguments: { command: `seq ${turn} ${turn + 900}` } }] });
			acp.replies({ text: `counted ${turn}` });
			await acp.prompt(`Count from ${turn}`);
		}
		const nudged = acp.requests.filter((request) => textOf(request.body.messages.at(-1)).startsWith("[acp] "));
		expect(nudged.length).toBeGreaterThanOrEqual(10);
		for (const request of acp.requests) {
			const texts = markedTexts(request);
			expect(texts).toHaveLength(1);
			expect(texts[0]).not.toContain("[acp] ");
			expect(texts[0]).toMatch(/<acp>m\d{5}<\/acp>/);
		}
		expectGrowth(acp.requests);
	});
});
