import { earlierSummary } from "./earlier.ts";
import { filterReductions } from "./filters/plan.ts";
import { foldPieces } from "./fold.ts";
import type { Estimate } from "./meter/fit.ts";
import type { LoggedBlock, Operation } from "./operation.ts";
import { protectedPieces, stayingPieces } from "./protect.ts";
import { layout } from "./resolve.ts";
import { rulesOf } from "./settings.ts";
import type { Branch, BranchRecord } from "./timeline.ts";
import { beginsTurn, type Piece, piecesOf } from "./unit.ts";
import { type Context, type View, viewTokens } from "./view.ts";

/** What the text of a fold by rules takes of the usable window, at most, and at all. */
const textShare = 1 / 8;
const textLimitTokens = 4_000;

/** What a text takes that is as short as may be. */
const briefLimitTokens = 120;

/** A block that rules made, and what folding gains. */
export interface RulesFold {
	readonly block: LoggedBlock;
	/** The units in it, each by its first message. */
	readonly units: ReadonlySet<BranchRecord>;
	readonly saved: Estimate;
}

/** How a fold by rules is told. */
export interface Telling {
	/** What the user asked it to be about, if anything. */
	readonly topic?: string | undefined;
	/** In as few words as may be; then even a block alone is told anew. */
	readonly isBrief?: boolean;
}

/**
 * One block of pieces, told by rules; undefined if that would gain nothing. Blocks among the pieces are folded in. Same
 * pieces, same bytes.
 */
function foldByRules(
	view: View,
	{ branch, settings, window }: Context,
	pieces: readonly Piece[],
	number: number,
	{ topic, isBrief = false }: Telling,
): RulesFold | undefined {
	const [only] = pieces;
	if (only === undefined || (pieces.length === 1 && only.kind === "block" && !isBrief)) return undefined;
	const usualTokens = Math.min(textLimitTokens, Math.floor(window.usableTokens * textShare));
	const limitTokens = isBrief ? Math.min(briefLimitTokens, usualTokens) : usualTokens;
	const summary = earlierSummary(branch, pieces, { maxTurns: rulesOf(settings).maxTurns, limitTokens });
	const tier = Math.max(1, ...pieces.map((piece) => (piece.kind === "block" ? piece.block.tier : 1)));
	const placed = layout(branch, view, undefined);
	const of = { number, summary, topic, tier, hasRecord: !isBrief, openingTokens: limitTokens >> 1 };
	const { block, before, after } = foldPieces(placed, pieces, of);
	if (after.sizeTokens >= before.sizeTokens) return undefined;
	const units = new Set(pieces.flatMap((piece) => (piece.kind === "unit" ? (piece.records[0]?.unit ?? []) : [])));
	const saved = { sizeTokens: before.sizeTokens - after.sizeTokens, messages: before.messages - after.messages };
	return { block, units, saved };
}

/**
 * The fold that strategy `rules` makes now: all but the last turns, once the turns in full are more than those and the slack;
 * undefined otherwise. Pinned units and protected tools stay, and a turn of which nothing else is left is none in full.
 */
export function planRules(view: View, context: Context): Operation | undefined {
	const { recentTurnsFull, slackTurns } = rulesOf(context.settings);
	const pieces = piecesOf(view.items);
	const staying = stayingPieces(pieces, context.settings, context.branch.state);
	const isFree = (piece: Piece) => !staying.has(piece);
	const starts = fullTurns(pieces, (piece) => piece.kind === "unit" && isFree(piece));
	if (starts.length <= recentTurnsFull + slackTurns || isJustOpened(context.branch)) return undefined;
	const older = pieces.slice(0, starts.at(-recentTurnsFull)).filter(isFree);
	return operationOf(view, context, pieces, foldGroups(view, context, [older]));
}

/** Where the turns begin of which a piece is in full. */
function fullTurns(pieces: readonly Piece[], isInFull: (piece: Piece) => boolean): readonly number[] {
	const starts = pieces.flatMap((piece, index) => (beginsTurn(piece) ? index : []));
	return starts.filter((start, turn) => pieces.slice(start, starts[turn + 1]).some(isInFull));
}

/** True if the last commit is an unfold by the model in the turn at work: it has to see what it opened. */
function isJustOpened(branch: Branch): boolean {
	const { commit } = branch.state;
	const record = commit && branch.message(commit.ordinal);
	if (commit === undefined || record?.entry.id !== commit.entryId) return false;
	const later = branch.messages(commit.ordinal + 1, branch.lastOrdinal);
	return record.message?.toolName === "decompress" && !later.some((each) => each.message?.role === "user");
}

/**
 * The fold that the user asks for by the host's own command: all that may be folded now, but the last message. `topic` is
 * what it is to be about, if the user said so.
 */
export function planWhole(view: View, context: Context, topic?: string): Operation | undefined {
	const pieces = piecesOf(view.items);
	const last = pieces.findLastIndex(beginsTurn);
	const reasons = protectedPieces(pieces, context.settings, context.branch.state);
	const isFree = (piece: Piece) => !reasons.has(piece);
	const before = pieces.slice(0, Math.max(0, last)).filter(isFree);
	const after = pieces.slice(last + 1).filter(isFree);
	return operationOf(view, context, pieces, foldGroups(view, context, [before, after], { topic }));
}

/** A block of each group of pieces, as far as that gains anything. */
export function foldGroups(
	view: View,
	context: Context,
	groups: readonly (readonly Piece[])[],
	telling: Telling = {},
): readonly RulesFold[] {
	const folds: RulesFold[] = [];
	for (const pieces of groups) {
		const number = context.branch.state.lastNumber + folds.length + 1;
		const fold = foldByRules(view, context, pieces, number, telling);
		if (fold !== undefined) folds.push(fold);
	}
	return folds;
}

/** The pieces that folds take out of the view. */
export function foldedPieces(pieces: readonly Piece[], folds: readonly RulesFold[]): ReadonlySet<Piece> {
	const blocks = new Set(folds.flatMap((fold) => fold.block.children));
	const isFolded = (piece: Piece) =>
		piece.kind === "block"
			? blocks.has(piece.block.number)
			: piece.records.some(({ unit }) => folds.some((fold) => fold.units.has(unit)));
	return new Set(pieces.filter(isFolded));
}

function operationOf(
	view: View,
	context: Context,
	pieces: readonly Piece[],
	folds: readonly RulesFold[],
): Operation | undefined {
	if (folds.length === 0) return undefined;
	const fold = { pieces, end: pieces.length - 1, folded: foldedPieces(pieces, folds) };
	const { reductions, savedTokens } = filterReductions(view, context, fold);
	const sizeTokens = folds.reduce((sum, fold) => sum - fold.saved.sizeTokens, viewTokens(view) - savedTokens);
	const blocks = folds.map((fold) => fold.block);
	return { kind: "fold", author: "rules", blocks, reductions, sizeTokens: Math.max(0, sizeTokens) };
}
