import { blockRef, defuse, rangeRef } from "./ref.ts";

/** An interval of message ordinals on the branch, both ends included. */
export interface Span {
	readonly from: number;
	readonly to: number;
}

/** Who made a block: the model with its own summary, or rules without one. */
export type Author = "model" | "rules";

/** A fold: messages (and blocks) replaced by one message whose text is fixed when the block is made. */
export interface Block {
	readonly number: number;
	readonly tier: number;
	readonly topic?: string;
	/** As the model wrote it. */
	readonly summary: string;
	/** What the view shows, byte for byte. */
	readonly text: string;
	/** Sorted, disjoint; the spans of its children are inside. */
	readonly spans: readonly Span[];
	/** Numbers of the blocks folded into this one. */
	readonly children: readonly number[];
	/** Counted messages covered, those of the children included. */
	readonly messages: number;
	/** Tokens of the messages covered, those of the children included. */
	readonly sizeTokens: number;
	/** Estimated tokens of the message that shows it. */
	readonly shownTokens: number;
	readonly author: Author;
	readonly createdAtMs: number;
	/** The entry whose operation made it. */
	readonly madeBy: string;
}

export function covers(block: Block, ordinal: number): boolean {
	return block.spans.some((span) => span.from <= ordinal && ordinal <= span.to);
}

export function spansOverlap(left: readonly Span[], right: readonly Span[]): boolean {
	return left.some((a) => right.some((b) => a.from <= b.to && b.from <= a.to));
}

/** True if every ordinal of `inner` lies in `outer`. */
export function spansContain(outer: readonly Span[], inner: readonly Span[]): boolean {
	return inner.every((b) => outer.some((a) => a.from <= b.from && b.to <= a.to));
}

/** What of `spans` lies in none of `taken`. */
export function spansWithout(spans: readonly Span[], taken: readonly Span[]): readonly Span[] {
	return taken.reduce<readonly Span[]>(
		(left, hole) =>
			left.flatMap((span) => [
				...(span.from < hole.from ? [{ from: span.from, to: Math.min(span.to, hole.from - 1) }] : []),
				...(span.to > hole.to ? [{ from: Math.max(span.from, hole.to + 1), to: span.to }] : []),
			]),
		spans,
	);
}

/** `m00005-m00031 m00040`, the form of `covers` in a block's text. */
export function formatSpans(spans: readonly Span[]): string {
	return spans.map((span) => rangeRef(span.from, span.to)).join(" ");
}

/** The first and last ordinal a block covers. */
export function extent(spans: readonly Span[]): Span {
	return { from: spans[0]?.from ?? 0, to: spans.at(-1)?.to ?? 0 };
}

/** A block before its text is made and it stands in a log. */
export type BlockHead = Omit<Block, "text" | "shownTokens" | "author" | "createdAtMs" | "madeBy">;

/** The message text of a block; see contract.md, "Units, ranges, blocks". `record` is made by code, "" for none. */
export function blockText(block: BlockHead, record: string): string {
	const attributes = [
		`id="${blockRef(block.number)}"`,
		`tier="${block.tier}"`,
		`covers="${formatSpans(block.spans)}"`,
		`messages="${block.messages}"`,
		`tokens="${block.sizeTokens}"`,
		...(block.topic ? [`topic="${block.topic}"`] : []),
	];
	const summary = defuse(block.summary);
	const body = record === "" ? summary : `${summary}\n\n[record made by code]\n${record}`;
	return `<acp-block ${attributes.join(" ")}>\n${body}\n</acp-block>`;
}

/** A topic as a block keeps it: one line of at most 80 characters that may stand in an attribute. */
export function topicOf(text: string): string {
	return text
		.replace(/[\s"<>]+/g, " ")
		.trim()
		.slice(0, 80)
		.toWellFormed();
}
