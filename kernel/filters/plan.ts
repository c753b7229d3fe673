import { isEmpty } from "../message.ts";
import { messageTokens } from "../meter/size.ts";
import type { LoggedReduction } from "../operation.ts";
import { stayingPieces } from "../protect.ts";
import { reduceMessage } from "../reductions.ts";
import type { Settings } from "../settings.ts";
import type { Reduction } from "../state.ts";
import type { Branch, BranchRecord } from "../timeline.ts";
import type { Piece, UnitPiece } from "../unit.ts";
import type { View } from "../view.ts";
import { filterRules } from "./index.ts";

/** What a fold does by itself. */
export interface Fold {
	/** The view as pieces, as far as the fold may look. */
	readonly pieces: readonly Piece[];
	/** How many of them, from the start, may change. */
	readonly end: number;
	readonly folded: ReadonlySet<Piece>;
	/** What it leaves out of the view. */
	readonly hidden?: ReadonlySet<Piece>;
	/** The messages that it cuts. */
	readonly cut?: ReadonlySet<BranchRecord>;
}

/** What the rules of content add to a fold. */
export interface Filtering {
	readonly reductions: readonly LoggedReduction[];
	/** What the view at hand gets smaller by. */
	readonly savedTokens: number;
	/** The pieces that are not hidden, each as large as it is after the fold. */
	readonly left: readonly Piece[];
}

/**
 * Asks the rules of content that are on what else to reduce with a fold. They reach what stays in view after the first piece
 * that it folds, but for pins, protected tools, what it cuts and what the host has edited.
 */
export function filterReductions(
	view: View,
	{ branch, settings }: { readonly branch: Branch; readonly settings: Settings },
	{ pieces, end, folded, hidden = new Set(), cut = new Set() }: Fold,
): Filtering {
	const isShown = (piece: Piece): piece is UnitPiece =>
		piece.kind === "unit" && !folded.has(piece) && !hidden.has(piece);
	const isWritten = (record: BranchRecord) => !cut.has(record) && branch.leaf?.edits.has(record.entry.id) !== true;
	const { reductions } = branch.state;
	const staying = stayingPieces(pieces, settings, branch.state);
	const first = pieces.findIndex((piece) => folded.has(piece));
	const reducible = pieces.slice(first + 1, end).filter((piece) => isShown(piece) && !staying.has(piece));
	const written = reducible.flatMap(recordsOf).filter(isWritten);
	const lists = new Map(written.map((record) => [record, reductions.get(record.ordinal) ?? []] as const));
	const isWhole = (record: BranchRecord) => isWritten(record) && !reductions.has(record.ordinal) && isAnswer(record);
	const logged: LoggedReduction[] = [];
	for (const rule of filterRules) {
		const planned = settings.filters[rule.name] ? rule.plan({ units: pieces.filter(isShown), isWhole }) : [];
		for (const record of planned) {
			const before = lists.get(record);
			const reduction = before && reductionBy(rule, record, before);
			if (before === undefined || reduction === undefined) continue;
			lists.set(record, [...before, reduction]);
			logged.push({ id: record.entry.id, ordinal: record.ordinal, ...reduction });
		}
	}
	return filteringOf(
		view,
		pieces.filter((piece) => !hidden.has(piece)),
		logged,
	);
}

function recordsOf(piece: Piece): readonly BranchRecord[] {
	return piece.kind === "unit" ? piece.records : [];
}

/** True for a result that is no failure and holds something. */
function isAnswer({ message }: BranchRecord): boolean {
	return message !== undefined && message.isError !== true && !isEmpty(message);
}

function reductionBy(
	{ name, leastSavedTokens }: (typeof filterRules)[number],
	{ message, ordinal, sizeTokens }: BranchRecord,
	before: readonly Reduction[],
): Reduction | undefined {
	if (message === undefined) return undefined;
	const reduced = reduceMessage(message, ordinal, [...before, { rule: name, savedTokens: 0 }]);
	const savedTokens = sizeTokens - messageTokens(reduced);
	return savedTokens - (before.at(-1)?.savedTokens ?? 0) >= leastSavedTokens ? { rule: name, savedTokens } : undefined;
}

function filteringOf(view: View, pieces: readonly Piece[], reductions: readonly LoggedReduction[]): Filtering {
	const after = new Map(reductions.map(({ ordinal, savedTokens }) => [ordinal, savedTokens]));
	const saved = new Map<BranchRecord, number>();
	for (const item of view.items) {
		const savedTokens = item.kind === "entry" ? after.get(item.record.ordinal) : undefined;
		if (item.kind !== "entry" || savedTokens === undefined) continue;
		saved.set(item.record, item.sizeTokens - (item.record.sizeTokens - savedTokens));
	}
	const savedOf = (piece: Piece) => recordsOf(piece).reduce((sum, record) => sum + (saved.get(record) ?? 0), 0);
	const left = pieces.map((piece) => {
		const savedTokens = savedOf(piece);
		return savedTokens === 0 ? piece : { ...piece, sizeTokens: piece.sizeTokens - savedTokens };
	});
	return { reductions, savedTokens: [...saved.values()].reduce((sum, each) => sum + each, 0), left };
}
