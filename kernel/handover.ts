import { earlierSummary } from "./earlier.ts";
import { estimateTokens } from "./meter/estimate.ts";
import { rulesOf } from "./settings.ts";
import { beginsTurn, type Piece, piecesOf, type UnitPiece } from "./unit.ts";
import type { Context, View } from "./view.ts";

/** A summary from which the host goes on alone, and the first entry it keeps beside it; null for none. */
export interface Handover {
	readonly summary: string;
	readonly firstKeptId: string | null;
}

/** What the host gets at most, of the usable window; half of that may be messages as they are. */
const wholeShare = 1 / 2;

/**
 * The whole view for a host without us: the texts of the blocks, the rest told by rules, and the last turn as it is if it is
 * small enough. Undefined for a view without messages.
 */
export function planHandover(view: View, { branch, window, settings }: Context): Handover | undefined {
	const pieces = piecesOf(view.items);
	if (pieces.length === 0) return undefined;
	const limitTokens = window.usableTokens * wholeShare;
	const keptFrom = firstKept(pieces, limitTokens / 2);
	const told = pieces.slice(0, keptFrom);
	const keptTokens = sizeOf(pieces.slice(keptFrom));
	const { maxTurns } = rulesOf(settings);
	const tell = (some: readonly Piece[], limitTokens: number) => earlierSummary(branch, some, { maxTurns, limitTokens });
	const leftTokens = limitTokens - keptTokens;
	const runs = runsOf(told);
	const blockTokens = runs.reduce((sum, run) => sum + (run.kind === "block" ? estimateTokens(run.text) : 0), 0);
	const units = runs.filter((run) => run.kind === "units").length;
	const eachTokens = (leftTokens - blockTokens) / Math.max(1, units) - frameTokens;
	const summary =
		eachTokens > leastRunTokens
			? runs.map((run) => (run.kind === "block" ? run.text : tell(run.pieces, eachTokens))).join("\n\n")
			: tell(told, leftTokens - frameTokens);
	const kept = pieces[keptFrom];
	const first = kept?.kind === "unit" ? kept.records[0] : undefined;
	return { summary, firstKeptId: first?.entry.id ?? null };
}

/** What the frame around a text told by rules takes. */
const frameTokens = 40;

/** With less room than this for each run of messages the blocks are told by rules too. */
const leastRunTokens = 200;

type Run = { readonly kind: "block"; readonly text: string } | { readonly kind: "units"; readonly pieces: UnitPiece[] };

function runsOf(pieces: readonly Piece[]): readonly Run[] {
	const runs: Run[] = [];
	for (const piece of pieces) {
		const last = runs.at(-1);
		if (piece.kind === "block") runs.push({ kind: "block", text: piece.block.text });
		else if (last?.kind === "units") last.pieces.push(piece);
		else runs.push({ kind: "units", pieces: [piece] });
	}
	return runs;
}

/** The last turn, or nothing, if it is too large to stay as it is or a block stands in it. */
function firstKept(pieces: readonly Piece[], limitTokens: number): number {
	const start = pieces.findLastIndex(beginsTurn);
	if (start < 0) return pieces.length;
	const turn = pieces.slice(start);
	return turn.some((piece) => piece.kind === "block") || sizeOf(turn) > limitTokens ? pieces.length : start;
}

function sizeOf(pieces: readonly Piece[]): number {
	return pieces.reduce((sum, piece) => sum + piece.sizeTokens, 0);
}
