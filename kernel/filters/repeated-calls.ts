import { canonicalJson } from "../json.ts";
import type { Message, ToolCallPart } from "../message.ts";
import type { BranchRecord } from "../timeline.ts";
import { type FilterRule, markerSavesTokens, repeatedResults, type Scene, withoutResult } from "./rule.ts";

/** Reads have a rule of their own, changes are never the same twice, and what our tools returned is asked for by ref. */
const others = /^(read|edit|write|compress|decompress|search_context|acp_\w+)$/;

/** What a call returned gives way to a marker where a later one is the same. */
export const repeatedCalls = {
	name: "repeatedCalls",
	isDefault: true,
	leastSavedTokens: markerSavesTokens,
	plan(scene: Scene): readonly BranchRecord[] {
		return repeatedResults(scene, whole);
	},
	reduce(message: Message, ordinal: number): Message {
		return withoutResult(message, "a later call is the same", ordinal);
	},
} as const satisfies FilterRule;

function whole({ name, arguments: inputs }: ToolCallPart): string | undefined {
	return others.test(name) ? undefined : canonicalJson([name, inputs]);
}
