import { repeatedOpening } from "../fold.ts";
import { protectedPieces } from "../protect.ts";
import type { Settings } from "../settings.ts";
import type { Branch } from "../timeline.ts";
import { beginsTurn, type Piece, piecesOf, type Range, rangeOf } from "../unit.ts";
import type { Stage } from "../view.ts";

/**
 * The least a range must weigh to be offered, what its block repeats of the session's first user message apart. A record and
 * a block's frame take at most 600 tokens, so any summary of up to 400 tokens is smaller than such a range.
 */
export const leastRangeTokens = 1_000;

/** Lists what the model could fold now. */
export const recommend: Stage = (view, { branch, settings }) => ({
	...view,
	foldable: foldableRanges(piecesOf(view.items), settings, branch),
});

/**
 * Runs of units that may be folded, oldest first, cut at the user's messages where the part before is heavy enough.
 * `folded` are pieces that the commit at hand folds: they bound runs and count for nothing, as blocks do.
 */
export function foldableRanges(
	pieces: readonly Piece[],
	settings: Settings,
	branch: Branch,
	folded: ReadonlySet<Piece> = new Set(),
): readonly Range[] {
	const unfolded = pieces.filter((piece) => !folded.has(piece));
	const reasons = protectedPieces(unfolded, settings, branch.state);
	const opening = repeatedOpening(branch);
	const repeatedTokens = (piece: Piece) =>
		opening !== undefined && piece.kind === "unit" && piece.records[0] === opening.record ? opening.sizeTokens : 0;
	const weight = (pieces: readonly Piece[]) =>
		pieces.reduce((sum, piece) => sum + piece.sizeTokens - repeatedTokens(piece), 0);
	const ranges: Range[] = [];
	let run: Piece[] = [];
	const close = () => {
		if (weight(run) >= leastRangeTokens) ranges.push(rangeOf(run));
		run = [];
	};
	for (const piece of pieces) {
		if (piece.kind === "block" || reasons.has(piece) || folded.has(piece)) {
			close();
			continue;
		}
		if (beginsTurn(piece) && weight(run) >= leastRangeTokens) close();
		run.push(piece);
	}
	close();
	return ranges;
}
