import { isEmpty, type Message } from "../message.ts";
import { messageTokens } from "../meter/size.ts";
import { filterMessage, reductionsOf } from "../reductions.ts";
import type { Stage } from "../view.ts";

/** What a tool result without any output says, and any other message without content: some providers refuse them. */
const noOutput = "(no output: tool interrupted or timed out)";
const noContent = "(empty)";

/** Fills what is empty, then applies the rules of content that commits recorded. */
export const filter: Stage = (view, { branch }) => ({
	...view,
	items: view.items.map((item) => {
		if (item.kind !== "entry") return item;
		const { record } = item;
		const filled = filtered(item.message, item.isTagged);
		const message = filterMessage(filled, record.ordinal, reductionsOf(branch, record));
		const sizeTokens = filled === item.message ? item.sizeTokens : messageTokens(message);
		return message === item.message ? item : { ...item, message, sizeTokens };
	}),
});

/** A message with a text in place of nothing; the same object if it holds something, is the model's own, or has a tag to hold. */
export function filtered(message: Message, isTagged: boolean): Message {
	const { role } = message;
	if (role === "assistant" || role === "system" || !isEmpty(message)) return message;
	if (role === "toolResult") return { ...message, content: [{ type: "text", text: noOutput }] };
	return isTagged ? message : { ...message, content: [{ type: "text", text: noContent }] };
}
