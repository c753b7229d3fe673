import { leastWidth } from "./quality.ts";
import { blockRef, messageRef } from "./ref.ts";
import type { Range } from "./unit.ts";
import { formatRange } from "./unit.ts";

/** Everything that can be wrong with a request of the model. Values, never thrown. */
export type Problem =
	| { readonly code: "arguments"; readonly reason: string }
	| { readonly code: "unreadableRef"; readonly text: string }
	| { readonly code: "unknownMessage"; readonly ref: string; readonly last: number }
	| { readonly code: "unknownBlock"; readonly ref: string; readonly known: readonly number[] }
	| { readonly code: "foreignRef"; readonly ref: string }
	| { readonly code: "notInView"; readonly range: string }
	| { readonly code: "notFolded"; readonly ref: string }
	| { readonly code: "alreadyFolded"; readonly range: string; readonly block: number }
	| { readonly code: "nothingLeft"; readonly range: string; readonly reasons: readonly string[] }
	| { readonly code: "overlap"; readonly range: string; readonly other: string }
	| { readonly code: "emptySummary"; readonly range: string }
	| { readonly code: "tooShort"; readonly range: string; readonly width: number }
	| { readonly code: "filler"; readonly range: string }
	| { readonly code: "notSmaller"; readonly range: string; readonly textTokens: number; readonly sizeTokens: number }
	| { readonly code: "topTier"; readonly block: number }
	| { readonly code: "nothingToUndo" }
	| { readonly code: "nothingToRedo" }
	| { readonly code: "notPinned"; readonly ref: string }
	| { readonly code: "pinned"; readonly ref: string; readonly block: number }
	| { readonly code: "aborted" }
	| { readonly code: "standingDown"; readonly reason: string }
	| { readonly code: "emptyQuery" }
	| { readonly code: "noPage"; readonly page: number; readonly pages: number }
	| { readonly code: "unwritable"; readonly path: string; readonly reason: string };

/**
 * A refusal in words for the model: what was wrong, and one thing to do next that works at this moment. `foldable` is
 * left out by calls that do not fold.
 */
export function problemText(problem: Problem, foldable?: readonly Range[]): string {
	const isOfRef = problem.code === "unreadableRef" || problem.code === "unknownMessage";
	const step = isOfRef && foldable === undefined ? listsRefs : whatToDo(problem, foldable);
	return `${whatIsWrong(problem)} ${step}`;
}

const listsRefs = 'acp_status({ view: "messages" }) lists the refs in view.';

/** What was wrong, one sentence. */
export function whatIsWrong(problem: Problem): string {
	switch (problem.code) {
		case "arguments":
			return sentence(problem.reason);
		case "unreadableRef":
			return `"${problem.text.slice(0, 40)}" is not a ref; refs look like m00012 or b3.`;
		case "unknownMessage":
			return `${problem.ref} does not exist; the newest message is ${messageRef(problem.last)}.`;
		case "unknownBlock":
			return `There is no block ${problem.ref} here; ${listBlocks(problem.known)}.`;
		case "foreignRef":
			return `${problem.ref} names no message or block of this branch.`;
		case "notInView":
			return `${problem.range} holds nothing that is in view.`;
		case "notFolded":
			return `${problem.ref} is in no block of the view; there is nothing to put back.`;
		case "alreadyFolded":
			return `${problem.range} is already folded in ${blockRef(problem.block)}.`;
		case "nothingLeft":
			return `${problem.range} cannot be folded now: ${problem.reasons.join(", ")}.`;
		case "overlap":
			return `${problem.range} overlaps ${problem.other} of the same call.`;
		case "emptySummary":
			return `The summary for ${problem.range} is empty.`;
		case "tooShort":
			return `The summary for ${problem.range} has ${problem.width} characters; the least is ${leastWidth}.`;
		case "filler":
			return `The summary for ${problem.range} has not one word of what it replaces.`;
		case "notSmaller":
			return `The block for ${problem.range} would take ${problem.textTokens} tokens, what it replaces takes ${problem.sizeTokens}.`;
		case "topTier":
			return `${blockRef(problem.block)} is of the highest tier and alone; rewriting it would gain nothing.`;
		case "notPinned":
			return `${problem.ref} is not pinned.`;
		case "pinned":
			return `${problem.ref} is pinned, and ${blockRef(problem.block)} would fold it; unpin it first.`;
		case "nothingToUndo":
			return "There is nothing to take back.";
		case "nothingToRedo":
			return "There is nothing to do again: no undo since the last fold.";
		case "aborted":
			return "The call was aborted; nothing changed.";
		case "standingDown":
			return sentence(problem.reason);
		case "emptyQuery":
			return "The query is empty.";
		case "noPage":
			return `There is no page ${problem.page}; there are ${problem.pages}.`;
		case "unwritable":
			return `${problem.path} could not be written: ${problem.reason}.`;
	}
}

/** One step that works now. */
export function whatToDo(problem: Problem, foldable: readonly Range[] = []): string {
	switch (problem.code) {
		case "alreadyFolded":
			return `decompress({ id: "${blockRef(problem.block)}" }) shows it. ${next(foldable)}`;
		case "notFolded":
			return `decompress({ id: "${problem.ref}" }) shows its text.`;
		case "unknownBlock":
		case "foreignRef":
			return 'acp_status({ view: "blocks" }) lists the blocks.';
		case "emptySummary":
		case "tooShort":
		case "filler":
			return "Write what has to be known later into it: files, names, results, decisions.";
		case "notSmaller":
			return `Fold a larger range or write less. ${next(foldable)}`;
		case "emptyQuery":
			return "Give words that stand in what you look for.";
		case "noPage":
			return "Ask for page 1.";
		case "unwritable":
			return "Read it in pages instead.";
		case "aborted":
		case "standingDown":
			return "Go on with your task.";
		default:
			return next(foldable);
	}
}

/** The ranges that can be folded now, or that there are none. */
export function next(foldable: readonly Range[]): string {
	return foldableText(foldable) ?? "Nothing can be folded now; go on with your task.";
}

/** The ranges that can be folded now; undefined if there are none. */
export function foldableText(foldable: readonly Range[]): string | undefined {
	if (foldable.length === 0) return undefined;
	const ranges = foldable.slice(0, 5).map((range) => `${formatRange(range)} (${formatTokens(range.sizeTokens)})`);
	const more = foldable.length > 5 ? ` and ${foldable.length - 5} more` : "";
	return `Can be folded now: ${ranges.join(", ")}${more}.`;
}

/** Tokens for reading: `840`, `12.4K`, `1.2M`. */
export function formatTokens(tokens: number): string {
	if (tokens < 1_000) return `${Math.round(tokens)}`;
	if (tokens < 999_950) return `${(tokens / 1_000).toFixed(1)}K`;
	return `${(tokens / 1_000_000).toFixed(1)}M`;
}

function listBlocks(known: readonly number[]): string {
	if (known.length === 0) return "there are no blocks";
	const shown = known.slice(-8).map(blockRef).join(", ");
	return known.length > 8 ? `the newest blocks are ${shown}` : `the blocks are ${shown}`;
}

function sentence(text: string): string {
	return /[.!?]$/.test(text) ? text : `${text}.`;
}
