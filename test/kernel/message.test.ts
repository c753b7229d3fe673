import { describe, expect, it } from "vitest";
import {
	appendLine,
	argumentOf,
	isEmpty,
	isImage,
	isText,
	isThinking,
	isToolCall,
	type Message,
	mapText,
	type Part,
	parts,
	textOf,
	toolCalls,
} from "../../kernel/message.ts";

const image: Part = { type: "image", data: "aGk=", mimeType: "image/png" };
const thinking: Part = { type: "thinking", thinking: "hm", thinkingSignature: "s" };
const call: Part = { type: "toolCall", id: "c1", name: "read", arguments: { path: "a.ts" } };

function text(content: string): Part {
	return { type: "text", text: content };
}

function user(content: Message["content"]): Message {
	return { role: "user", content, timestamp: 1 };
}

describe("parts", () => {
	it("are told apart by type and the field that makes the type", () => {
		const kinds = [isText, isThinking, isImage, isToolCall];
		const told = [text("a"), thinking, image, call].map((part) => kinds.map((is) => is(part)));
		expect(told).toEqual(kinds.map((_, row) => kinds.map((_, column) => row === column)));
	});

	it("of a known type without its field are of no known kind", () => {
		for (const part of [
			{ type: "text" },
			{ type: "thinking" },
			{ type: "image" },
			{ type: "toolCall" },
			{ type: "x" },
		]) {
			expect([isText, isThinking, isImage, isToolCall].some((is) => is(part))).toBe(false);
		}
	});

	it("of a string are one text part", () => {
		expect(parts(user("hi"))).toEqual([text("hi")]);
		expect(parts(user([image]))).toEqual([image]);
	});
});

describe("reading a message", () => {
	it("joins its texts by newlines and leaves out everything else", () => {
		expect(textOf(user("one"))).toBe("one");
		expect(textOf(user([text("one"), image, text("two")]))).toBe("one\ntwo");
	});

	it("finds calls in assistant messages only", () => {
		const content = [text("a"), call];
		expect(toolCalls({ role: "assistant", content, timestamp: 1 })).toEqual([call]);
		expect(toolCalls(user(content))).toEqual([]);
		expect(toolCalls({ role: "assistant", content: "text", timestamp: 1 })).toEqual([]);
	});

	it("finds an argument, and none where the arguments are missing", () => {
		expect(argumentOf({ type: "toolCall", id: "c", name: "read", arguments: { path: "a" } }, "path")).toBe("a");
		const damaged = JSON.parse('{"type":"toolCall","id":"c","name":"read","arguments":null}');
		expect(argumentOf(damaged, "path")).toBeUndefined();
	});

	it("takes blank text, and only that, as empty", () => {
		for (const content of ["", " \n", [], [text(""), text("\t")]]) expect(isEmpty(user(content))).toBe(true);
		for (const content of ["a", [image], [text(""), call]]) expect(isEmpty(user(content))).toBe(false);
	});
});

describe("changing texts", () => {
	const shout = (each: string) => each.toUpperCase();

	it("changes each text and nothing else", () => {
		expect(mapText(user("a"), shout)).toEqual(user("A"));
		expect(mapText(user([text("a"), image, text("B")]), shout)).toEqual(user([text("A"), image, text("B")]));
	});

	it("returns the same message if no text changes", () => {
		for (const message of [user("A"), user([text("A"), image]), user([])])
			expect(mapText(message, shout)).toBe(message);
	});

	it("keeps fields beside the text", () => {
		const signed = { type: "text", text: "a", textSignature: "s" };
		expect(mapText(user([signed]), shout).content).toEqual([{ ...signed, text: "A" }]);
	});
});

describe("adding a line", () => {
	it("puts it at the end of a string", () => {
		expect(appendLine(user("hi"), "LINE").content).toBe("hi\nLINE");
		expect(appendLine(user(""), "LINE").content).toBe("LINE");
	});

	it("puts it at the end of the last text part, wherever that stands", () => {
		const signed = { type: "text", text: "two", textSignature: "s" };
		expect(appendLine(user([text("one"), signed, image]), "LINE").content).toEqual([
			text("one"),
			{ ...signed, text: "two\nLINE" },
			image,
		]);
	});

	it("adds a part that holds only the line where there is no text part", () => {
		expect(appendLine(user([image]), "LINE").content).toEqual([image, text("LINE")]);
		expect(appendLine(user([]), "LINE").content).toEqual([text("LINE")]);
	});

	it("leaves its argument as it was", () => {
		const message = user([text("one")]);
		appendLine(message, "LINE");
		expect(message).toEqual(user([text("one")]));
	});
});
