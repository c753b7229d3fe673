import { isObject } from "./json.ts";
import { isToolCall, type Message, mapParts, mapText, type Part, type ToolCallPart } from "./message.ts";
import { messageRef } from "./ref.ts";

/** What stands after the head of a text that is cut; another copy of us may have cut it already. */
const cutMark = "\n[… ";

/** Fields by which a provider knows a part again; a message that has one may only be sent as it came, or not at all. */
const signatureNames: ReadonlySet<string> = new Set([
	"thinkingSignature",
	"textSignature",
	"thoughtSignature",
	"signature",
]);

/** True if a part of the message is signed. */
export function isSigned({ content }: Message): boolean {
	return typeof content !== "string" && content.some(isSignedPart);
}

function isSignedPart(part: Part): boolean {
	return Object.entries(part).some(([name, value]) => signatureNames.has(name) && Boolean(value));
}

/**
 * The message with its long texts cut to head and tail and a pointer to the whole: text parts, and the strings in the
 * arguments of calls. The same message if nothing in it is long, or if it is signed.
 */
export function cutMessage(message: Message, ordinal: number, keepChars: number): Message {
	if (isSigned(message)) return message;
	const cut = (text: string) => cutText(text, ordinal, keepChars);
	return mapInputs(mapText(message, cut), cut);
}

/** The message with `change` applied to each string in the arguments of the calls meant; the same message if it is signed. */
export function mapInputs(
	message: Message,
	change: (text: string) => string,
	isMeant: (call: ToolCallPart) => boolean = () => true,
): Message {
	if (isSigned(message)) return message;
	return mapParts(message, (part) => {
		if (!isToolCall(part) || !isMeant(part)) return part;
		const changed = mapStrings(part.arguments, change);
		return changed === part.arguments ? part : { ...part, arguments: changed };
	});
}

function cutText(text: string, ordinal: number, keepChars: number): string {
	if (text.length <= 2 * keepChars || text.startsWith(cutMark, keepChars)) return text;
	const left = text.length - 2 * keepChars;
	const hint = `${cutMark}${left} characters left out; decompress({ id: "${messageRef(ordinal)}" }) shows all …]`;
	return `${text.slice(0, keepChars)}${hint}\n${text.slice(-keepChars)}`.toWellFormed();
}

/** A value with `change` applied to every string in it; the same value if no string changed. */
export function mapStrings(value: unknown, change: (text: string) => string): unknown {
	if (typeof value === "string") return change(value);
	if (Array.isArray(value)) {
		const mapped = value.map((each) => mapStrings(each, change));
		return mapped.some((each, index) => each !== value[index]) ? mapped : value;
	}
	if (!isObject(value)) return value;
	const mapped = Object.entries(value).map(([name, each]) => [name, mapStrings(each, change)] as const);
	return mapped.some(([name, each]) => each !== value[name]) ? Object.fromEntries(mapped) : value;
}
