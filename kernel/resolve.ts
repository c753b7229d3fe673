import type { RangeRequest } from "./arguments.ts";
import { type Block, extent } from "./block.ts";
import type { Problem } from "./problem.ts";
import { blockRef, formatRef, parseRef, type Ref } from "./ref.ts";
import { blockAt, type State, topOf } from "./state.ts";
import type { Branch, BranchRecord } from "./timeline.ts";
import { formatRange, type Piece, piecesOf, rangeOf } from "./unit.ts";
import type { View } from "./view.ts";

/** The view as pieces, with the way from a ref to its piece. */
export interface Layout {
	readonly branch: Branch;
	readonly state: State;
	readonly pieces: readonly Piece[];
	/** The pieces before the call in progress. */
	readonly available: readonly Piece[];
	readonly byOrdinal: ReadonlyMap<number, number>;
	readonly byBlock: ReadonlyMap<Block, number>;
}

/** A range as positions in the pieces of a layout, both included. */
export interface Resolved {
	readonly first: number;
	readonly last: number;
	/** The refs that were asked for, in order. */
	readonly asked: string;
	/** The refs of the range that is really used. */
	readonly range: string;
	/** True if both boundaries were given as blocks. */
	readonly isInBlocks: boolean;
	/** How it differs from what was asked. */
	readonly notes: readonly string[];
}

export function layout(branch: Branch, view: View, call: BranchRecord | undefined): Layout {
	const pieces = piecesOf(view.items);
	const own = pieces.findIndex((piece) => piece.kind === "unit" && piece.records[0]?.unit === call);
	const byOrdinal = new Map<number, number>();
	const byBlock = new Map<Block, number>();
	for (const [index, piece] of pieces.entries()) {
		if (piece.kind === "block") byBlock.set(piece.block, index);
		else for (const record of piece.records) byOrdinal.set(record.ordinal, index);
	}
	const available = call === undefined || own < 0 ? pieces : pieces.slice(0, own);
	return { branch, state: branch.state, pieces, available, byOrdinal, byBlock };
}

/** The pieces between two refs, in the order of the view; boundaries inside a unit or block widen to the whole. */
export function resolveRange(request: Pick<RangeRequest, "startId" | "endId">, placed: Layout): Resolved | Problem {
	const start = readBoundary(request.startId, placed);
	if ("code" in start) return start;
	const end = readBoundary(request.endId, placed);
	if ("code" in end) return end;
	const isReversed = isAfter(start, end);
	const [low, high] = isReversed ? [end, start] : [start, end];
	const asked = low.ref === high.ref ? low.ref : `${low.ref}-${high.ref}`;
	const first = low.index ?? snap(placed, low.ordinal, 1);
	const last = high.index ?? snap(placed, high.ordinal, -1);
	if (first === undefined || last === undefined || first > last) return { code: "notInView", range: asked };
	const range = nameOf(placed.pieces.slice(first, last + 1));
	const notes = [
		...(isReversed ? ["the boundaries were reversed"] : []),
		...(range === asked || (low.kind === "block" && high.kind === "block") ? [] : [`asked for ${asked}`]),
	];
	return { first, last, asked, range, isInBlocks: low.kind === "block" && high.kind === "block", notes };
}

interface Boundary {
	readonly kind: Ref["kind"];
	readonly ref: string;
	readonly ordinal: number;
	/** Position of its piece; undefined if the message is not in view. */
	readonly index: number | undefined;
}

function readBoundary(text: string, placed: Layout): Boundary | Problem {
	const ref = parseRef(text);
	if (ref === undefined) return { code: "unreadableRef", text };
	return ref.kind === "message" ? messageBoundary(ref, placed) : blockBoundary(ref, placed);
}

function messageBoundary(ref: Ref, { branch, state, byOrdinal, byBlock }: Layout): Boundary | Problem {
	const record = branch.message(ref.number);
	if (ref.at !== undefined && record?.entry.id !== ref.at) return { code: "foreignRef", ref: formatRef(ref) };
	if (record === undefined) return { code: "unknownMessage", ref: formatRef(ref), last: branch.lastOrdinal };
	const block = blockAt(state, ref.number);
	const index = byOrdinal.get(ref.number) ?? (block && byBlock.get(block));
	return { kind: "message", ref: formatRef(ref), ordinal: ref.number, index };
}

function blockBoundary(ref: Ref, { state, byBlock }: Layout): Boundary | Problem {
	const block = state.blocks.get(ref.number);
	if (ref.at !== undefined && block?.madeBy !== ref.at) return { code: "foreignRef", ref: formatRef(ref) };
	const top = block && topOf(state, block);
	if (block === undefined || top === undefined) {
		return { code: "unknownBlock", ref: formatRef(ref), known: state.tops.map((each) => each.number) };
	}
	return { kind: "block", ref: blockRef(ref.number), ordinal: extent(top.spans).from, index: byBlock.get(top) };
}

/** By place in the view; by ordinal where both are in one piece, or one is in none. */
function isAfter(start: Boundary, end: Boundary): boolean {
	const { index: left } = start;
	const { index: right } = end;
	return left === undefined || right === undefined || left === right ? start.ordinal > end.ordinal : left > right;
}

/** The nearest piece in view on the inner side of a message that is not. */
function snap(placed: Layout, ordinal: number, step: 1 | -1): number | undefined {
	for (let near = ordinal; near >= 1 && near <= placed.branch.lastOrdinal; near += step) {
		const block = blockAt(placed.state, near);
		const index = placed.byOrdinal.get(near) ?? (block && placed.byBlock.get(block));
		if (index !== undefined) return index;
	}
	return undefined;
}

function nameOf(pieces: readonly Piece[]): string {
	const blocks = pieces.filter((piece) => piece.kind === "block");
	const [first, last] = [blocks[0], blocks.at(-1)];
	if (first === undefined || last === undefined || blocks.length < pieces.length) return formatRange(rangeOf(pieces));
	return first === last
		? blockRef(first.block.number)
		: `${blockRef(first.block.number)}-${blockRef(last.block.number)}`;
}
