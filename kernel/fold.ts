import { type BlockHead, blockText, type Span, topicOf } from "./block.ts";
import { digest, messageLimitTokens } from "./digest.ts";
import { textOf } from "./message.ts";
import { type Estimate, sumOf } from "./meter/fit.ts";
import { messageTokens, textTokens } from "./meter/size.ts";
import type { LoggedBlock, LoggedSpan } from "./operation.ts";
import type { Layout } from "./resolve.ts";
import { sentMessage } from "./sent.ts";
import { blockAt } from "./state.ts";
import type { Branch, BranchRecord } from "./timeline.ts";
import { type Piece, pieceEstimate, pieceMessages } from "./unit.ts";

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
		/** How much of the session's first user message is repeated, if it is covered. */
		readonly openingTokens?: number;
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
	const opening = openingOf(branch);
	const openingTokens = covered.some((record) => record === opening) ? (of.openingTokens ?? messageLimitTokens) : 0;
	const text = blockText(head, of.hasRecord === false ? "" : digest(originals(), openingTokens, of.summary));
	return {
		block: { ...head, text, spans: spans.map((span) => logged(branch, span)) },
		before: sumOf(kept.map(pieceEstimate)),
		after: { sizeTokens: textTokens(text), messages: 1 },
	};
}

/** The first message of the user on a branch that is sent and has text. */
function openingOf(branch: Branch): BranchRecord | undefined {
	for (let ordinal = 1; ordinal <= branch.lastOrdinal; ordinal++) {
		const record = branch.message(ordinal);
		if (record?.message?.role !== "user" || record.isSilent) continue;
		const message = sentMessage(branch, record);
		if (message !== undefined && textOf(message).trim() !== "") return record;
	}
	return undefined;
}

/** The session's first user message, and how much of a block over it repeats it, at the most. */
export function repeatedOpening(
	branch: Branch,
): { readonly record: BranchRecord; readonly sizeTokens: number } | undefined {
	const record = openingOf(branch);
	const message = record && sentMessage(branch, record);
	if (record === undefined || message === undefined) return undefined;
	const sizeTokens = message === record.message ? record.sizeTokens : messageTokens(message);
	return { record, sizeTokens: Math.min(messageLimitTokens, sizeTokens) };
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
