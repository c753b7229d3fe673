import { readCompressArguments } from "./arguments.ts";
import { foldPieces } from "./fold.ts";
import { isImage, textOf, toolCalls } from "./message.ts";
import { isMarked, isObject, type LoggedBlock, type Operation } from "./operation.ts";
import { blockRef, parseRef, type Ref } from "./ref.ts";
import { layout } from "./resolve.ts";
import type { Branch, BranchRecord } from "./timeline.ts";
import type { Piece } from "./unit.ts";
import { type View, viewTokens } from "./view.ts";
import { foldedLine } from "./wording.ts";

/** A block that another program made over messages of this log. */
export interface ForeignBlock {
	readonly name: string;
	readonly summary: string;
	readonly topic?: string | undefined;
	readonly tier: number;
	/** True for a message it covers. */
	covers(record: BranchRecord): boolean;
}

/** The foreign blocks that could be located as one commit, and the names of those that could not. */
export interface Takeover {
	readonly operation: Operation | undefined;
	readonly taken: readonly string[];
	readonly left: readonly string[];
}

/** Plans to fold what foreign blocks cover, whole units at a time. Blocks over nothing in view are left. */
export function planTakeover(branch: Branch, view: View, foreign: readonly ForeignBlock[]): Takeover {
	const placed = layout(branch, view, undefined);
	const used = new Set<Piece>();
	const blocks: LoggedBlock[] = [];
	const names = { taken: [] as string[], left: [] as string[] };
	let savedTokens = 0;
	for (const each of inOrder(foreign, placed.pieces)) {
		const kept = placed.pieces.filter((piece) => isCovered(piece, each) && !used.has(piece));
		const number = branch.state.lastNumber + blocks.length + 1;
		const folded = kept.length === 0 ? undefined : foldPieces(placed, kept, { ...each, number });
		if (folded === undefined || folded.after.sizeTokens >= folded.before.sizeTokens) {
			names.left.push(each.name);
			continue;
		}
		for (const piece of kept) used.add(piece);
		blocks.push(folded.block);
		names.taken.push(each.name);
		savedTokens += folded.before.sizeTokens - folded.after.sizeTokens;
	}
	if (blocks.length === 0) return { ...names, operation: undefined };
	const sizeTokens = Math.max(0, viewTokens(view) - savedTokens);
	return { ...names, operation: { kind: "fold", author: "model", blocks, reductions: [], sizeTokens } };
}

function inOrder(foreign: readonly ForeignBlock[], pieces: readonly Piece[]): readonly ForeignBlock[] {
	const placed = foreign.map((each) => ({ each, first: pieces.findIndex((piece) => isCovered(piece, each)) }));
	return placed.toSorted((a, b) => a.first - b.first).map(({ each }) => each);
}

function isCovered(piece: Piece, foreign: ForeignBlock): boolean {
	return piece.kind === "unit" && piece.records.some((record) => foreign.covers(record));
}

/**
 * The blocks of a sidecar of schema version 1 that another program wrote: those still active, by the entry ids they list
 * (`<entry id>` or `<entry id>#<call id>`). Undefined if the value is no such sidecar, or holds no block at all: then the
 * log may still say more.
 */
export function readForeignSidecar(value: unknown): readonly ForeignBlock[] | undefined {
	if (!isObject(value) || !Array.isArray(value.blocks)) return undefined;
	if (value.schemaVersion !== undefined && value.schemaVersion !== 1) return undefined;
	const blocks = value.blocks.filter(isObject).filter((block) => typeof block.summary === "string");
	if (blocks.length === 0) return undefined;
	return blocks.filter((block) => block.active !== false).map(foreignBlock);
}

function foreignBlock(block: Readonly<Record<string, unknown>>): ForeignBlock {
	const listed = Array.isArray(block.effectiveMessageIds) ? block.effectiveMessageIds : [];
	const ids = new Set(listed.filter((id) => typeof id === "string").map((id) => id.replace(/#.*$/s, "")));
	const tier = typeof block.tier === "number" ? Math.min(3, Math.max(1, Math.round(block.tier))) : 1;
	return {
		name: typeof block.blockId === "string" ? block.blockId : "a block without a name",
		summary: String(block.summary),
		topic: typeof block.topic === "string" ? block.topic : undefined,
		tier,
		covers: (record) => ids.has(record.entry.id),
	};
}

/**
 * The blocks that successful compress calls of another extension made, by what the calls say: refs number the messages in
 * order, an assistant message with several calls counting once per call, as the reference project numbers them. A call
 * that names blocks takes their messages over.
 */
export function foreignCalls(branch: Branch): readonly ForeignBlock[] {
	const numbers = foreignNumbers(branch);
	const blocks: (Interval & { block: ForeignBlock; isActive: boolean })[] = [];
	for (const record of branch.messages(1, branch.lastOrdinal)) {
		for (const range of foreignRanges(record)) {
			const from = boundary(parseRef(range.startId), numbers, blocks, "from");
			const to = boundary(parseRef(range.endId), numbers, blocks, "to");
			if (from === undefined || to === undefined || from > to || to >= record.unit.ordinal) continue;
			for (const each of blocks) if (each.from >= from && each.to <= to) each.isActive = false;
			const covers = ({ ordinal }: BranchRecord) => ordinal >= from && ordinal <= to;
			const name = blockRef(blocks.length + 1);
			const { summary, topic } = range;
			blocks.push({ from, to, isActive: true, block: { name, summary, topic, tier: 1, covers } });
		}
	}
	return blocks.filter((each) => each.isActive).map((each) => each.block);
}

interface Interval {
	readonly from: number;
	readonly to: number;
}

/** Ordinals by foreign message number: entry `n` is the ordinal of their message `n + 1`. */
function foreignNumbers(branch: Branch): readonly number[] {
	return branch.messages(1, branch.lastOrdinal).flatMap((record) => {
		const { message } = record;
		if (message === undefined) return [];
		const isEmpty = textOf(message).trim() === "" && !(Array.isArray(message.content) && message.content.some(isImage));
		const count = Math.max(toolCalls(message).length, isEmpty && message.role !== "toolResult" ? 0 : 1);
		return Array.from({ length: count }, () => record.ordinal);
	});
}

function boundary(
	ref: Ref | undefined,
	numbers: readonly number[],
	blocks: readonly Interval[],
	side: keyof Interval,
): number | undefined {
	if (ref === undefined) return undefined;
	return ref.kind === "message" ? numbers[ref.number - 1] : blocks[ref.number - 1]?.[side];
}

/** The ranges of the call that a result answers, if it is a compress result that is not ours. */
function foreignRanges(record: BranchRecord) {
	const { message, call } = record;
	if (message?.role !== "toolResult" || message.toolName !== "compress" || message.isError === true) return [];
	if (isMarked(message.details) || textOf(message).startsWith(`${foldedLine}\n`)) return [];
	const request = call && readCompressArguments(call.arguments);
	return request === undefined || "problem" in request ? [] : request.ranges;
}
