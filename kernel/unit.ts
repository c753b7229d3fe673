import { type Block, extent } from "./block.ts";
import { type Message, pathOf, textOf, toolCalls } from "./message.ts";
import { type Calibration, meteredTokens } from "./meter/calibration.ts";
import type { Estimate } from "./meter/fit.ts";
import { rangeRef } from "./ref.ts";
import type { BranchRecord } from "./timeline.ts";
import { type Item, itemTokens } from "./view.ts";

/** The tools whose units say nothing once they are answered. */
export const spentTools: ReadonlySet<string> = new Set(["compress", "acp_status"]);

/** What is never split: a message, or an assistant message with all its results. */
export interface UnitPiece {
	readonly kind: "unit";
	readonly records: readonly BranchRecord[];
	readonly sizeTokens: number;
	/** Names of the tools it calls, one per call. */
	readonly tools: readonly string[];
	/** The first of its messages as it is sent. */
	readonly message: Message;
}

/** A block that stands in the view. */
export interface BlockPiece {
	readonly kind: "block";
	readonly block: Block;
	readonly sizeTokens: number;
}

/** The view as a model sees it when it folds: units and blocks in their order. */
export type Piece = UnitPiece | BlockPiece;

/** A run of messages by its first and last ref, with what it weighs. */
export interface Range {
	readonly from: number;
	readonly to: number;
	readonly messages: number;
	readonly sizeTokens: number;
	/** Names of the tools called in it and of the files that the calls name, the most frequent first. */
	readonly tools: readonly string[];
	readonly paths: readonly string[];
	/** What the user says in it first; "" if nothing. */
	readonly words: string;
}

/** The units and blocks of a view, each at the place of its first message. Silent and foreign messages are none. */
export function piecesOf(items: readonly Item[]): readonly Piece[] {
	const pieces: (BlockPiece | (UnitPiece & { records: BranchRecord[]; sizeTokens: number }))[] = [];
	const byUnit = new Map<BranchRecord, { records: BranchRecord[]; sizeTokens: number }>();
	for (const item of items) {
		if (item.kind === "block") pieces.push({ kind: "block", block: item.block, sizeTokens: item.sizeTokens });
		if (item.kind !== "entry" || item.record.isSilent) continue;
		const { record, message } = item;
		const known = byUnit.get(record.unit);
		if (known !== undefined) {
			known.records.push(record);
			known.sizeTokens += itemTokens(item);
			continue;
		}
		const tools = toolCalls(message).map((call) => call.name);
		const unit = { kind: "unit" as const, records: [record], sizeTokens: itemTokens(item), tools, message };
		byUnit.set(record.unit, unit);
		pieces.push(unit);
	}
	return pieces;
}

/** True if a piece is a message of the user, with which a turn begins. */
export function beginsTurn(piece: Piece): boolean {
	return piece.kind === "unit" && piece.records[0]?.message?.role === "user";
}

/** First and last ordinal of a piece. */
export function pieceExtent(piece: Piece): { readonly from: number; readonly to: number } {
	if (piece.kind === "block") return extent(piece.block.spans);
	const ordinals = piece.records.map((record) => record.ordinal);
	return { from: Math.min(...ordinals), to: Math.max(...ordinals) };
}

/** A run of pieces as a range. */
export function rangeOf(pieces: readonly Piece[]): Range {
	const extents = pieces.map(pieceExtent);
	const units = pieces.filter((piece) => piece.kind === "unit");
	const asks = units.find(beginsTurn);
	return {
		from: extents[0]?.from ?? 0,
		to: extents.at(-1)?.to ?? 0,
		messages: pieces.reduce((sum, piece) => sum + pieceMessages(piece), 0),
		sizeTokens: pieces.reduce((sum, piece) => sum + piece.sizeTokens, 0),
		tools: byFrequency(units.flatMap((unit) => unit.tools)),
		paths: byFrequency(units.flatMap(pathsOf)),
		words: asks === undefined ? "" : textOf(asks.message).slice(0, 80),
	};
}

function pathsOf({ message }: UnitPiece): readonly string[] {
	return toolCalls(message).flatMap((call) => pathOf(call) ?? []);
}

function byFrequency(names: readonly string[]): readonly string[] {
	const counts = new Map<string, number>();
	for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
	return [...counts].toSorted((a, b) => b[1] - a[1]).map(([name]) => name);
}

/** The ranges with their sizes in the provider's tokens. */
export function meteredRanges(ranges: readonly Range[], calibration: Calibration): readonly Range[] {
	return ranges.map((range) => ({ ...range, sizeTokens: meteredTokens(calibration, range) }));
}

export function pieceMessages(piece: Piece): number {
	return piece.kind === "block" ? piece.block.messages : piece.records.length;
}

/** What a piece takes in the view, where a block is one message. */
export function pieceEstimate(piece: Piece): Estimate {
	return { sizeTokens: piece.sizeTokens, messages: piece.kind === "block" ? 1 : piece.records.length };
}

export function formatRange(range: Pick<Range, "from" | "to">): string {
	return rangeRef(range.from, range.to);
}
