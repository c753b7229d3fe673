import { type Message, parts, toolCalls } from "./message.ts";

/** What a message is to the row of results behind a call: one that never reaches the wire, one of others', or any other. */
export type PairRole = "unsent" | "foreign" | "other";

/**
 * The items with each tool result said as text that does not stand in the row right behind the message of its call: damaged
 * logs have such results, and every provider refuses them. What others put in stays as it is. A call without a result right
 * behind it gets one from the host.
 */
export function sayLoneResults<T extends { readonly message: Message }>(
	items: readonly T[],
	roleOf: (item: T) => PairRole,
): readonly T[] {
	let open: readonly string[] = [];
	return items.map((item) => {
		const { role, toolCallId = "" } = item.message;
		const from = roleOf(item);
		if (role === "toolResult" && open.includes(toolCallId)) {
			open = open.toSpliced(open.indexOf(toolCallId), 1);
			return item;
		}
		if (role === "assistant") open = from === "unsent" ? [] : toolCalls(item.message).map((call) => call.id);
		if (role === "assistant" || role === "system" || from !== "other") return item;
		open = [];
		return role === "toolResult" ? { ...item, message: asText(item.message) } : item;
	});
}

function asText(message: Message): Message {
	const text = `[result of ${message.toolName ?? "a tool"}, apart from its call]`;
	const content = [{ type: "text", text }, ...parts(message)];
	const { timestamp } = message;
	return { role: "custom", ...{ customType: "acp-result", display: false }, content, timestamp };
}
