import { type Block, covers } from "./block.ts";
import { repeatedOpening } from "./fold.ts";
import { meteredTokens } from "./meter/calibration.ts";
import { sumOf } from "./meter/fit.ts";
import { leastRangeTokens } from "./pipeline/recommend.ts";
import { protectedPieces } from "./protect.ts";
import { type Piece, pieceEstimate, piecesOf, type UnitPiece } from "./unit.ts";
import type { Context, View } from "./view.ts";

/** Blocks of one tier side by side in the view, which compress can fold into one, with what little stands between them. */
export interface BlockRun {
	/** In the order of the view: the boundaries of the call. */
	readonly first: Block;
	readonly last: Block;
	readonly tier: number;
	readonly blocks: number;
	/** Messages between the blocks. */
	readonly messages: number;
	/** What all of it takes in the view. */
	readonly sizeTokens: number;
}

/** The run that weighs most; undefined if there is none that any short summary makes smaller. */
export function heaviestRun({ items }: View, { settings, branch, calibration }: Context): BlockRun | undefined {
	if (items.filter((item) => item.kind === "block").length < 2) return undefined;
	const pieces = piecesOf(items);
	const reasons = protectedPieces(pieces, settings, branch.state);
	const opening = repeatedOpening(branch);
	let heaviest: BlockRun | undefined;
	for (const run of runsOf(pieces, (unit) => reasons.has(unit))) {
		const blocks = run.flatMap((piece) => (piece.kind === "block" ? piece.block : []));
		const [first, last] = [blocks[0], blocks.at(-1)];
		const whole = sumOf(run.map(pieceEstimate));
		const sizeTokens = meteredTokens(calibration, whole);
		if (first === undefined || last === undefined || first === last) continue;
		const isRepeated = opening !== undefined && blocks.some((block) => covers(block, opening.record.ordinal));
		const repeatedTokens = isRepeated ? opening.sizeTokens : 0;
		if (whole.sizeTokens - repeatedTokens < leastRangeTokens || sizeTokens <= (heaviest?.sizeTokens ?? 0)) continue;
		const messages = whole.messages - blocks.length;
		heaviest = { first, last, tier: first.tier, blocks: blocks.length, messages, sizeTokens };
	}
	return heaviest;
}

/** Pieces from one block to another of the same tier, with units between them that would be no range of their own. */
function runsOf(pieces: readonly Piece[], stays: (unit: UnitPiece) => boolean): readonly (readonly Piece[])[] {
	const runs: Piece[][] = [];
	let tier: number | undefined;
	let gap: UnitPiece[] = [];
	let gapTokens = 0;
	for (const piece of pieces) {
		if (piece.kind === "unit") {
			gap.push(piece);
			gapTokens += piece.sizeTokens;
			if (gapTokens >= leastRangeTokens || stays(piece)) tier = undefined;
			continue;
		}
		if (piece.block.tier === tier) runs.at(-1)?.push(...gap, piece);
		else runs.push([piece]);
		tier = piece.block.tier;
		gap = [];
		gapTokens = 0;
	}
	return runs;
}

/** So many blocks are worth a distillation at half of a step, fewer at a whole one: it rewrites the view from its head. */
const manyBlocks = 6;

/** True if a run is so heavy that one block instead of it pays for the rewritten view. */
export function isWorthIt({ blocks, sizeTokens }: BlockRun, stepTokens: number): boolean {
	return sizeTokens >= (blocks >= manyBlocks ? stepTokens / 2 : stepTokens);
}
