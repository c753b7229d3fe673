import type { Message, ToolCallPart } from "../message.ts";
import type { BranchRecord } from "../timeline.ts";
import { callingMessages, type FilterRule, markerSavesTokens, type Scene, withoutInputs } from "./rule.ts";

/** Long inputs of edits and writes that succeeded give way to markers; not where one beside them failed. */
export const bulkyEdits = {
	name: "bulkyEdits",
	isDefault: false,
	leastSavedTokens: markerSavesTokens,
	plan(scene: Scene): readonly BranchRecord[] {
		return callingMessages(scene, changesFile, false);
	},
	reduce(message: Message, ordinal: number): Message {
		return withoutInputs(message, "this change is made", ordinal, changesFile);
	},
} as const satisfies FilterRule;

function changesFile({ name }: ToolCallPart): boolean {
	return name === "edit" || name === "write";
}
