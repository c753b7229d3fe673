import type { Author } from "./block.ts";
import { type FilterName, filterRule } from "./filters/index.ts";
import { isObject } from "./json.ts";

export { isObject };

/** A span as the log keeps it: entry ids decide where they are known, ordinals where they are not. */
export interface LoggedSpan {
	readonly fromId: string;
	readonly from: number;
	readonly toId: string;
	readonly to: number;
}

/** A block as the log keeps it. */
export interface LoggedBlock {
	readonly number: number;
	readonly tier: number;
	readonly topic?: string;
	readonly summary: string;
	readonly text: string;
	readonly spans: readonly LoggedSpan[];
	readonly children: readonly number[];
	readonly messages: number;
	readonly sizeTokens: number;
}

/**
 * `hide`: the unit that begins with this message leaves the view. `truncate`: long texts keep `keepChars` at both ends.
 * `collapse`: runs of the same characters are shortened. All others are rules of content, in filters/.
 */
export type ReductionRule =
	| { readonly rule: "hide" | "collapse" | FilterName }
	| { readonly rule: "truncate"; readonly keepChars: number };

/** A change of an older message that a commit carries; `savedTokens` is what it and those before it save of the message. */
export type LoggedReduction = ReductionRule & {
	readonly id: string;
	readonly ordinal: number;
	readonly savedTokens: number;
};

/** A message that stays in view whatever is folded around it. */
export interface LoggedMessage {
	readonly id: string;
	readonly ordinal: number;
}

/**
 * A decision in the log. All but `nudge`, `pin` and `unpin` are commits; `sizeTokens` is the size of the view right after.
 * `undo` takes back the last commit that was not taken back, `redo` the last undo.
 */
export type Operation =
	| {
			readonly kind: "fold";
			readonly author: Author;
			readonly blocks: readonly LoggedBlock[];
			readonly reductions: readonly LoggedReduction[];
			readonly sizeTokens: number;
	  }
	| { readonly kind: "unfold"; readonly block: number; readonly sizeTokens: number }
	| { readonly kind: "truncate"; readonly reductions: readonly LoggedReduction[]; readonly sizeTokens: number }
	| { readonly kind: "undo" | "redo"; readonly sizeTokens: number }
	| { readonly kind: "pin" | "unpin"; readonly message: LoggedMessage }
	| { readonly kind: "nudge"; readonly sizeTokens: number; readonly voice?: Voice };

/** How a nudge speaks: with room left, where the window gets full, and where it is nearly full. */
export type Voice = "soft" | "pressure" | "emergency";

const voices: readonly unknown[] = ["soft", "pressure", "emergency"] satisfies readonly Voice[];

/** The `customType` of entries that hold an operation. */
export const operationEntryType = "acp-operation";

/** An operation with our mark, as tool results keep it in `details` and custom entries in `data`. */
export interface Marked {
	readonly acp: 1;
	readonly op: Operation;
}

export function mark(op: Operation): Marked {
	return { acp: 1, op };
}

/** The operation in a marked value; undefined for whatever is not one, in any part. */
export function readMarked(value: unknown): Operation | undefined {
	return isObject(value) && value.acp === 1 && isOperation(value.op) ? value.op : undefined;
}

/** True if the value carries our mark, readable or not. */
export function isMarked(value: unknown): boolean {
	return isObject(value) && value.acp === 1;
}

function isOperation(value: unknown): value is Operation {
	if (!isObject(value)) return false;
	switch (value.kind) {
		case "fold":
			return (
				isCount(value.sizeTokens) &&
				isAuthor(value.author) &&
				isList(value.blocks, isBlock) &&
				isList(value.reductions, isReduction)
			);
		case "unfold":
			return isCount(value.sizeTokens) && isPositive(value.block);
		case "truncate":
			return isCount(value.sizeTokens) && isList(value.reductions, isReduction);
		case "nudge":
			// Nudges of earlier versions have no voice.
			return isCount(value.sizeTokens) && (value.voice === undefined || voices.includes(value.voice));
		case "undo":
		case "redo":
			return isCount(value.sizeTokens);
		case "pin":
		case "unpin":
			return isMessage(value.message);
		default:
			return false;
	}
}

function isMessage(value: unknown): value is LoggedMessage {
	return isObject(value) && typeof value.id === "string" && isPositive(value.ordinal);
}

function isBlock(value: unknown): value is LoggedBlock {
	return (
		isObject(value) &&
		isPositive(value.number) &&
		isPositive(value.tier) &&
		(value.topic === undefined || typeof value.topic === "string") &&
		typeof value.summary === "string" &&
		typeof value.text === "string" &&
		isList(value.spans, isSpan) &&
		value.spans.length > 0 &&
		isList(value.children, isPositive) &&
		isCount(value.messages) &&
		isCount(value.sizeTokens)
	);
}

function isSpan(value: unknown): value is LoggedSpan {
	return (
		isObject(value) &&
		typeof value.fromId === "string" &&
		typeof value.toId === "string" &&
		isPositive(value.from) &&
		isPositive(value.to) &&
		value.from <= value.to
	);
}

function isReduction(value: unknown): value is LoggedReduction {
	return (
		isObject(value) &&
		typeof value.id === "string" &&
		isPositive(value.ordinal) &&
		isCount(value.savedTokens) &&
		(value.rule === "truncate" ? isCount(value.keepChars) : isRule(value.rule))
	);
}

function isRule(value: unknown): boolean {
	return value === "hide" || value === "collapse" || filterRule(value) !== undefined;
}

function isAuthor(value: unknown): value is Author {
	return value === "model" || value === "rules";
}

function isList<T>(value: unknown, isItem: (item: unknown) => item is T): value is readonly T[] {
	return Array.isArray(value) && value.every(isItem);
}

function isCount(value: unknown): value is number {
	return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function isPositive(value: unknown): value is number {
	return isCount(value) && value > 0;
}
