import type { Message } from "../message.ts";
import type { BranchRecord } from "../timeline.ts";
import { callingMessages, type FilterRule, markerSavesTokens, type Scene, withoutInputs } from "./rule.ts";

/** Long inputs of calls that failed give way to markers; not where a call beside them succeeded with long inputs. */
export const failedInputs = {
	name: "failedInputs",
	isDefault: false,
	leastSavedTokens: markerSavesTokens,
	plan(scene: Scene): readonly BranchRecord[] {
		return callingMessages(scene, () => true, true);
	},
	reduce(message: Message, ordinal: number): Message {
		return withoutInputs(message, "this call failed", ordinal, () => true);
	},
} as const satisfies FilterRule;
