import { argumentOf, type Message, pathOf, type ToolCallPart } from "../message.ts";
import type { BranchRecord } from "../timeline.ts";
import { type FilterRule, markerSavesTokens, repeatedResults, type Scene, withoutResult } from "./rule.ts";

/** What a read returned gives way to a marker where a later one shows the same part of the same file. */
export const supersededReads = {
	name: "supersededReads",
	isDefault: true,
	leastSavedTokens: markerSavesTokens,
	plan(scene: Scene): readonly BranchRecord[] {
		return repeatedResults(scene, partRead);
	},
	reduce(message: Message, ordinal: number): Message {
		return withoutResult(message, "a later call reads the same", ordinal);
	},
} as const satisfies FilterRule;

function partRead(call: ToolCallPart): string | undefined {
	const path = pathOf(call);
	if (call.name !== "read" || path === undefined) return undefined;
	return JSON.stringify([path, argumentOf(call, "offset"), argumentOf(call, "limit")]);
}
