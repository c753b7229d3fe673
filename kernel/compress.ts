import type { RangeRequest } from "./arguments.ts";
import { filterReductions } from "./filters/plan.ts";
import { foldPieces } from "./fold.ts";
import { textOf } from "./message.ts";
import { type Estimate, sumOf } from "./meter/fit.ts";
import type { LoggedBlock, LoggedReduction, Operation } from "./operation.ts";
import { foldableRanges } from "./pipeline/recommend.ts";
import type { Problem } from "./problem.ts";
import { type Protection, protectedPieces, stayingPieces } from "./protect.ts";
import { judgeSummary } from "./quality.ts";
import { blockRef } from "./ref.ts";
import { type Layout, layout, type Resolved, resolveRange } from "./resolve.ts";
import type { Settings } from "./settings.ts";
import type { Branch, BranchRecord } from "./timeline.ts";
import { formatRange, type Piece, pieceEstimate, type Range, rangeOf, spentTools, type UnitPiece } from "./unit.ts";
import { estimateOf, type View } from "./view.ts";

/** What became of one range of a call. */
export type RangeOutcome =
	| {
			readonly isApplied: true;
			readonly request: RangeRequest;
			readonly block: LoggedBlock;
			/** What the block replaces, and the block. */
			readonly before: Estimate;
			readonly after: Estimate;
			readonly notes: readonly string[];
			readonly stayed: readonly Stayed[];
	  }
	| {
			readonly isApplied: false;
			readonly request: RangeRequest;
			readonly problem: Problem;
			readonly notes: readonly string[];
	  };

/** A part of a range that may not be folded and stays in view. */
export interface Stayed {
	readonly range: string;
	readonly reason: Protection;
}

/** The answer to a call: one commit for all ranges that could be folded, and what to say about each. */
export interface FoldPlan {
	/** Undefined if no range could be folded: then nothing changes. */
	readonly operation: Operation | undefined;
	readonly outcomes: readonly RangeOutcome[];
	/** The view as it is, and as it is to be. */
	readonly before: Estimate;
	readonly after: Estimate;
	/** What can still be folded. */
	readonly foldable: readonly Range[];
}

interface Candidate {
	readonly request: RangeRequest;
	readonly resolved: Resolved;
	readonly kept: readonly Piece[];
	readonly stayed: readonly Stayed[];
	/** Names the summary lost. */
	readonly lost: readonly string[];
}

/**
 * Judges the ranges of one call against one view and plans the commit. `call` is the unit of the call itself: it and
 * everything after it stay out.
 */
export function planFold(
	branch: Branch,
	view: View,
	settings: Settings,
	ranges: readonly RangeRequest[],
	call: BranchRecord | undefined,
): FoldPlan {
	const placed = layout(branch, view, call);
	const reasons = new Map(protectedPieces(placed.available, settings, placed.state));
	for (const piece of placed.pieces.slice(placed.available.length)) reasons.set(piece, "the call in progress");
	const taken = new Map<Piece, string>();
	const judged = ranges.map((request) => judge(request, placed, reasons));
	const candidates = judged.filter((each) => "kept" in each).toSorted((a, b) => a.resolved.first - b.resolved.first);
	const outcomes = new Map<Candidate, RangeOutcome>();
	const blocks: LoggedBlock[] = [];
	for (const candidate of candidates) {
		const { kept, resolved } = candidate;
		const other = kept.map((piece) => taken.get(piece)).find((earlier) => earlier !== undefined);
		const outcome =
			other === undefined
				? makeBlock(placed, candidate, branch.state.lastNumber + blocks.length + 1)
				: overlap(candidate, other);
		outcomes.set(candidate, outcome);
		if (!outcome.isApplied) continue;
		blocks.push(outcome.block);
		for (const piece of kept) taken.set(piece, resolved.range);
	}
	const all = judged.flatMap((each) => ("kept" in each ? (outcomes.get(each) ?? []) : each));
	return commit(view, placed, settings, candidates, all);
}

function judge(
	request: RangeRequest,
	placed: Layout,
	reasons: ReadonlyMap<Piece, Protection>,
): Candidate | (RangeOutcome & { isApplied: false }) {
	const resolved = resolveRange(request, placed);
	if ("code" in resolved) return { isApplied: false, request, problem: resolved, notes: [] };
	const { range, asked, notes, isInBlocks } = resolved;
	const refuse = (problem: Problem) => ({ isApplied: false as const, request, problem, notes });
	const pieces = placed.pieces.slice(resolved.first, resolved.last + 1);
	const kept = pieces.filter((piece) => !reasons.has(piece));
	const stayed = groupStayed(pieces, reasons);
	const block = kept.length === 1 && kept[0]?.kind === "block" ? kept[0].block : undefined;
	if (block !== undefined && !isInBlocks && stayed.length === 0) {
		return refuse({ code: "alreadyFolded", range: asked, block: block.number });
	}
	if (kept.length === 0 || (block !== undefined && !isInBlocks)) {
		const reasons = stayed.map((each) => `${each.range} (${each.reason})`);
		if (block !== undefined) reasons.push(`${blockRef(block.number)} (already folded)`);
		return refuse({ code: "nothingLeft", range, reasons });
	}
	if (block !== undefined && block.tier >= 3 && block.author === "model") {
		return refuse({ code: "topTier", block: block.number });
	}
	const lost = lostIn(request.summary, range, placed.branch, kept);
	if ("code" in lost) return refuse(lost);
	return { request, resolved, kept, stayed, lost };
}

