import { formatSpans } from "./block.ts";
import type { FoldPlan, RangeOutcome } from "./compress.ts";
import { type Calibration, meteredTokens, type Reading, readingOf } from "./meter/calibration.ts";
import type { Window } from "./meter/window.ts";
import { foldableText, formatTokens, next, whatIsWrong, whatToDo } from "./problem.ts";
import { blockRef, messageRef } from "./ref.ts";
import type { Unfolding } from "./restore.ts";
import type { Hit } from "./search/index.ts";
import { meteredRanges, type Range } from "./unit.ts";
import type { Context } from "./view.ts";

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
export function foldText(
	plan: FoldPlan,
	{ window, calibration }: Pick<Context, "window" | "calibration">,
	lost: readonly string[] = [],
): string {
	const foldable = meteredRanges(plan.foldable, calibration);
	const applied = plan.outcomes.filter((outcome) => outcome.isApplied);
	const refused = plan.outcomes.filter((outcome) => !outcome.isApplied);
	const trouble = [...refused.map(refusedLine), ...lost.map((line) => `Lost: ${line}`)];
	if (applied.length === 0) {
		const [first] = refused;
		const step = first === undefined ? next(foldable) : whatToDo(first.problem, foldable);
		return ["Nothing was folded.", ...trouble, step].join("\n");
	}
	const before = readingOf(calibration, plan.before);
	const after = readingOf(calibration, plan.after);
	const left = foldableText(foldable) ?? "Nothing more can be folded now.";
	return [
		foldedLine,
		...applied.map((outcome) => appliedLine(outcome, calibration)),
		...trouble,
		`The view went from ${formatTokens(before.sizeTokens)} to ${sizeText(after, window)}. ${left}`,
		"Go on with your task.",
	].join("\n");
}

/** The size of a view, its error and its window: `18.9K (±0.3K) of 120.0K tokens`; says so if it does not fit. */
export function sizeText({ sizeTokens, errorTokens }: Reading, { usableTokens }: Window): string {
	const error = errorTokens * 100 <= sizeTokens ? "" : ` (±${formatTokens(errorTokens)})`;
	const size = `${formatTokens(sizeTokens)}${error}`;
	const whole = formatTokens(usableTokens);
	return sizeTokens > usableTokens ? `${size} tokens, more than the ${whole} that fit` : `${size} of ${whole} tokens`;
}

/** Where the window comes from if the model does not declare it. */
export function windowText({ limitTokens, source }: Window): string {
	const limit = formatTokens(limitTokens);
	switch (source) {
		case "settings":
			return `; the window of ${limit} is set in acp.json`;
		case "overflow":
			return `; the provider refused more than a window of ${limit}`;
		case "failures":
			return `; a window of ${limit} is assumed after large requests failed`;
		case "success":
			return `; a window of ${limit} is assumed after a request larger than the declared one succeeded`;
		case "default":
			return `; the model declares no window, so ${limit} is assumed`;
		case "model":
			return "";
	}
}

/** The volatile reminder at the end of a request. */
export function nudgeText(foldable: readonly Range[], reading: Reading, window: Window): string {
	const lines = foldable.slice(0, 8).map((range) => {
		const tools = range.tools.slice(0, 3).join(", ");
		const holds = `${range.messages} messages, ${formatTokens(range.sizeTokens)} tokens${tools ? `: ${tools}` : ""}`;
		return `- startId ${messageRef(range.from)}, endId ${messageRef(range.to)} (${holds})`;
	});
	const more = foldable.length > lines.length ? [`- and ${foldable.length - lines.length} later ranges`] : [];
	return [
		`[acp] The context holds ${sizeText(reading, window)}. These ranges can be folded with compress where their work is done:`,
		...lines,
		...more,
		"Fold what is finished in one call, then go on with your task.",
	].join("\n");
}

function appliedLine(outcome: RangeOutcome & { isApplied: true }, calibration: Calibration): string {
	const { block, before, after, notes, stayed } = outcome;
	const extra = [...notes, ...stayed.map((each) => `${each.range} stays: ${each.reason}`)];
	const [beforeTokens, afterTokens] = [meteredTokens(calibration, before), meteredTokens(calibration, after)];
	const size = `${formatTokens(beforeTokens)} → ${formatTokens(afterTokens)} tokens`;
	const tail = extra.length === 0 ? "" : `; ${extra.join("; ")}`;
	return `${blockRef(block.number)} = ${formatSpans(block.spans)} (${block.messages} messages, ${size}${tail})`;
}

function refusedLine(outcome: RangeOutcome & { isApplied: false }): string {
	const notes = outcome.notes.length === 0 ? "" : ` (${outcome.notes.join("; ")})`;
	return `Refused: ${whatIsWrong(outcome.problem)}${notes}`;
}

/** The answer to a decompress call that put a block's content back into view. */
export function unfoldText({ block, back, after }: Unfolding, { window, calibration }: Context): string {
	const size = sizeText(readingOf(calibration, after), window);
	return `${unfoldedLine}\n${blockRef(block.number)} is open; back in view: ${back}.\nThe view holds ${size}. Go on with your task.`;
}

/** The hits of a search, one line each and its passage. */
export function searchText(hits: readonly Hit[]): string {
	if (hits.length === 0) return "Nothing folded holds these words. Try other words, or look into the files again.";
	const lines = hits.map((hit) => `${hit.ref} (${hit.place}): ${hit.passage}`);
	return [...lines, 'decompress({ id: "<ref>" }) opens one.'].join("\n");
}
