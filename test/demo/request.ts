import { estimateTokens } from "../../kernel/meter/estimate.ts";
import type { RecordedRequest, WireMessage } from "../support/provider.ts";

/** A call of the model as it stands in a request. */
export interface Call {
	readonly id: string;
	readonly name: string;
	readonly arguments: Readonly<Record<string, unknown>>;
}

/** A tool result in a request: its call, its text without the tag, and the number in its tag. */
export interface Result {
	readonly call: Call;
	readonly text: string;
	readonly ordinal: number;
}

/** A range that a nudge lists, as refs and as message numbers. */
export interface ListedRange {
	readonly startId: string;
	readonly endId: string;
	readonly from: number;
	readonly to: number;
}

/** What the scripted model takes from a request: nothing that a real model could not read there. */
export interface Received {
	/** Estimated tokens of everything sent: system prompt, tools and messages. */
	readonly sizeTokens: number;
	/** The share of the system prompt and the tools in it. */
	readonly fixedTokens: number;
	readonly messages: number;
	/** The user's messages in order, blocks and the nudge left out. */
	readonly prompts: readonly string[];
	readonly results: readonly Result[];
	readonly nudge: { readonly text: string; readonly ranges: readonly ListedRange[] } | undefined;
	/** The blocks in view by id, each with the whole text of its message. */
	readonly blocks: ReadonlyMap<string, string>;
}

const tagPattern = /\n?<acp>m(\d+)<\/acp>$/;

export function receive({ body }: RecordedRequest): Received {
	const [system, ...messages] = body.messages;
	const fixedTokens = estimateTokens(textOf(system)) + estimateTokens(JSON.stringify(body.tools ?? []));
	const calls = new Map(messages.flatMap(callsOf).map((call) => [call.id, call]));
	const users = messages.filter((message) => message.role === "user").map(textOf);
	const nudge = users.at(-1)?.startsWith("[acp]") ? users.pop() : undefined;
	const blocks = users.flatMap((text) => {
		const id = /^<acp-block id="(b\d+)"/.exec(text)?.[1];
		return id === undefined ? [] : [[id, text] as const];
	});
	return {
		sizeTokens: messages.reduce((sum, message) => sum + messageTokens(message), fixedTokens),
		fixedTokens,
		messages: messages.length,
		prompts: users.filter((text) => !text.startsWith("<acp-block ")).map(withoutTag),
		results: messages.flatMap((message) => resultOf(message, calls)),
		nudge: nudge === undefined ? undefined : { text: nudge, ranges: listedRanges(nudge) },
		blocks: new Map(blocks),
	};
}

function listedRanges(nudge: string): ListedRange[] {
	return [...nudge.matchAll(/startId (m(\d+)), endId (m(\d+))/g)].map(([, startId = "", from, endId = "", to]) => ({
		startId,
		endId,
		from: Number(from),
		to: Number(to),
	}));
}

function resultOf(message: WireMessage, calls: ReadonlyMap<string, Call>): Result[] {
	const call = message.role === "tool" ? calls.get(String(message.tool_call_id)) : undefined;
	if (call === undefined) return [];
	const text = textOf(message);
	return [{ call, text: withoutTag(text), ordinal: Number(tagPattern.exec(text)?.[1] ?? 0) }];
}

function callsOf(message: WireMessage): Call[] {
	const calls = (message.tool_calls ?? []) as { id: string; function: { name: string; arguments: string } }[];
	return calls.map(({ id, function: { name, arguments: json } }) => ({ id, name, arguments: JSON.parse(json) }));
}

function messageTokens(message: WireMessage): number {
	const calls = message.tool_calls === undefined ? 0 : estimateTokens(JSON.stringify(message.tool_calls));
	return estimateTokens(textOf(message)) + calls;
}

function withoutTag(text: string): string {
	return text.replace(tagPattern, "");
}

function textOf(message: WireMessage | undefined): string {
	if (typeof message?.content === "string") return message.content;
	if (!Array.isArray(message?.content)) return "";
	return message.content.map((part: { text?: string }) => part.text ?? "").join("\n");
}
