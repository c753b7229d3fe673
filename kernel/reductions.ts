import { collapseMessage } from "./degenerate.ts";
import { filterRule } from "./filters/index.ts";
import type { Message } from "./message.ts";
import { cutMessage } from "./reduce.ts";
import type { Reduction } from "./state.ts";
import type { Branch, BranchRecord } from "./timeline.ts";

/**
 * What commits recorded of a message that holds for it now. What the host makes another message of, by an edit, was never
 * filtered: rules of content are for what was written.
 */
export function reductionsOf(branch: Branch, { ordinal, entry }: BranchRecord): readonly Reduction[] {
	const recorded = branch.state.reductions.get(ordinal) ?? [];
	if (recorded.length === 0 || !branch.leaf?.edits.has(entry.id)) return recorded;
	return recorded.filter(({ rule }) => filterRule(rule) === undefined);
}

/** A message as the recorded rules of content leave it, before it is shortened. */
export function filterMessage(message: Message, ordinal: number, reductions: readonly Reduction[]): Message {
	return reductions.reduce((reduced, { rule }) => filterRule(rule)?.reduce(reduced, ordinal) ?? reduced, message);
}

/** A message as the recorded cuts leave it. */
export function shortenMessage(message: Message, ordinal: number, reductions: readonly Reduction[]): Message {
	return reductions.reduce((reduced, reduction) => {
		if (reduction.rule === "collapse") return collapseMessage(reduced);
		return reduction.rule === "truncate" ? cutMessage(reduced, ordinal, reduction.keepChars) : reduced;
	}, message);
}

/** A message as all that is recorded leaves it. */
export function reduceMessage(message: Message, ordinal: number, reductions: readonly Reduction[]): Message {
	return shortenMessage(filterMessage(message, ordinal, reductions), ordinal, reductions);
}
