import { type Message, type Part, parts } from "./message.ts";

/**
 * The messages for providers that refuse two user messages in a row, or one after a tool result. What we add of our own,
 * told by `isOurs`, becomes text at the start of the user message right after it, else at the end of the user message or
 * tool result right before it; where neither is there, neighbours of ours become one message.
 */
export function alternate(messages: readonly Message[], isOurs: (message: Message) => boolean): readonly Message[] {
	const merged: Message[] = [];
	let ours: Message[] = [];
	const close = (next: Message | undefined) => {
		const [first] = ours;
		const texts = ours.flatMap(parts);
		ours = [];
		if (first === undefined) return next;
		if (next !== undefined && isUser(next)) return withParts(next, [...texts, ...parts(next)]);
		const before = merged.at(-1);
		if (before !== undefined && (isUser(before) || before.role === "toolResult")) {
			merged[merged.length - 1] = withParts(before, [...parts(before), ...texts]);
		} else merged.push(texts.length === 1 ? first : withParts(first, texts));
		return next;
	};
	for (const message of messages) {
		if (isOurs(message)) ours.push(message);
		else merged.push(close(message) ?? message);
	}
	close(undefined);
	return merged;
}

/** Whatever is neither the system's, the assistant's nor a tool's goes on the wire as the user's. */
function isUser({ role }: Message): boolean {
	return role !== "system" && role !== "assistant" && role !== "toolResult";
}

function withParts(message: Message, content: readonly Part[]): Message {
	return { ...message, content };
}