function overlap({ request, resolved: { range, notes } }: Candidate, other: string): RangeOutcome {
	return { isApplied: false, request, problem: { code: "overlap", range, other }, notes };
}

/** The names that a summary lost, or what is wrong with it. */
function lostIn(summary: string, range: string, branch: Branch, kept: readonly Piece[]): readonly string[] | Problem {
	if (summary.trim() === "") return { code: "emptySummary", range };
	const quality = judgeSummary(summary, branch, kept);
	if (quality.kind === "fine") return quality.lost;
	return quality.kind === "filler" ? { code: "filler", range } : { code: "tooShort", range, width: quality.width };
}

function makeBlock(placed: Layout, { request, resolved, kept, stayed, lost }: Candidate, number: number): RangeOutcome {
	const { range, isInBlocks } = resolved;
	const notes = [...resolved.notes, ...(lost.length === 0 ? [] : [`its summary lost the names ${lost.join(", ")}`])];
	const { summary, topic } = request;
	const { block, before, after } = foldPieces(placed, kept, {
		number,
		summary,
		topic,
		tier: tierOf(kept, isInBlocks),
	});
	const textTokens = after.sizeTokens;
	if (textTokens >= before.sizeTokens && textTokens >= replacedTokens(kept)) {
		const problem = { code: "notSmaller", range, textTokens, sizeTokens: before.sizeTokens } as const;
		return { isApplied: false, request, problem, notes };
	}
	return { isApplied: true, request, block, before, after, notes, stayed };
}

/** A block that rules made may give way to a longer one of the model's, as long as that is smaller than the originals. */
function replacedTokens(kept: readonly Piece[]): number {
	const [only] = kept;
	return kept.length === 1 && only?.kind === "block" && only.block.author === "rules" ? only.block.sizeTokens : 0;
}

function commit(
	view: View,
	placed: Layout,
	settings: Settings,
	candidates: readonly Candidate[],
	outcomes: readonly RangeOutcome[],
): FoldPlan {
	const applied = outcomes.filter((outcome) => outcome.isApplied);
	const before = estimateOf(view);
	if (applied.length === 0) {
		const foldable = foldableRanges(placed.available, settings, placed.branch);
		return { operation: undefined, outcomes, before, after: before, foldable };
	}
	const folded = new Set(
		candidates
			.filter((candidate) => applied.some((outcome) => outcome.request === candidate.request))
			.flatMap((candidate) => candidate.kept),
	);
	const staying = stayingPieces(placed.available, settings, placed.state);
	const spent = spentUnits(placed.available, folded).filter((unit) => !staying.has(unit));
	const pieces = placed.available;
	const filtering = filterReductions(
		view,
		{ branch: placed.branch, settings },
		{ pieces, end: pieces.length, folded, hidden: new Set(spent) },
	);
	const gone = sumOf([...applied.map((outcome) => outcome.before), ...spent.map(pieceEstimate)]);
	const came = sumOf(applied.map((outcome) => outcome.after));
	const after = {
		sizeTokens: Math.max(0, before.sizeTokens - gone.sizeTokens + came.sizeTokens - filtering.savedTokens),
		messages: before.messages - gone.messages + came.messages,
	};
	const operation: Operation = {
		kind: "fold",
		author: "model",
		blocks: applied.map((outcome) => outcome.block).toSorted((a, b) => a.number - b.number),
		reductions: [...spent.flatMap(hide), ...filtering.reductions],
		sizeTokens: after.sizeTokens,
	};
	const foldable = foldableRanges(filtering.left, settings, placed.branch, folded);
	return { operation, outcomes, before, after, foldable };
}

/** Units of our own calls after the first folded piece: their results are part of no later step. */
function spentUnits(available: readonly Piece[], folded: ReadonlySet<Piece>): readonly UnitPiece[] {
	const first = available.findIndex((piece) => folded.has(piece));
	const units = available.slice(first).filter((piece) => piece.kind === "unit");
	return units.filter((unit) => !folded.has(unit) && isSpent(unit));
}

function isSpent({ tools, records: [first] }: UnitPiece): boolean {
	if (tools.length === 0 || !tools.every((name) => spentTools.has(name))) return false;
	return first?.message !== undefined && textOf(first.message).trim() === "";
}

function hide({ records }: UnitPiece): readonly LoggedReduction[] {
	return records.slice(0, 1).map(({ entry, ordinal }) => ({ id: entry.id, ordinal, rule: "hide", savedTokens: 0 }));
}

function groupStayed(pieces: readonly Piece[], reasons: ReadonlyMap<Piece, Protection>): readonly Stayed[] {
	const groups: { pieces: Piece[]; reason: Protection }[] = [];
	let last: (typeof groups)[number] | undefined;
	for (const piece of pieces) {
		const reason = reasons.get(piece);
		if (reason !== undefined && last?.reason === reason) last.pieces.push(piece);
		else last = reason === undefined ? undefined : { pieces: [piece], reason };
		if (last !== undefined && last.pieces.length === 1) groups.push(last);
	}
	return groups.map((group) => ({ range: formatRange(rangeOf(group.pieces)), reason: group.reason }));
}

/** One above the highest block inside if the range was given in blocks, else the highest inside; 1 to 3. */
function tierOf(kept: readonly Piece[], isInBlocks: boolean): number {
	const highest = Math.max(0, ...kept.map((piece) => (piece.kind === "block" ? piece.block.tier : 0)));
	return Math.min(3, Math.max(1, isInBlocks ? highest + 1 : highest));
}
