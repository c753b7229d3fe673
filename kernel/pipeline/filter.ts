import { isEmpty, type Message } from "../message.ts";
import { messageTokens } from "../meter/size.ts";
import type { Stage } from "../view.ts";

/** A change of one message that depends on nothing but that message, so that it is the same in every request. */
type Rule = (message: Message) => Message;

/** What a tool result without any output says; some providers refuse empty content. */
const noOutput = "(no output: tool interrupted or timed out)";

const fillEmptyResult: Rule = (message) =>
	message.role === "toolResult" && isEmpty(message)
		? { ...message, content: [{ type: "text", text: noOutput }] }
		: message;

const rules: readonly Rule[] = [fillEmptyResult];

/** Applies the rules of content, in order. */
export const filter: Stage = (view) => ({
	...view,
	items: view.items.map((item) => {
		if (item.kind !== "entry") return item;
		const message = filtered(item.message);
		return message === item.message ? item : { ...item, message, sizeTokens: messageTokens(message) };
	}),
});

/** A message after the rules of content; the same object if none of them changes it. */
export function filtered(message: Message): Message {
	return rules.reduce((changed, rule) => rule(changed), message);
}
