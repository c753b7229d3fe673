import { isThinking, type Message, mapParts, mapText } from "./message.ts";
import { messageTokens } from "./meter/size.ts";
import type { Operation } from "./operation.ts";
import { isSigned } from "./reduce.ts";
import { type View, viewTokens } from "./view.ts";

/** A run is degenerate from this length on: one character, or a pattern of a few, again and again. */
const leastRunChars = 200;
const patterns = /([\s\S]{1,20}?)\1{9,}/g;

/** What is left of a run, in repetitions of its pattern. */
const keptTimes = 3;

/**
 * The reduction of the last answer of a view if it degenerated into repetition; undefined if it did not. Planned before the
 * first request that carries the answer, it changes nothing that was sent.
 */
export function planCollapse(view: View): Operation | undefined {
	const last = view.items.findLast((item) => item.kind === "entry" && item.message.role === "assistant");
	if (last?.kind !== "entry" || last.record.isSilent) return undefined;
	const { record, message } = last;
	const collapsed = collapseMessage(message);
	const leftTokens = messageTokens(collapsed);
	const gainedTokens = collapsed === message ? 0 : messageTokens(message) - leftTokens;
	if (gainedTokens <= 0) return undefined;
	const savedTokens = Math.max(0, record.sizeTokens - leftTokens);
	const reduction = { id: record.entry.id, ordinal: record.ordinal, rule: "collapse", savedTokens } as const;
	return { kind: "truncate", reductions: [reduction], sizeTokens: Math.max(0, viewTokens(view) - gainedTokens) };
}

/**
 * The message with each degenerate run in its text and thinking cut to a few repetitions and a word about the rest. The
 * same message if there is none, or if it is signed. The result collapses to itself.
 */
export function collapseMessage(message: Message): Message {
	if (isSigned(message)) return message;
	return mapParts(mapText(message, collapse), (part) => {
		if (!isThinking(part)) return part;
		const thinking = collapse(part.thinking);
		return thinking === part.thinking ? part : { ...part, thinking };
	});
}

function collapse(text: string): string {
	return text.replace(patterns, (run: string, pattern: string) => {
		if (run.length < leastRunChars) return run;
		const more = Math.floor(run.length / pattern.length) - keptTimes;
		return `${pattern.repeat(keptTimes)} [… the same ${more} times more: this answer ran into repetition and is shortened; go on with your task …]`;
	});
}
