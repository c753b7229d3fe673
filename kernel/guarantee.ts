import { filterReductions } from "./filters/plan.ts";
import { type Reading, readingOf } from "./meter/calibration.ts";
import { estimateTokens } from "./meter/estimate.ts";
import type { Estimate } from "./meter/fit.ts";
import { messageTokens } from "./meter/size.ts";
import type { LoggedReduction, Operation } from "./operation.ts";
import { type Protection, stayingPieces } from "./protect.ts";
import { reduceMessage, reductionsOf } from "./reductions.ts";
import { foldedPieces, foldGroups, type RulesFold } from "./rules.ts";
import { sentMessage, tokensFor } from "./sent.ts";
import { withReduction } from "./state.ts";
import { beginsTurn, type Piece, pieceEstimate, piecesOf } from "./unit.ts";
import { type Context, type EntryItem, estimateOf, type View, viewTokens } from "./view.ts";

/** What it takes for a view to fit: nothing, an operation, or more than can be done. */
export type Fit =
	| { readonly kind: "fits" }
	/** What fits after it, or as far as the meter can tell may fit the whole window. */
	| { readonly kind: "operation"; readonly operation: Operation }
	/** What cannot be folded or cut is too much. `operation` is what can be done short of the last resort. */
	| { readonly kind: "tooLarge"; readonly operation: Operation | undefined };

/** A fold goes down to this share of the limit, so that the next requests fit without another one. */
const roomShare = 0.7;

/** What is left of units when they are folded, as long as their block is not made. */
const blockShare = 0.2;

/** What a cut text keeps at each end: as much as may be, less only where that is not enough. */
const keepSteps = [2_000, 500, 100];

/** Cutting less than this gains too little to be worth a hole in the text. */
const leastSavedTokens = 50;

/** A cut, and what its message takes after it. */
interface Cut {
	readonly reduction: LoggedReduction;
	readonly sizeTokens: number;
}

/** What is folded when nothing else is enough: all that may be, then in fewer words, then what should stay, too. */
const lastResorts = [
	{ isBrief: false, withStaying: false },
	{ isBrief: true, withStaying: false },
	{ isBrief: true, withStaying: true },
];

/**
 * The one operation after which a view takes at most `limitTokens` of the provider's tokens, with all that the meter may be
 * wrong by. Where rules may fold: the oldest units first, then blocks too. What no fold reaches is cut, the largest first,
 * the newest too. As the last resort the unit at work is folded as well, though its results were not yet read, and then pins
 * and protected tools. The last user message is never touched, and blocks are only folded into others.
 */
export function planFit(view: View, context: Context, limitTokens: number, isLastResort = true): Fit {
	const estimate = estimateWithNudge(view, context);
	if (isWithin(readingOf(context.calibration, estimate), limitTokens)) return { kind: "fits" };
	const attempt = new Attempt(view, context, estimate, limitTokens);
	if (context.settings.strategy === "model") attempt.cut();
	else {
		attempt.foldOldest();
		if (!attempt.isEnough) attempt.cutUnfolded();
		if (!attempt.isEnough && isLastResort) attempt.foldEverything();
	}
	const operation = attempt.operation();
	if (attempt.isEnough || (isLastResort && attempt.mayFit)) {
		return operation === undefined ? { kind: "fits" } : { kind: "operation", operation };
	}
	return { kind: "tooLarge", operation: isLastResort ? undefined : operation };
}

function estimateWithNudge(view: View, { calibration }: Context): Estimate {
	const { sizeTokens, messages } = estimateOf(view, calibration);
	const nudgeTokens = view.nudge === undefined ? 0 : estimateTokens(view.nudge.text);
	return { sizeTokens: sizeTokens + nudgeTokens, messages: messages + (nudgeTokens > 0 ? 1 : 0) };
}

function isWithin({ sizeTokens, errorTokens }: Reading, limitTokens: number): boolean {
	return sizeTokens + errorTokens <= limitTokens;
}

class Attempt {
	readonly #view: View;
	readonly #context: Context;
	readonly #limitTokens: number;
	/** Of the view, with its nudge. */
	readonly #estimate: Estimate;
	readonly #pieces: readonly Piece[];
	readonly #staying: ReadonlyMap<Piece, Protection>;
	/** Place of the last user message; -1 for none. */
	readonly #last: number;
	#folds: readonly RulesFold[] = [];
	readonly #cuts = new Map<EntryItem, Cut>();

	constructor(view: View, context: Context, estimate: Estimate, limitTokens: number) {
		this.#view = view;
		this.#context = context;
		this.#limitTokens = limitTokens;
		this.#estimate = estimate;
		this.#pieces = piecesOf(view.items);
		this.#staying = stayingPieces(this.#pieces, context.settings, context.branch.state);
		this.#last = this.#pieces.findLastIndex(beginsTurn);
	}

	/** True if the view fits with all that the meter may be wrong by. */
	get isEnough(): boolean {
		return this.#isWithin(this.#saved, this.#limitTokens);
	}

	/** True if the whole window may hold the view, if nothing is kept free and the meter is right. */
	get mayFit(): boolean {
		return this.#readingWithout(this.#saved).sizeTokens <= this.#context.window.limitTokens;
	}

