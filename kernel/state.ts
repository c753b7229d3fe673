import { type Block, extent, type Span, spansContain, spansOverlap } from "./block.ts";
import { Chain } from "./chain.ts";
import { textTokens } from "./meter/size.ts";
import type { LoggedBlock, LoggedReduction, LoggedSpan, Operation, ReductionRule, Voice } from "./operation.ts";

/** A change of an older message that holds from its commit on. */
export type Reduction = ReductionRule & { readonly savedTokens: number };

/** Where the last commit stands in the log. */
export interface Commit {
	readonly entryId: string;
	/** Ordinal of the last message before it, or of the message that carries it. */
	readonly ordinal: number;
}

/** A span of a top-level block. */
export type Interval = Span & { readonly block: Block };

/** What a commit may change, so that it can be taken back: everything but the numbers of blocks. */
export interface Shape {
	/** The blocks that stand for messages, sorted by their first ordinal; their spans are disjoint. */
	readonly tops: readonly Block[];
	/** The spans of `tops` in order, each with its block; made when first asked for. */
	readonly intervals: () => readonly Interval[];
	/** By the ordinal of the message, in their order; of each rule the latest. */
	readonly reductions: Chain<number, readonly Reduction[]>;
}

/** Shapes to go back or forward to, the nearest first. */
export interface Shapes {
	readonly shape: Shape;
	readonly rest: Shapes | undefined;
}

/** What the operations on a branch add up to. A value: it never changes, `apply` makes the next one. */
export interface State extends Shape {
	/** Every block made on the branch, by number; those taken back included, since a number is never reused. */
	readonly blocks: Chain<number, Block>;
	readonly lastNumber: number;
	/** Ordinals of the messages that stay in view. */
	readonly pins: ReadonlySet<number>;
	readonly commit: Commit | undefined;
	/** Size of the view at the last commit or nudge; growth is counted from here. */
	readonly baseTokens: number | undefined;
	/** How the last nudge spoke; undefined if a commit came after it. */
	readonly voice: Voice | undefined;
	/** Ordinals of the last message before each of the last three nudges in the voice of an emergency. */
	readonly alarms: readonly number[];
	readonly undoable: Shapes | undefined;
	readonly redoable: Shapes | undefined;
}

export const emptyState: State = {
	blocks: Chain.empty(),
	tops: [],
	intervals: () => [],
	lastNumber: 0,
	reductions: Chain.empty(),
	pins: new Set(),
	commit: undefined,
	baseTokens: undefined,
	voice: undefined,
	alarms: [],
	undoable: undefined,
	redoable: undefined,
};

/** The place of an operation in the log, and how its spans are found on this branch. */
export interface Place {
	readonly entryId: string;
	readonly timestampMs: number;
	readonly ordinal: number;
	/** The ordinal of a logged message on this branch; undefined if the branch has no such message. */
	readonly locate: (id: string, ordinal: number) => number | undefined;
}

/** The state after an operation. What contradicts the state (overlaps, unknown blocks) is left out, never thrown. */
export function apply(state: State, operation: Operation, place: Place): State {
	switch (operation.kind) {
		case "fold": {
			const folded = operation.blocks.reduce(foldBlock(operation.author, place), state);
			return commit(state, reduce(folded, operation, place), operation, place);
		}
		case "truncate":
			return commit(state, reduce(state, operation, place), operation, place);
		case "unfold":
			return commit(state, unfold(state, operation.block), operation, place);
		case "undo":
			return goTo(state, "undoable", "redoable", operation, place);
		case "redo":
			return goTo(state, "redoable", "undoable", operation, place);
		case "pin":
		case "unpin":
			return { ...state, pins: pinned(state.pins, operation, place) };
		case "nudge":
			return nudged(state, operation, place);
	}
}

/** An operation that changes nothing is no commit: there is nothing to take back. */
function commit(before: State, after: State, { sizeTokens }: { readonly sizeTokens: number }, place: Place): State {
	if (after === before) return before;
	const undoable = { shape: shapeOf(before), rest: before.undoable };
	return { ...after, baseTokens: sizeTokens, voice: undefined, commit: commitAt(place), undoable, redoable: undefined };
}

function nudged(
	state: State,
	{ sizeTokens, voice = "soft" }: Extract<Operation, { kind: "nudge" }>,
	{ ordinal }: Place,
): State {
	const alarms = voice === "emergency" ? [...state.alarms.slice(-2), ordinal] : state.alarms;
	return { ...state, baseTokens: sizeTokens, voice, alarms };
}

/** Takes the nearest shape of one list and keeps the present one in the other. */
function goTo(
	state: State,
	from: "undoable" | "redoable",
	to: "undoable" | "redoable",
	{ sizeTokens }: { readonly sizeTokens: number },
	place: Place,
): State {
	const target = state[from];
	if (target === undefined) return state;
	const kept = { shape: shapeOf(state), rest: state[to] };
	return {
		...state,
		...target.shape,
		baseTokens: sizeTokens,
		voice: undefined,
		commit: commitAt(place),
		[from]: target.rest,
		[to]: kept,
	};
}

