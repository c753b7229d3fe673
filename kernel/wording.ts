import { formatSpans } from "./block.ts";
import type { FoldPlan, RangeOutcome } from "./compress.ts";
import type { Window } from "./meter.ts";
import { foldableText, formatTokens, next, whatIsWrong, whatToDo } from "./problem.ts";
import { blockRef, messageRef } from "./ref.ts";
import type { Hit } from "./search/index.ts";
import type { Range } from "./unit.ts";

/** The part of the system prompt that says how folding works. Constant, so that it never breaks a cached prefix. */
export const promptSection = `Your context is limited, and you keep it in order yourself. User and tool messages end with a tag such as <acp>m00012</acp>: the ref of that message. Refs are for the tools below; never write tags yourself.

compress folds a range of messages into a block: an <acp-block> with your summary and a short record made by code. A block is a record of the past, not an instruction, and stands for its messages from then on.
- Fold what is finished: explored and understood, output that was used, steps that are done. Several ranges go into one call.
- Do not fold what you still work with: files being edited, an open error, the last request of the user. Recent messages stay anyway.
- A summary replaces the originals, so keep word for word: paths with lines, signatures, exact errors and values, decisions with their reasons, the user's constraints, what is still open. Leave out logs, repeated reads and dead ends, but not their lesson.
- Nothing is lost: decompress shows the originals of a block or message, search_context finds them.

Fold when a reminder lists ranges, or when a piece of work is done; then go on with your task in the same turn.`;

/** What the tools say of themselves. */
export const toolDescriptions = {
	compress:
		"Fold ranges of finished messages into blocks with your summaries. Boundaries are refs of messages (m00012) or blocks (b3), both included; whole units are taken.",
	decompress:
		'Show the originals behind a block (b3), a message (m00012) or a range (m00005-m00031), in pages. to "file" writes all of it to a file; to "view" puts the block\'s content back in its place.',
	search_context: "Find text in blocks and folded messages; each hit has its ref and the passage.",
	acp_status: "Show how full the context is, what is folded and what can be folded now.",
} as const;

/** What the parameters of the tools mean. */
export const parameterDescriptions = {
	ranges: "The ranges to fold, oldest first",
	startId: "First ref, such as m00005 or b1",
	endId: "Last ref",
	summary: "What has to be known of the range later on",
	topic: "A few words",
	id: "b3, m00012 or m00005-m00031",
	page: "From 1",
	to: "Where to",
	query: "Words to look for",
	limit: "How many at most",
	view: "What to list",
} as const;

/** The first line of a successful compress result. Replay knows our results by it where `details` are lost. */
export const foldedLine = "Folded:";

/** The first line of a successful decompress result that put a block's content back into view. */
export const unfoldedLine = "Unfolded:";

/** The answer to a compress call. At most one line per range, one step that works, and that the work goes on. */
export function foldText(plan: FoldPlan, window: Window, lost: readonly string[] = []): string {
	const applied = plan.outcomes.filter((outcome) => outcome.isApplied);
	const refused = plan.outcomes.filter((outcome) => !outcome.isApplied);
	const trouble = [...refused.map(refusedLine), ...lost.map((line) => `Lost: ${line}`)];
	if (applied.length === 0) {
		const [first] = refused;
		const step = first === undefined ? next(plan.foldable) : whatToDo(first.problem, plan.foldable);
		return ["Nothing was folded.", ...trouble, step].join("\n");
	}
	const left = foldableText(plan.foldable) ?? "Nothing more can be folded now.";
	return [
		foldedLine,
		...applied.map(appliedLine),
		...trouble,
		`The view went from ${formatTokens(plan.beforeTokens)} to ${sizeText(plan.afterTokens, window)}. ${left}`,
		"Go on with your task.",
	].join("\n");
}

/** The size of a view beside its window: `about 18.9K of 120.0K tokens`. */
export function sizeText(sizeTokens: number, window: Window): string {
	return `about ${formatTokens(sizeTokens)} of ${formatTokens(window.usableTokens)} tokens`;
}

/** The volatile reminder at the end of a request. */
export function nudgeText(foldable: readonly Range[], sizeTokens: number, window: Window): string {
	const lines = foldable.slice(0, 8).map((range) => {
		const tools = range.tools.slice(0, 3).join(", ");
		const holds = `${range.messages} messages, ${formatTokens(range.sizeTokens)} tokens${tools ? `: ${tools}` : ""}`;
		return `- startId ${messageRef(range.from)}, endId ${messageRef(range.to)} (${holds})`;
	});
	const more = foldable.length > lines.length ? [`- and ${foldable.length - lines.length} later ranges`] : [];
	return [
		`[acp] The context holds ${sizeText(sizeTokens, window)}. These ranges can be folded with compress where their work is done:`,
		...lines,
		...more,
		"Fold what is finished in one call, then go on with your task.",
	].join("\n");
}

function appliedLine(outcome: RangeOutcome & { isApplied: true }): string {
	const { block, beforeTokens, afterTokens, notes, stayed } = outcome;
	const extra = [...notes, ...stayed.map((each) => `${each.range} stays: ${each.reason}`)];
	const size = `${formatTokens(beforeTokens)} → ${formatTokens(afterTokens)} tokens`;
	const tail = extra.length === 0 ? "" : `; ${extra.join("; ")}`;
	return `${blockRef(block.number)} = ${formatSpans(block.spans)} (${block.messages} messages, ${size}${tail})`;
}

function refusedLine(outcome: RangeOutcome & { isApplied: false }): string {
	const notes = outcome.notes.length === 0 ? "" : ` (${outcome.notes.join("; ")})`;
	return `Refused: ${whatIsWrong(outcome.problem)}${notes}`;
}

/** The answer to a decompress call that put a block's content back into view. */
export function unfoldText(block: string, back: string, sizeTokens: number, window: Window): string {
	return `${unfoldedLine}\n${block} is open; back in view: ${back}.\nThe view holds ${sizeText(sizeTokens, window)}. Go on with your task.`;
}

/** The hits of a search, one line each and its passage. */
export function searchText(hits: readonly Hit[]): string {
	if (hits.length === 0) return "Nothing folded holds these words. Try other words, or look into the files again.";
	const lines = hits.map((hit) => `${hit.ref} (${hit.place}): ${hit.passage}`);
	return [...lines, 'decompress({ id: "<ref>" }) opens one.'].join("\n");
}
