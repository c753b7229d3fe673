import type { Block } from "./block.ts";
import { textOf, toolCalls } from "./message.ts";
import { isObject } from "./operation.ts";
import { keptDepthOf } from "./sent.ts";
import type { Branch } from "./timeline.ts";
import { type EntryItem, type Item, itemTokens, type View } from "./view.ts";

/** What a summary in the host's form carries to be known as an anchor again. */
export const anchorDetails = { acp: 1, anchor: true } as const;

export function isAnchorDetails(details: unknown): boolean {
	return isObject(details) && details.acp === 1 && details.anchor === true;
}

/** A summary for the host, and the first entry it keeps beside it. */
export interface Anchor {
	/** Put together when it is asked for: most anchors that are planned are not written. */
	readonly summary: string;
	readonly firstKeptId: string | null;
	/** Estimated tokens of what the summary tells. */
	readonly sizeTokens: number;
	/** Messages that it newly stands for, and estimated tokens of the originals of the blocks that hold them. */
	readonly messages: number;
	readonly replacedTokens: number;
}

/**
 * Unfolded text before a leading block that may go into the summary, at least, and as a share of what the blocks before it
 * stand for: more would make the summary longer than it is worth.
 */
const unfoldedLeastTokens = 4_000;
const unfoldedShare = 1 / 8;

/**
 * The anchor of a view's leading blocks, with the text of the units that stay before or between them; undefined where none
 * lead, or the host leaves out as much already.
 */
export function planAnchor(branch: Branch, view: View): Anchor | undefined {
	const own = view.items.filter((item) => item.kind !== "foreign");
	const leading = leadingItems(branch, own);
	const kept = own.slice(leading.length).find((item) => item.kind === "entry");
	const first = firstSent(branch);
	const messages = (kept?.record.ordinal ?? branch.lastOrdinal + 1) - first;
	if (leading.length === 0 || messages <= 0) return undefined;
	const newly = leading.flatMap((item) =>
		item.kind === "block" && lastOrdinal(branch, item.block) >= first ? item.block.sizeTokens : [],
	);
	return {
		get summary() {
			return leading.map((item) => (item.kind === "block" ? item.block.text : unfoldedText(item))).join("\n\n");
		},
		firstKeptId: kept?.record.entry.id ?? null,
		sizeTokens: leading.reduce((sum, item) => sum + itemTokens(item), 0),
		messages,
		replacedTokens: newly.reduce((sum, sizeTokens) => sum + sizeTokens, 0),
	};
}

type OwnItem = Exclude<Item, { kind: "foreign" }>;

/** The view up to its last leading block, and what stands between the spans of that. */
function leadingItems(branch: Branch, items: readonly OwnItem[]): readonly OwnItem[] {
	let length = 0;
	let unfoldedTokens = 0;
	let foldedTokens = 0;
	let end = 0;
	for (const [index, item] of items.entries()) {
		if (item.kind === "block") {
			end = Math.max(end, lastOrdinal(branch, item.block));
			foldedTokens += item.block.sizeTokens;
		} else unfoldedTokens += itemTokens(item);
		if (unfoldedTokens > Math.max(unfoldedLeastTokens, foldedTokens * unfoldedShare)) break;
		if (item.kind === "block" || (item.record.ordinal < end && endsUnit(item, items[index + 1]))) length = index + 1;
	}
	return items.slice(0, length);
}

function endsUnit({ record }: EntryItem, next: OwnItem | undefined): boolean {
	return next?.kind !== "entry" || next.record.unit !== record.unit;
}

/** The last message of a block; a summary by the host stands before all that it kept, whatever its ordinal. */
function lastOrdinal(branch: Branch, { spans }: Block): number {
	const ends = spans.map((span) => span.to);
	return Math.max(0, ...ends.filter((ordinal) => branch.message(ordinal)?.entry.kind !== "compaction"));
}

/** Ordinal of the first message that the host still sends by itself. */
function firstSent(branch: Branch): number {
	const head = branch.leaf?.anchor ?? branch.leaf?.compaction;
	if (head === undefined) return 1;
	// Of records without a ref, that of the message after them.
	const kept = branch.at(keptDepthOf(branch, head));
	return kept === undefined ? 1 : kept.ordinal + (kept.isCounted ? 0 : 1);
}

/** A message as text: who speaks, what was said, what was called. */
function unfoldedText({ message }: EntryItem): string {
	const calls = toolCalls(message).map((call) => `(calls ${call.name}) ${JSON.stringify(call.arguments)}`);
	const speaker = message.role === "toolResult" ? (message.toolName ?? "tool") : message.role;
	return [`${speaker}: ${textOf(message)}`, ...calls].join("\n");
}
