import { describe, expect, it } from "vitest";
import { type Message, type Part, textOf, toolCalls } from "../../kernel/message.ts";
import { cutMessage, isSigned } from "../../kernel/reduce.ts";

const long = `${"a".repeat(300)}${"b".repeat(300)}`;
const cutLong = `${"a".repeat(100)}\n[… 400 characters left out; decompress({ id: "m00007" }) shows all …]\n${"b".repeat(100)}`;
const image: Part = { type: "image", data: "aGk=", mimeType: "image/png" };

function assistant(...content: readonly (Part & Record<string, unknown>)[]): Message {
	return { role: "assistant", content, timestamp: 1 };
}

function call(args: unknown, over: Record<string, unknown> = {}) {
	return { type: "toolCall", id: "c1", name: "write", arguments: args, ...over };
}

function argumentsOf(message: Message): unknown {
	return toolCalls(cutMessage(message, 7, 100))[0]?.arguments;
}

describe("cutting a message", () => {
	it("keeps head and tail of a long text and says how all of it is shown", () => {
		expect(cutMessage({ role: "user", content: long, timestamp: 1 }, 7, 100).content).toBe(cutLong);
	});

	it("cuts each long text part and leaves short ones, images and parts of unknown kind as they are", () => {
		const other = { type: "data-x", text: long };
		const message = {
			role: "toolResult",
			content: [{ type: "text", text: long }, image, { type: "text", text: "b" }, other],
			timestamp: 1,
		};
		const cut = cutMessage(message, 7, 100);
		expect(cut.content).toEqual([{ type: "text", text: cutLong }, image, { type: "text", text: "b" }, other]);
		expect(cut.content[1]).toBe(image);
	});

	it("cuts the strings in the arguments of calls, however deep, and keeps the order of names", () => {
		const args = { path: "a.ts", edits: [{ old: "x", text: long }, 7, null, true], last: { lines: [long] } };
		expect(argumentsOf(assistant(call(args)))).toEqual({
			path: "a.ts",
			edits: [{ old: "x", text: cutLong }, 7, null, true],
			last: { lines: [cutLong] },
		});
		expect(Object.keys(argumentsOf(assistant(call(args))) ?? {})).toEqual(["path", "edits", "last"]);
	});

	it("gives back the same message where nothing in it is long", () => {
		for (const message of [
			{ role: "user", content: "short", timestamp: 1 },
			assistant({ type: "text", text: "short" }, call({ list: ["a", { b: "c" }] })),
			assistant(call(undefined)),
			assistant({ type: "thinking", thinking: long }),
		]) {
			expect(cutMessage(message, 7, 100)).toBe(message);
		}
	});

	it("leaves a signed message whole: a provider knows its parts again", () => {
		for (const part of [
			{ type: "thinking", thinking: "hm", thinkingSignature: "s" },
			{ type: "text", text: "so", textSignature: "s" },
			call({}, { thoughtSignature: "s" }),
			{ type: "other", signature: "s" },
		]) {
			const message = assistant(part, { type: "text", text: long }, call({ text: long }));
			expect(isSigned(message)).toBe(true);
			expect(cutMessage(message, 7, 100)).toBe(message);
		}
		const unsigned = assistant(
			{ type: "thinking", thinking: "hm", thinkingSignature: "" },
			{ type: "text", text: long },
		);
		expect(isSigned(unsigned)).toBe(false);
		expect(textOf(cutMessage(unsigned, 7, 100))).toBe(cutLong);
		expect(isSigned({ role: "user", content: "thinkingSignature", timestamp: 1 })).toBe(false);
	});

	it("cuts nothing twice by the same measure, and more by a smaller one", () => {
		const once = cutMessage({ role: "user", content: long, timestamp: 1 }, 7, 100);
		expect(cutMessage(once, 7, 100)).toBe(once);
		expect(textOf(cutMessage({ role: "user", content: long, timestamp: 1 }, 7, 10)).length).toBeLessThan(100);
	});

	it("tears no character", () => {
		const text = `${"x".repeat(99)}${"😀".repeat(400)}${"y".repeat(99)}`;
		expect(textOf(cutMessage({ role: "user", content: text, timestamp: 1 }, 7, 100)).isWellFormed()).toBe(true);
	});
});
