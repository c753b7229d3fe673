import { type Block, formatSpans } from "./block.ts";
import { textOf } from "./message.ts";
import { meteredTokens, type Reading } from "./meter/calibration.ts";
import type { Window } from "./meter/window.ts";
import { foldableRanges } from "./pipeline/recommend.ts";
import { formatTokens, next } from "./problem.ts";
import { type Protection, protectedPieces } from "./protect.ts";
import { blockRef } from "./ref.ts";
import { formatRange, meteredRanges, type Piece, pieceEstimate, piecesOf, type Range, rangeOf } from "./unit.ts";
import { type Context, type View, viewReading } from "./view.ts";
import { sizeText, windowText } from "./wording.ts";

/** The figures behind the status tool, the command and the status line. */
export interface Status {
	readonly reading: Reading;
	readonly window: Window;
	readonly pieces: readonly Piece[];
	readonly foldable: readonly Range[];
	/** Why pieces may not be folded now. */
	readonly reasons: ReadonlyMap<Piece, Protection>;
	/** The provider's tokens of a piece, and of the originals behind a block. */
	readonly pieceTokens: (piece: Piece) => number;
	readonly originalTokens: (block: Block) => number;
	/** Tokens of the originals behind the blocks in view, and what the blocks take instead. */
	readonly foldedTokens: number;
	readonly blockTokens: number;
}

export type StatusView = "overview" | "blocks" | "ranges" | "messages";

export function statusOf(view: View, { branch, settings, window, calibration }: Context): Status {
	const pieces = piecesOf(view.items);
	const blocks = pieces.filter((piece) => piece.kind === "block");
	const pieceTokens = (piece: Piece) => meteredTokens(calibration, pieceEstimate(piece));
	const originalTokens = (block: Block) => meteredTokens(calibration, block);
	return {
		reading: viewReading(view, calibration),
		window,
		pieces,
		foldable: meteredRanges(foldableRanges(pieces, settings, branch), calibration),
		reasons: protectedPieces(pieces, settings, branch.state),
		pieceTokens,
		originalTokens,
		foldedTokens: blocks.reduce((sum, piece) => sum + originalTokens(piece.block), 0),
		blockTokens: blocks.reduce((sum, piece) => sum + pieceTokens(piece), 0),
	};
}

/** A status in words, the list at most `limit` lines long. */
export function statusText(status: Status, show: StatusView, limit: number): string {
	switch (show) {
		case "overview":
			return overview(status);
		case "blocks":
			return list(blockLines(status), limit, "There are no blocks.");
		case "ranges":
			return list(rangeLines(status), limit, "Nothing can be folded now.");
		case "messages":
			return list(messageLines(status), limit, "There are no messages.");
	}
}

function overview(status: Status): string {
	const { pieces, foldedTokens, blockTokens } = status;
	const blocks = pieces.filter((piece) => piece.kind === "block").length;
	const folded =
		blocks === 0
			? "Nothing is folded."
			: `${blocks} ${blocks === 1 ? "block stands" : "blocks stand"} for ${formatTokens(foldedTokens)} tokens in ${formatTokens(blockTokens)}.`;
	const size = `The view holds ${sizeText(status.reading, status.window)}${windowText(status.window)}.`;
	return [size, folded, next(status.foldable)].join("\n");
}

function blockLines(status: Status): readonly string[] {
	return status.pieces.flatMap((piece) => {
		if (piece.kind !== "block") return [];
		const { number, tier, spans, messages, topic } = piece.block;
		const size = `${formatTokens(status.originalTokens(piece.block))} → ${formatTokens(status.pieceTokens(piece))} tokens`;
		return `${blockRef(number)} tier ${tier}, ${formatSpans(spans)}, ${messages} messages, ${size}${topic ? `: ${topic}` : ""}`;
	});
}

function rangeLines(status: Status): readonly string[] {
	return status.foldable.map((range) => {
		const tools = range.tools.length > 0 ? `: ${range.tools.join(", ")}` : "";
		return `${formatRange(range)}, ${range.messages} messages, ${formatTokens(range.sizeTokens)} tokens${tools}`;
	});
}

function messageLines(status: Status): readonly string[] {
	return status.pieces.map((piece) => {
		const reason = status.reasons.get(piece);
		const size = formatTokens(status.pieceTokens(piece));
		const name = piece.kind === "block" ? blockRef(piece.block.number) : formatRange(rangeOf([piece]));
		return `${name} ${size} ${excerpt(piece)}${reason ? ` (stays: ${reason})` : ""}`;
	});
}

function excerpt(piece: Piece): string {
	if (piece.kind === "block") return piece.block.topic ?? "";
	const message = piece.records[0]?.message;
	const text = message === undefined ? "" : textOf(message).replace(/\s+/g, " ").trim().slice(0, 60).toWellFormed();
	const tools = piece.tools.length > 0 ? `[${piece.tools.join(", ")}]` : "";
	return [message?.role, tools, text].filter((part) => part).join(" ");
}

/** The newest lines are at the end of the view, so a long list loses its beginning. */
function list(lines: readonly string[], limit: number, none: string): string {
	if (lines.length === 0) return none;
	const shown = lines.slice(-limit);
	const left = lines.length - shown.length;
	return [...(left > 0 ? [`(${left} earlier ones left out; ask with a larger limit)`] : []), ...shown].join("\n");
}