	/** Folds as many of the oldest units as leave room; where that is not enough blocks, too. The last unit stays. */
	foldOldest(): void {
		const free = this.#pieces.filter((piece) => this.#isFree(piece) && piece !== this.#pieces.at(-1));
		for (const counted of [free.filter((piece) => piece.kind === "unit"), free]) {
			const [first] = counted;
			const last = counted[this.#count(counted) - 1];
			if (first === undefined || last === undefined) continue;
			this.#fold(free.slice(free.indexOf(first), free.indexOf(last) + 1));
			if (this.isEnough) return;
		}
		this.#fold(free);
	}

	/** Where no fold is enough: cuts what stays unfolded, and folds what has to be folded even then. */
	cutUnfolded(): void {
		this.cut();
		if (!this.isEnough) return;
		this.#folds = [];
		if (!this.isEnough) this.foldOldest();
	}

	/** Folds all but the last user message, step by step. */
	foldEverything(): void {
		for (const { isBrief, withStaying } of lastResorts) {
			this.#fold(withStaying ? this.#pieces : this.#pieces.filter((piece) => this.#isFree(piece)), isBrief);
			this.cut();
			if (this.isEnough) return;
		}
	}

	/** Cuts texts, the largest first, until the view fits or nothing long is left. */
	cut(): void {
		for (const keepChars of keepSteps) {
			const items = this.#cuttable().toSorted((a, b) => this.#sizeOf(b) - this.#sizeOf(a));
			for (const item of items) {
				if (this.isEnough) return;
				this.#cutItem(item, keepChars);
			}
		}
	}

	operation(): Operation | undefined {
		const cuts = [...this.#cuts.values()].map((cut) => cut.reduction);
		const sizeTokens = Math.max(0, viewTokens(this.#view) - this.#saved.sizeTokens);
		if (this.#folds.length === 0) {
			return cuts.length > 0 ? { kind: "truncate", reductions: cuts, sizeTokens } : undefined;
		}
		const filtering = filterReductions(this.#view, this.#context, {
			pieces: this.#pieces,
			end: this.#pieces.length - 1,
			folded: foldedPieces(this.#pieces, this.#folds),
			cut: new Set([...this.#cuts.keys()].map((item) => item.record)),
		});
		return {
			kind: "fold",
			author: "rules",
			blocks: this.#folds.map((fold) => fold.block),
			reductions: [...cuts, ...filtering.reductions],
			sizeTokens: Math.max(0, sizeTokens - filtering.savedTokens),
		};
	}

	#isFree(piece: Piece): boolean {
		return !this.#staying.has(piece) && piece !== this.#pieces[this.#last];
	}

	/** Makes a block of the pieces before the last user message and one of those after it, in place of all made so far. */
	#fold(pieces: readonly Piece[], isBrief = false): void {
		const places = new Map(this.#pieces.map((piece, place) => [piece, place]));
		const at = (piece: Piece) => places.get(piece) ?? 0;
		const groups = [pieces.filter((each) => at(each) < this.#last), pieces.filter((each) => at(each) > this.#last)];
		this.#folds = foldGroups(this.#view, this.#context, groups, { isBrief });
		for (const item of this.#cuts.keys()) if (this.#isFolded(item)) this.#cuts.delete(item);
	}

	/** How many of the oldest pieces have to go; to the end of their turn, if it ended. */
	#count(pieces: readonly Piece[]): number {
		const wantedTokens = this.#limitTokens * roomShare;
		let { sizeTokens, messages } = this.#saved;
		let count = 0;
		for (const piece of pieces) {
			if (this.#isWithin({ sizeTokens, messages }, wantedTokens)) break;
			const own = pieceEstimate(piece);
			sizeTokens += own.sizeTokens * (1 - blockShare);
			messages += own.messages;
			count += 1;
		}
		const turnEnd = pieces.findIndex((piece, index) => index >= count && beginsTurn(piece));
		return turnEnd < 0 ? count : turnEnd;
	}

	#isWithin(saved: Estimate, limitTokens: number): boolean {
		return isWithin(this.#readingWithout(saved), limitTokens);
	}

	#readingWithout(saved: Estimate): Reading {
		const sizeTokens = Math.max(0, this.#estimate.sizeTokens - saved.sizeTokens);
		const messages = Math.max(0, this.#estimate.messages - saved.messages);
		return readingOf(this.#context.calibration, { sizeTokens, messages });
	}

	get #saved(): Estimate {
		let sizeTokens = 0;
		let messages = 0;
		for (const { saved } of this.#folds) {
			sizeTokens += saved.sizeTokens;
			messages += saved.messages;
		}
		for (const [item, cut] of this.#cuts) sizeTokens += item.sizeTokens - cut.sizeTokens;
		return { sizeTokens, messages };
	}

	#cuttable(): readonly EntryItem[] {
		return this.#view.items.filter(
			(item): item is EntryItem =>
				item.kind === "entry" &&
				!item.record.isSilent &&
				!isIn(this.#pieces[this.#last], item) &&
				!this.#isFolded(item),
		);
	}

	#isFolded({ record }: EntryItem): boolean {
		return this.#folds.some((fold) => fold.units.has(record.unit));
	}

	#sizeOf(item: EntryItem): number {
		return this.#cuts.get(item)?.sizeTokens ?? item.sizeTokens;
	}

	#cutItem(item: EntryItem, keepChars: number): void {
		const { branch, takesImages } = this.#context;
		const { record } = item;
		const rule = { rule: "truncate", keepChars } as const;
		const reductions = withReduction(reductionsOf(branch, record), { ...rule, savedTokens: 0 });
		const cut = reduceMessage(sentMessage(branch, record) ?? item.message, record.ordinal, reductions);
		const sizeTokens = tokensFor(cut, takesImages);
		if (this.#sizeOf(item) - sizeTokens < leastSavedTokens) return;
		const savedTokens = Math.max(0, record.sizeTokens - messageTokens(cut));
		const reduction = { id: record.entry.id, ordinal: record.ordinal, ...rule, savedTokens };
		this.#cuts.set(item, { reduction, sizeTokens });
	}
}

function isIn(piece: Piece | undefined, { record }: EntryItem): boolean {
	return piece?.kind === "unit" && piece.records.includes(record);
}