function shapeOf({ tops, intervals, reductions }: State): Shape {
	return { tops, intervals, reductions };
}

function commitAt({ entryId, ordinal }: Place): Commit {
	return { entryId, ordinal };
}

function pinned(
	pins: ReadonlySet<number>,
	{ kind, message }: Extract<Operation, { kind: "pin" | "unpin" }>,
	place: Place,
): ReadonlySet<number> {
	const ordinal = place.locate(message.id, message.ordinal);
	if (ordinal === undefined) return pins;
	const next = new Set(pins);
	if (kind === "pin") next.add(ordinal);
	else next.delete(ordinal);
	return next;
}

/** The top-level block that covers a message, if any. */
export function blockAt(state: State, ordinal: number): Block | undefined {
	return intervalAt(state, ordinal)?.block;
}

/** The span of a top-level block that covers a message, if any. */
export function intervalAt(state: State, ordinal: number): Interval | undefined {
	const intervals = state.intervals();
	let low = 0;
	let high = intervals.length - 1;
	while (low <= high) {
		const middle = (low + high) >> 1;
		const interval = intervals[middle];
		if (interval === undefined) return undefined;
		if (ordinal < interval.from) high = middle - 1;
		else if (ordinal > interval.to) low = middle + 1;
		else return interval;
	}
	return undefined;
}

/** The top-level block that holds a block, itself included; undefined if it was unfolded. */
export function topOf(state: State, block: Block): Block | undefined {
	return state.tops.find((top) => top === block || spansContain(top.spans, block.spans));
}

/** The blocks folded into a block. */
export function childrenOf(state: State, block: Block): readonly Block[] {
	return block.children.flatMap((child) => state.blocks.get(child) ?? []);
}

function foldBlock(author: Block["author"], place: Place): (state: State, logged: LoggedBlock) => State {
	return (state, logged) => {
		const spans = locateSpans(logged.spans, place);
		if (spans === undefined || logged.number <= state.lastNumber) return state;
		const inside = state.tops.filter((top) => spansOverlap(spans, top.spans));
		const children = inside.map((top) => top.number);
		if (!inside.every((top) => spansContain(spans, top.spans))) return state;
		const block: Block = {
			...logged,
			spans,
			children,
			shownTokens: textTokens(logged.text),
			author,
			createdAtMs: place.timestampMs,
			madeBy: place.entryId,
		};
		const tops = [...state.tops.filter((top) => !inside.includes(top)), block];
		return withTops({ ...state, lastNumber: block.number, blocks: state.blocks.with(block.number, block) }, tops);
	};
}

function unfold(state: State, number: number): State {
	const block = state.tops.find((top) => top.number === number);
	if (block === undefined) return state;
	return withTops(state, [...state.tops.filter((top) => top !== block), ...childrenOf(state, block)]);
}

function withTops(state: State, unsorted: readonly Block[]): State {
	const tops = unsorted.toSorted((a, b) => extent(a.spans).from - extent(b.spans).from);
	return { ...state, tops, intervals: once(() => intervalsOf(tops)) };
}

function intervalsOf(tops: readonly Block[]): readonly Interval[] {
	return tops.flatMap((block) => block.spans.map((span) => ({ ...span, block }))).toSorted((a, b) => a.from - b.from);
}

/** A value that is made when first asked for: most states are never looked at. */
function once<T>(make: () => T): () => T {
	let made: { readonly value: T } | undefined;
	return () => {
		made ??= { value: make() };
		return made.value;
	};
}

function reduce(state: State, operation: { readonly reductions: readonly LoggedReduction[] }, place: Place): State {
	let { reductions } = state;
	for (const { id, ordinal, ...reduction } of operation.reductions) {
		const located = place.locate(id, ordinal);
		if (located === undefined) continue;
		const before = reductions.get(located) ?? [];
		const after = withReduction(before, reduction);
		if (after !== before) reductions = reductions.with(located, after);
	}
	return reductions === state.reductions ? state : { ...state, reductions };
}

/** The reductions of a message with one more; it takes the place of an earlier one by the same rule, and hidden is hidden. */
export function withReduction(reductions: readonly Reduction[], added: Reduction): readonly Reduction[] {
	if (reductions.some(({ rule }) => rule === "hide")) return reductions;
	return added.rule === "hide" ? [added] : [...reductions.filter(({ rule }) => rule !== added.rule), added];
}

/** True if a commit recorded that a unit is left out of the view. */
export function isHidden(
	{ reductions }: Pick<State, "reductions">,
	{ ordinal }: { readonly ordinal: number },
): boolean {
	return reductions.get(ordinal)?.[0]?.rule === "hide";
}

function locateSpans(logged: readonly LoggedSpan[], place: Place): readonly Span[] | undefined {
	const spans: Span[] = [];
	for (const span of logged) {
		const from = place.locate(span.fromId, span.from);
		const to = place.locate(span.toId, span.to);
		const previous = spans.at(-1);
		if (from === undefined || to === undefined || from > to || (previous && previous.to >= from)) return undefined;
		spans.push({ from, to });
	}
	return spans;
}
