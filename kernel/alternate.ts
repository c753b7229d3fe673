import { type Message, type Part, parts } from "./message.ts";

/** What a message is to the one that merges: ours, one that never reaches the wire, or any other. */
export type Origin = "ours" | "unsent" | "other";

/**
 * The messages for providers that refuse two user messages in a row, or one after a tool result. What we add of our own
 * becomes text at the start of the user message right after it, else at the end of the user message or tool result right
 * before it; where neither is there, neighbours of ours become one message. Where what was between two user messages is
 * folded, they become one message, too, with the block between their texts.
 */
export function alternate(messages: readonly Message[], originOf: (message: Message) => Origin): readonly Message[] {
	const merged = new Merged();
	let ours: readonly Message[] = [];
	for (const message of messages) {
		const origin = originOf(message);
		if (origin === "ours") ours = [...ours, message];
		else if (origin === "unsent") merged.pass(message);
		else {
			merged.add(message, ours);
			ours = [];
		}
	}
	merged.end(ours);
	return merged.messages;
}

class Merged {
	readonly messages: Message[] = [];
	/** The place of the last message that reaches the wire. */
	#last = -1;

	/** A message that never reaches the wire: whatever is before it stays the last that does. */
	pass(message: Message): void {
		this.messages.push(message);
	}

	/** A message with what of ours stands right before it. */
	add(message: Message, ours: readonly Message[]): void {
		const before = this.messages[this.#last];
		if (ours.length > 0 && isUser(message)) {
			const content = [...ours.flatMap(parts), ...parts(message)];
			if (before !== undefined && isUser(before)) this.#extendLast(before, content);
			else this.#push({ ...message, content });
			return;
		}
		this.end(ours);
		this.#push(message);
	}

	/** What of ours has no user message right after it. */
	end(ours: readonly Message[]): void {
		const [first] = ours;
		if (first === undefined) return;
		const before = this.messages[this.#last];
		const content = ours.flatMap(parts);
		if (before !== undefined && takesText(before)) this.#extendLast(before, content);
		else this.#push(content.length === 1 ? first : { ...first, content });
	}

	#push(message: Message): void {
		this.#last = this.messages.push(message) - 1;
	}

	#extendLast(before: Message, content: readonly Part[]): void {
		this.messages[this.#last] = { ...before, content: [...parts(before), ...content] };
	}
}

function takesText(message: Message): boolean {
	return isUser(message) || message.role === "toolResult";
}

/** Whatever is neither the system's, the assistant's nor a tool's goes on the wire as the user's. */
function isUser({ role }: Message): boolean {
	return role !== "system" && role !== "assistant" && role !== "toolResult";
}
