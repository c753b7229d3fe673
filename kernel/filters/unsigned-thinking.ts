import { isEmpty, isThinking, type Message } from "../message.ts";
import { isSigned } from "../reduce.ts";
import type { BranchRecord } from "../timeline.ts";
import type { FilterRule, Scene } from "./rule.ts";

/**
 * Thinking that no provider asks to have back leaves assistant messages. Where a part is signed all stays: hosts keep in the
 * signature also the name of the field in which a provider wants its thinking again.
 */
export const unsignedThinking = {
	name: "unsignedThinking",
	isDefault: true,
	leastSavedTokens: 1,
	plan({ units }: Scene): readonly BranchRecord[] {
		return units.flatMap(({ records }) => records.slice(0, 1));
	},
	reduce(message: Message): Message {
		const { role, content } = message;
		if (role !== "assistant" || typeof content === "string" || isSigned(message)) return message;
		const reduced = { ...message, content: content.filter((part) => !isThinking(part)) };
		return reduced.content.length === content.length || isEmpty(reduced) ? message : reduced;
	},
} as const satisfies FilterRule;
