import { expect } from "vitest";
import type { RecordedRequest, WireMessage } from "./provider.ts";

/** A call of a tool on the wire of chat-completions. */
export interface WireCall {
	id: string;
	function: { name: string; arguments: string };
}

/** The texts of a message on the wire, whichever form its content has. */
export function textsOf(message: WireMessage | undefined): readonly string[] {
	if (typeof message?.content === "string") return [message.content];
	if (!Array.isArray(message?.content)) return [];
	return message.content.flatMap((part: unknown) =>
		typeof part === "object" && part !== null && "text" in part && typeof part.text === "string" ? [part.text] : [],
	);
}

/** All text of a message on the wire. */
export function textOf(message: WireMessage | undefined): string {
	return textsOf(message).join("\n");
}

/** The ids of the blocks a request shows, in order. */
export function blocksIn(request: RecordedRequest | undefined): readonly string[] {
	return messagesOf(request)
		.flatMap(textsOf)
		.flatMap((text) => /^<acp-block id="(b\d+)"/.exec(text)?.[1] ?? []);
}

/** What stands where in a request: the role of each message with its tag, a block by its id, or `nudge`. */
export function outline(request: RecordedRequest | undefined): readonly string[] {
	return messagesOf(request).map((message) => {
		if (isNudge(message)) return "nudge";
		const text = textOf(message);
		const block = /^<acp-block id="(b\d+)"/.exec(text)?.[1];
		const ref = /\n?<acp>(m\d{5,})<\/acp>$/.exec(text)?.[1];
		return block ?? (ref === undefined ? message.role : `${message.role} ${ref}`);
	});
}

/** True if the request ends with a nudge. */
export function hasNudge(request: RecordedRequest | undefined): boolean {
	const last = messagesOf(request).at(-1);
	return last !== undefined && isNudge(last);
}

/** The messages as bytes, one string each: the nudge left out, and cache markers, which move with the last message. */
export function stableLines(request: RecordedRequest | undefined): readonly string[] {
	const withoutMarkers = (key: string, value: unknown) => (key === "cache_control" ? undefined : value);
	return messagesOf(request)
		.filter((message) => !isNudge(message))
		.map((message) => JSON.stringify(message, withoutMarkers));
}

/** Fails unless each request, without its nudge, is a prefix of the next one byte for byte. */
export function expectGrowth(requests: readonly RecordedRequest[]): void {
	expect(requests.length).toBeGreaterThan(1);
	for (const [index, request] of requests.slice(1).entries()) {
		const before = stableLines(requests[index]);
		expect(stableLines(request).slice(0, before.length), `request ${request.index}`).toEqual(before);
	}
}

/** Fails unless every call is followed directly by its results, and nothing else claims to be a result. */
export function expectWholePairs(request: RecordedRequest | undefined): void {
	let waiting: string[] = [];
	for (const message of messagesOf(request)) {
		if (message.role === "tool") {
			expect(waiting).toContain(message.tool_call_id);
			waiting = waiting.filter((id) => id !== message.tool_call_id);
			continue;
		}
		expect(waiting).toEqual([]);
		waiting = callsOf(message).map((call) => call.id);
	}
	expect(waiting).toEqual([]);
}

/** The calls of a message on the wire of chat-completions. */
export function callsOf(message: WireMessage | undefined): readonly WireCall[] {
	return (message?.tool_calls ?? []) as WireCall[];
}

/** The names of the tools that a request declares. */
export function toolNames(request: RecordedRequest | undefined): readonly string[] {
	const tools = (request?.body.tools ?? []) as { function: { name: string } }[];
	return tools.map((tool) => tool.function.name);
}

/** The result of the latest call in a request, its tag left out. */
export function lastResult(request: RecordedRequest | undefined): string {
	const result = messagesOf(request).findLast((message) => message.role === "tool");
	return textOf(result).replace(/\n<acp>m\d+<\/acp>$/, "");
}

/** The system prompt. */
export function systemText(request: RecordedRequest | undefined): string {
	return textOf(messagesOf(request)[0]);
}

function messagesOf(request: RecordedRequest | undefined): readonly WireMessage[] {
	return request?.body.messages ?? [];
}

function isNudge(message: WireMessage): boolean {
	return message.role === "user" && textOf(message).startsWith("[acp] The context holds");
}
