import { describe, expect, it } from "vitest";
import type { Message, Part } from "../../../kernel/message.ts";
import { estimateImageTokens, estimateTokens } from "../../../kernel/meter/estimate.ts";
import { messageTokens } from "../../../kernel/meter/size.ts";

function tokens(content: Message["content"], role = "assistant"): number {
	return messageTokens({ role, content, timestamp: 1 });
}

const frameTokens = tokens([]);

describe("the tokens of a message", () => {
	it("are those of its frame and its parts", () => {
		const image: Part = { type: "image", data: "aGk=", mimeType: "image/png" };
		const call: Part = { type: "toolCall", id: "c", name: "read", arguments: { path: "a" } };
		const odd: Part = { type: "audio" };
		const thinking: Part = { type: "thinking", thinking: "let me see" };
		expect(tokens("hello world")).toBe(frameTokens + estimateTokens("hello world"));
		expect(tokens([{ type: "text", text: "hello world" }])).toBe(tokens("hello world"));
		expect(tokens([thinking])).toBe(frameTokens + estimateTokens("let me see"));
		expect(tokens([image])).toBe(frameTokens + estimateImageTokens({ data: "aGk=", mimeType: "image/png" }));
		expect(tokens([call])).toBe(frameTokens + estimateTokens("read") + estimateTokens('{"path":"a"}'));
		expect(tokens([odd])).toBe(frameTokens + estimateTokens('{"type":"audio"}'));
		expect(tokens([thinking, image, call, odd])).toBe(
			[[thinking], [image], [call], [odd]].reduce((sum, each) => sum + tokens(each) - frameTokens, frameTokens),
		);
	});

	it("are whole numbers, as the log wants them", () => {
		for (const text of ["", "a", "hello", "你好世界", "x".repeat(1_001)]) {
			expect(Number.isSafeInteger(tokens(text))).toBe(true);
		}
	});

	it("of a system message count all its fields", () => {
		const plain: Message = { role: "system", content: "", timestamp: 1 };
		const full = { ...plain, sections: { rules: "a very long rule ".repeat(50) } };
		expect(messageTokens(full) - messageTokens(plain)).toBeGreaterThan(100);
	});

	it("survive a call without arguments", () => {
		const call = JSON.parse('{"type":"toolCall","id":"c","name":"read"}');
		expect(tokens([call])).toBe(frameTokens + estimateTokens("read"));
	});
});
