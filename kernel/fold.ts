import { type BlockHead, blockText, type Span, topicOf } from "./block.ts";
import { digest } from "./digest.ts";
import { type Estimate, sumOf } from "./meter/fit.ts";
import type { LoggedBlock, LoggedSpan } from "./operation.ts";
import type { Layout } from "./resolve.ts";
import { sentMessage } from "./sent.ts";
import { blockAt } from "./state.ts";
import type { Branch } from "./timeline.ts";
import { type Piece, pieceEstimate, pieceMessages } from "./unit.ts";
import { blockItem } from "./view.ts";

/** A block as it goes into an operation, and what it weighs beside what it replaces. */
export interface Folded {
	readonly block: LoggedBlock;
	readonly before: Estimate;
	readonly after: Estimate;
}

/** Makes a block of pieces of the view: its spans, its record, its text. */
export function foldPieces(
	placed: Layout,
	kept: readonly Piece[],
	of: {
		readonly number: number;
		readonly summary: string;
		readonly topic?: string | undefined;
		readonly tier: number;
		/** False where there is no room for the record. */
		readonly hasRecord?: boolean;
	},
): Folded {
	const { branch } = placed;
	const topic = topicOf(of.topic ?? "");
	const spans = spansOf(placed, kept);
	const covered = spans.flatMap((span) => branch.messages(span.from, span.to)).filter((record) => !record.isSilent);
	const head: BlockHead = {
		number: of.number,
		tier: of.tier,
		...(topic ? { topic } : {}),
		summary: of.summary,
		spans,
		children: kept.flatMap((piece) => (piece.kind === "block" ? piece.block.number : [])),
		messages: kept.reduce((sum, piece) => sum + pieceMessages(piece), 0),
		sizeTokens: kept.reduce((sum, piece) => sum + originalTokens(piece), 0),
	};
	const originals = () => covered.flatMap((record) => sentMessage(branch, record) ?? []);
	const text = blockText(head, of.hasRecord === false ? "" : digest(originals()));
	const { sizeTokens } = blockItem({ ...head, text, author: "model", createdAtMs: 0, madeBy: "" });
	return {
		block: { ...head, text, spans: spans.map((span) => logged(branch, span)) },
		before: sumOf(kept.map(pieceEstimate)),
		after: { sizeTokens, messages: 1 },
	};
}

function originalTokens(piece: Piece): number {
	return piece.kind === "block" ? piece.block.sizeTokens : piece.sizeTokens;
}

/**
 * The spans of the pieces. A gap between two of them is closed if nothing in it is in view or a summary by the host:
 * spent calls and failed messages between two folded units are folded with them.
 */
function spansOf(placed: Layout, kept: readonly Piece[]): readonly Span[] {
	const { branch } = placed;
	const parts = kept.flatMap((piece) => pieceSpans(placed, piece)).toSorted((a, b) => a.from - b.from);
	const spans: Span[] = [];
	for (const part of parts) {
		const last = spans.at(-1);
		if (last !== undefined && isBridged(placed, last.to, part.from)) spans[spans.length - 1] = { ...last, to: part.to };
		else spans.push(part);
	}
	return spans;

	function isBridged({ byOrdinal, state }: Layout, left: number, right: number): boolean {
		if (isSummary(branch, left) || isSummary(branch, right)) return false;
		return branch
			.messages(left + 1, right - 1)
			.every(({ ordinal }) => !byOrdinal.has(ordinal) && !isSummary(branch, ordinal) && !blockAt(state, ordinal));
	}
}

/** A unit is folded whole, with what an edit keeps out of view now: a later edit may bring that back. */
function pieceSpans({ branch, state }: Layout, piece: Piece): readonly Span[] {
	if (piece.kind === "block") return piece.block.spans;
	const [first] = piece.records;
	const records = first === undefined ? [] : branch.unit(first.unit);
	return records
		.filter(({ ordinal }) => blockAt(state, ordinal) === undefined)
		.map(({ ordinal }) => ({ from: ordinal, to: ordinal }));
}

function isSummary(branch: Branch, ordinal: number): boolean {
	return branch.message(ordinal)?.entry.kind === "compaction";
}

function logged(branch: Branch, { from, to }: Span): LoggedSpan {
	return { fromId: branch.message(from)?.entry.id ?? "", from, toId: branch.message(to)?.entry.id ?? "", to };
}
