import { bulkyEdits } from "./bulky-edits.ts";
import { failedInputs } from "./failed-inputs.ts";
import { repeatedCalls } from "./repeated-calls.ts";
import type { FilterRule } from "./rule.ts";
import { supersededReads } from "./superseded-reads.ts";
import { unsignedThinking } from "./unsigned-thinking.ts";

/** The rules by which a fold reduces what stays in view, in the order in which they are asked. */
export const filterRules = [
	unsignedThinking,
	supersededReads,
	repeatedCalls,
	failedInputs,
	bulkyEdits,
] as const satisfies readonly FilterRule[];

/** The name under which a rule is recorded and switched. */
export type FilterName = (typeof filterRules)[number]["name"];

/** The rule of a name; undefined if there is none. */
export function filterRule(name: unknown): FilterRule | undefined {
	return filterRules.find((rule) => rule.name === name);
}

/** Which rules are on where nothing else is set. */
export const filterDefaults = Object.fromEntries(filterRules.map((rule) => [rule.name, rule.isDefault])) as Readonly<
	Record<FilterName, boolean>
>;
