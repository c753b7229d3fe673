import type { Settings } from "./settings.ts";
import type { State } from "./state.ts";
import type { Piece, UnitPiece } from "./unit.ts";

/** Why a unit may not be folded now. */
export type Protection =
	| "the last user message"
	| "recent messages"
	| "a protected tool"
	| "pinned"
	| "the call in progress";

/** The units of the view that may not be folded, each with the reason. Blocks are never protected. */
export function protectedPieces(
	pieces: readonly Piece[],
	settings: Settings,
	{ pins }: Pick<State, "pins">,
): ReadonlyMap<Piece, Protection> {
	const reasons = new Map(stayingPieces(pieces, settings, { pins }));
	for (const piece of recentZone(pieces, settings)) reasons.set(piece, "recent messages");
	const last = pieces.findLast((piece) => piece.kind === "unit" && piece.records[0]?.message?.role === "user");
	if (last !== undefined) reasons.set(last, "the last user message");
	return reasons;
}

/** The units that stay in view wherever they stand and whatever they are, each with the reason. */
export function stayingPieces(
	pieces: readonly Piece[],
	settings: Settings,
	{ pins }: Pick<State, "pins">,
): ReadonlyMap<Piece, Protection> {
	const isProtectedTool = globs(settings.protectedTools);
	const reasons = new Map<Piece, Protection>();
	for (const piece of pieces) {
		if (piece.kind === "block") continue;
		if (piece.tools.some(isProtectedTool)) reasons.set(piece, "a protected tool");
		if (piece.records.some((record) => pins.has(record.ordinal))) reasons.set(piece, "pinned");
	}
	return reasons;
}

/**
 * Every unit that holds one of the last messages or begins within the last tokens, whichever reaches further. Units that
 * only looked something up are neither counted nor protected: what they found can be found again.
 */
function recentZone(pieces: readonly Piece[], settings: Settings): readonly UnitPiece[] {
	const zone: UnitPiece[] = [];
	let messages = 0;
	let sizeTokens = 0;
	for (const piece of pieces.toReversed()) {
		if (piece.kind === "block" || isLookup(piece, settings)) continue;
		if (messages >= settings.preserveRecentMessages && sizeTokens >= settings.preserveRecentTokens) break;
		zone.push(piece);
		messages += piece.records.length;
		sizeTokens += piece.sizeTokens;
	}
	return zone;
}

function isLookup(piece: UnitPiece, settings: Settings): boolean {
	return piece.tools.length > 0 && piece.tools.every((name) => settings.neverPreserveRecentTools.includes(name));
}

function globs(patterns: readonly string[]): (name: string) => boolean {
	const expressions = patterns.map(
		(pattern) => new RegExp(`^${pattern.replace(/[.+?^${}()|[\]\\]/g, "\\$&").replaceAll("*", ".*")}$`),
	);
	return (name) => expressions.some((expression) => expression.test(name));
}
