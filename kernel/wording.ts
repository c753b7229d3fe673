import { formatSpans } from "./block.ts";
import type { FoldPlan, RangeOutcome } from "./compress.ts";
import type { Offer } from "./decision.ts";
import type { BlockRun } from "./distill.ts";
import { type Calibration, meteredTokens, type Reading, readingOf } from "./meter/calibration.ts";
import { estimateTokens } from "./meter/estimate.ts";
import type { Window } from "./meter/window.ts";
import type { Voice } from "./operation.ts";
import { foldableText, formatTokens, next, whatIsWrong, whatToDo } from "./problem.ts";
import { defaultWords, type WordKey, type Words } from "./prompts.ts";
import { blockRef, defuse, messageRef } from "./ref.ts";
import type { Unfolding } from "./restore.ts";
import type { Hit } from "./search/index.ts";
import { meteredRanges, type Range } from "./unit.ts";
import type { Context } from "./view.ts";

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

/** What a nudge may cost at most, by the estimator; the rest up to 400 is its error. */
const nudgeLimitTokens = 350;

/** Ranges that a nudge lists at most, the heaviest ones. */
const nudgeRanges = 8;

/** What the ranges of a nudge may take at least, however long the words around them are. */
const rangesLimitTokens = nudgeLimitTokens / 2;

/** The volatile reminder at the end of a request. Its boundaries are those that compress takes at this moment. */
export function nudgeText(
	voice: Voice,
	{ ranges, run }: Offer,
	reading: Reading,
	window: Window,
	words: Words = defaultWords,
): string {
	const alarm = voice === "soft" ? "" : words[`nudge.${voice}`];
	const head = [`[acp] The context holds ${sizeText(reading, window)}.`, alarm, words[askKey(run)]];
	const also = run === undefined || ranges.length === 0 ? "" : words["nudge.also"];
	const opening = [said(head).join(" "), ...(run === undefined ? [] : [runLine(run)]), ...said([also])];
	const closing = said([words["nudge.closing"]]);
	const leftTokens = nudgeLimitTokens - costTokens([...opening, ...closing].join("\n"));
	return [...opening, ...rangeLines(ranges, Math.max(leftTokens, rangesLimitTokens)), ...closing].join("\n");
}

/** What is asked for: folds, or that several blocks become one. */
function askKey(run: BlockRun | undefined): WordKey {
	if (run === undefined) return "nudge.opening";
	return run.tier === 1 ? "nudge.distillTier1" : "nudge.distillTier2";
}

function said(texts: readonly string[]): readonly string[] {
	return texts.filter((text) => text !== "");
}

function runLine({ first, last, blocks, tier, messages, sizeTokens }: BlockRun): string {
	const between = messages === 0 ? "" : ` and ${messages} ${messages === 1 ? "message" : "messages"} between them`;
	const [startId, endId] = [blockRef(first.number), blockRef(last.number)];
	return `- startId ${startId}, endId ${endId} (${blocks} blocks of tier ${tier}${between}, ${formatTokens(sizeTokens)} tokens)`;
}

/** The heaviest ranges within a limit, in their order; what there is no room for is counted. Details go first. */
function rangeLines(ranges: readonly Range[], limitTokens: number): readonly string[] {
	const shown = new Map<Range, string>();
	let leftTokens = limitTokens - costTokens(moreLine(ranges));
	const put = (range: Range, line: string) => {
		const added = costTokens(line) - costTokens(shown.get(range) ?? "");
		if (added > leftTokens) return;
		leftTokens -= added;
		shown.set(range, line);
	};
	const heaviest = ranges.toSorted((a, b) => b.sizeTokens - a.sizeTokens).slice(0, nudgeRanges);
	for (const range of heaviest) put(range, rangeLine(range));
	for (const range of shown.keys()) put(range, rangeLine(range, holdsText(range)));
	const more = ranges.filter((range) => !shown.has(range));
	return [...ranges.flatMap((range) => shown.get(range) ?? []), ...(more.length === 0 ? [] : [moreLine(more)])];
}

function rangeLine({ from, to, messages, sizeTokens }: Range, holds = ""): string {
	const size = `${messages} ${messages === 1 ? "message" : "messages"}, ${formatTokens(sizeTokens)} tokens`;
	return `- startId ${messageRef(from)}, endId ${messageRef(to)} (${size}${holds && `: ${holds}`})`;
}

function moreLine(ranges: readonly Range[]): string {
	return `- and ${ranges.length} more, ${formatTokens(ranges.reduce((sum, range) => sum + range.sizeTokens, 0))} tokens`;
}

/** Tools, files and the user's first words, each cut short. */
function holdsText({ tools, paths, words }: Range): string {
	const files = paths.slice(0, 2).map((path) => path.replace(/^.*[/\\]/s, "").slice(-24));
	const quoted = words === "" ? [] : [`"${words.slice(0, 24)}"`];
	const names = [...tools.slice(0, 3).map((tool) => tool.slice(0, 20)), ...files, ...quoted].join(", ");
	return defuse(names.toWellFormed().replace(/[\s\p{C}]+/gu, " "));
}

/** Tokens, rather too many: what is rare beyond ASCII takes several for a character. */
function costTokens(text: string): number {
	return estimateTokens(text) + text.replace(/[ -~\n±]+/g, "").length;
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

/**
 * What a refusal says when the same was asked and refused `before` times, once at least, since the user's last message:
 * first what is possible now, then to stop.
 */
export function refusedAgainText(refusal: string, before: number, possible: string): string {
	const stop = `Stop: this call was refused ${before} times before. Do not make it again; go on with your task.`;
	return [before === 1 ? refusal : stop, ...(possible === "" ? [] : [possible])].join("\n");
}

/** A status that was asked for right before: its first line, then not even that. */
export function statusAgainText(status: string, before: number): string {
	if (before === 0) return status;
	const [size = ""] = status.split("\n", 1);
	return before === 1 ? `${size}\nNothing else has changed. Go on with your task.` : "Unchanged. Go on with your task.";
}
