/** A run of text. Fields of the host beside these (signatures, ids) travel along untouched. */
export interface TextPart {
	readonly type: "text";
	readonly text: string;
}

/** What a model thought; with a signature it may only be sent back byte for byte. */
export interface ThinkingPart {
	readonly type: "thinking";
	readonly thinking: string;
	readonly thinkingSignature?: string;
}

/** An image as base64. */
export interface ImagePart {
	readonly type: "image";
	readonly data: string;
	readonly mimeType: string;
}

/** A call of a tool by the model. */
export interface ToolCallPart {
	readonly type: "toolCall";
	readonly id: string;
	readonly name: string;
	readonly arguments: Readonly<Record<string, unknown>>;
}

/** A part of a kind unknown to us. */
export interface OpaquePart {
	readonly type: string;
}

export type Part = TextPart | ThinkingPart | ImagePart | ToolCallPart | OpaquePart;

/** Token counts as a provider reports them for one request. */
export interface Usage {
	readonly input: number;
	readonly output: number;
	readonly cacheRead: number;
	readonly cacheWrite: number;
	readonly totalTokens: number;
}

/**
 * One message of a conversation. The shape is structural: a host's message with more fields is one, and keeps them
 * through every change made here. Roles: system, user, assistant, toolResult, custom (user on the wire), or unknown.
 */
export interface Message {
	readonly role: string;
	readonly content: string | readonly Part[];
	/** Milliseconds since the epoch. */
	readonly timestamp: number;
	readonly toolCallId?: string;
	readonly toolName?: string;
	readonly isError?: boolean;
	readonly details?: unknown;
	readonly stopReason?: string;
	/** What went wrong where `stopReason` is "error". */
	readonly errorMessage?: string;
	readonly provider?: string;
	readonly model?: string;
	readonly usage?: Usage;
}

export function isText(part: Part): part is TextPart {
	return part.type === "text" && "text" in part && typeof part.text === "string";
}

export function isThinking(part: Part): part is ThinkingPart {
	return part.type === "thinking" && "thinking" in part && typeof part.thinking === "string";
}

export function isImage(part: Part): part is ImagePart {
	return part.type === "image" && "data" in part && typeof part.data === "string";
}

export function isToolCall(part: Part): part is ToolCallPart {
	return part.type === "toolCall" && "id" in part && "name" in part && typeof part.name === "string";
}

/** The content as parts, whichever of the two forms it has. */
export function parts(message: Message): readonly Part[] {
	return typeof message.content === "string" ? [{ type: "text", text: message.content }] : message.content;
}

/** All text of a message, its text parts joined by newlines. */
export function textOf(message: Message): string {
	if (typeof message.content === "string") return message.content;
	return message.content
		.filter(isText)
		.map((part) => part.text)
		.join("\n");
}

/** The calls an assistant message makes. */
export function toolCalls(message: Message): readonly ToolCallPart[] {
	return message.role === "assistant" && typeof message.content !== "string" ? message.content.filter(isToolCall) : [];
}

/** One argument of a call; undefined where a damaged log holds no arguments at all. */
export function argumentOf(call: ToolCallPart, name: string): unknown {
	return call.arguments?.[name];
}

/** The file that a call names; undefined if it names none. */
export function pathOf(call: ToolCallPart): string | undefined {
	const path = argumentOf(call, "path") ?? argumentOf(call, "file_path");
	return typeof path === "string" && path !== "" ? path : undefined;
}

/** True if nothing in the message would reach a model: no image, no call, and only blank text. */
export function isEmpty(message: Message): boolean {
	return parts(message).every((part) => isText(part) && !/\S/.test(part.text));
}

/** The message with `change` applied to each of its texts; the same message if no text changed. */
export function mapText(message: Message, change: (text: string) => string): Message {
	if (typeof message.content !== "string") return mapParts(message, (part) => mapTextPart(part, change));
	const text = change(message.content);
	return text === message.content ? message : { ...message, content: text };
}

function mapTextPart(part: Part, change: (text: string) => string): Part {
	if (!isText(part)) return part;
	const text = change(part.text);
	return text === part.text ? part : { ...part, text };
}

/** The message with `change` applied to each of its parts; the same message if no part changed, or if it has none. */
export function mapParts(message: Message, change: (part: Part) => Part): Message {
	const { content } = message;
	if (typeof content === "string") return message;
	const changed = content.map(change);
	return changed.every((part, index) => part === content[index]) ? message : { ...message, content: changed };
}

/** The message with a line added at the end of its last text part, or as a text part of its own if it has none. */
export function appendLine(message: Message, line: string): Message {
	const content = message.content;
	if (typeof content === "string") return { ...message, content: joinLine(content, line) };
	const last = content.findLastIndex(isText);
	const part = content[last];
	if (part === undefined || !isText(part)) return { ...message, content: [...content, { type: "text", text: line }] };
	return { ...message, content: content.with(last, { ...part, text: joinLine(part.text, line) }) };
}

function joinLine(text: string, line: string): string {
	return text === "" ? line : `${text}\n${line}`;
}
