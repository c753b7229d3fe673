import type { Block } from "./block.ts";
import type { EditEntry } from "./entry.ts";
import { type Message, textOf } from "./message.ts";
import { imageTokens, messageTokens } from "./meter/size.ts";
import { reduceMessage, reductionsOf } from "./reductions.ts";
import { blockAt, intervalAt } from "./state.ts";
import type { Branch, BranchRecord } from "./timeline.ts";
import { type EntryItem, foreignItem, type Item } from "./view.ts";

interface Sent {
	readonly record: BranchRecord;
	readonly message: Message;
	readonly isEdited: boolean;
}

/**
 * The branch as items, in the host's order: after a summary by the host that summary comes first, then what it kept,
 * then what followed; edits are applied, and what the host leaves out is left out. `takesImages` decides what images weigh.
 */
export function branchItems(branch: Branch, takesImages = true): readonly Item[] {
	return itemsOf(branch, sent(branch), takesImages);
}

/** As `branchItems`, but of what a block covers before an anchor only the first message: all that a view needs of it. */
export function viewItems(branch: Branch, takesImages: boolean): readonly Item[] {
	const anchor = branch.leaf?.anchor;
	return itemsOf(branch, sent(branch, anchor === undefined ? 0 : keptDepthOf(branch, anchor)), takesImages);
}

function itemsOf(branch: Branch, list: readonly Sent[], takesImages: boolean): readonly Item[] {
	return list.map((each) =>
		isSystem(each.message) ? foreignItem(each.message) : entryItem(branch, each, takesImages),
	);
}

/**
 * The outgoing messages as items: each matched to its record by role, timestamp and call id, in order along the branch;
 * what matches nothing passes through as foreign. Messages moved or dropped by other extensions do no harm. In the place of
 * an anchor stands what it stands for, of what a block covers only the first message.
 */
export function outgoingItems(branch: Branch, outgoing: readonly Message[], takesImages = true): readonly Item[] {
	const anchor = branch.leaf?.anchor;
	const shownAs = anchor?.entry.kind === "anchor" ? anchor.entry.shownAs : undefined;
	// It comes first of all that the host sends, and may share its moment with what follows.
	const shownAt = shownAs === undefined ? -1 : outgoing.findIndex((message) => isShownAs(message, shownAs));
	const keptDepth = anchor === undefined ? 0 : keptDepthOf(branch, anchor);
	const expected = sent(branch, shownAt < 0 ? 0 : keptDepth).filter((each) => !isSystem(each.message));
	const itemOf = (each: Sent) => entryItem(branch, each, takesImages);
	const matched = (messages: readonly Message[], among: readonly Sent[]): readonly Item[] => {
		const match = matcher(among);
		return messages.map((message) => {
			const found = isSystem(message) ? undefined : match(message);
			return found === undefined ? foreignItem(message) : itemOf({ ...found, message });
		});
	};
	if (anchor === undefined) return matched(outgoing, expected);
	const from = firstKept(keptDepth, expected);
	const hidden = expected.slice(0, from);
	if (shownAt >= 0) {
		const items = matched(outgoing.toSpliced(shownAt, 1), expected.slice(from));
		return items.toSpliced(shownAt, 0, ...hidden.map(itemOf));
	}
	const items = matched(outgoing, expected);
	const records = new Set(hidden.map((each) => each.record));
	// Another extension took the anchor away, or has put what it stands for in its place.
	if (items.some((each) => each.kind === "entry" && records.has(each.record))) return items;
	const firstOther = outgoing.findIndex((message) => !isSystem(message));
	return items.toSpliced(firstOther < 0 ? outgoing.length : firstOther, 0, ...hidden.map(itemOf));
}

/** Where among the expected messages those begin that the host still sends beside an anchor. */
function firstKept(keptDepth: number, expected: readonly Sent[]): number {
	const first = expected.findIndex(({ record }) => record.depth >= keptDepth && record.entry.kind !== "compaction");
	return first < 0 ? expected.length : first;
}

/** The depth of the first entry that the host keeps beside a summary or an anchor; its own if it keeps none. */
export function keptDepthOf(branch: Branch, { entry, depth }: BranchRecord): number {
	const keptId = entry.kind === "compaction" || entry.kind === "anchor" ? entry.firstKeptId : null;
	if (keptId === null) return depth;
	for (let at = depth - 1; at >= 0; at--) if (branch.at(at)?.entry.id === keptId) return at;
	return depth;
}

function isShownAs(message: Message, anchor: Message): boolean {
	return message.role === anchor.role && message.timestamp === anchor.timestamp && textOf(message) === textOf(anchor);
}

/**
 * What the host would send without anchors. System messages before an anchor are gone for the host, so they are here too:
 * the one it carries takes their place, if it carries one. Before a depth, which no system message may be in front of, what a
 * top-level block covers is jumped over once there is a message of it: the view shows the block in its place, however much
 * that is.
 */
function sent(branch: Branch, jumpsBefore = 0): readonly Sent[] {
	const { compaction, anchor } = branch.leaf ?? {};
	const list: Sent[] = [];
	const head = anchor ?? compaction;
	const system = head && systemOf(head);
	if (head !== undefined && system !== undefined) list.push({ record: head, message: system, isEdited: false });
	const systemFrom = head?.depth ?? 0;
	const shown = new Set<Block>();
	for (const record of sentRecords(branch, compaction, jumpsBefore, shown)) {
		const message = sentMessage(branch, record);
		if (message === undefined || (isSystem(message) && record.depth < systemFrom)) continue;
		list.push({ record, message, isEdited: message !== record.message });
		const block = record.depth < jumpsBefore ? blockAt(branch.state, record.ordinal) : undefined;
		if (block !== undefined) shown.add(block);
	}
	return list;
}

/**
 * The records in the host's order: its last summary first, then what that kept, then what followed. Before a depth, what
 * `shown` blocks cover is left out; it is asked of each record anew.
 */
function* sentRecords(
	branch: Branch,
	compaction: BranchRecord | undefined,
	jumpsBefore: number,
	shown: ReadonlySet<Block>,
): Iterable<BranchRecord> {
	if (compaction !== undefined) yield compaction;
	for (let depth = compaction === undefined ? 0 : keptDepthOf(branch, compaction); depth < branch.length; depth++) {
		const record = branch.at(depth);
		if (record === undefined || record.entry.kind === "compaction") continue;
		const interval = depth < jumpsBefore ? intervalAt(branch.state, record.ordinal) : undefined;
		if (interval !== undefined && shown.has(interval.block)) {
			const next = branch.message(interval.to + 1)?.depth ?? branch.length;
			depth = Math.min(next, jumpsBefore) - 1;
		} else yield record;
	}
}

function systemOf({ entry }: BranchRecord): Message | undefined {
	return entry.kind === "compaction" || entry.kind === "anchor" ? entry.system : undefined;
}

/** The message the host sends for a record it keeps: the latest edit applied; undefined if it leaves the message out. */
export function sentMessage(branch: Branch, record: BranchRecord): Message | undefined {
	const { message, entry } = record;
	const edit = branch.leaf?.edits.get(entry.id);
	if (message === undefined || edit?.replacement === null || isOmitted(record)) return undefined;
	return edit === undefined ? message : edited(message, edit.replacement);
}

function edited(message: Message, replacement: NonNullable<EditEntry["replacement"]>): Message {
	const { content } = replacement;
	const isList = message.role === "assistant" || message.role === "toolResult";
	return { ...message, content: isList && typeof content === "string" ? [{ type: "text", text: content }] : content };
}

function entryItem(branch: Branch, { record, message, isEdited }: Sent, takesImages: boolean): EntryItem {
	const sizeTokens = record.isSilent ? 0 : sizeOf(branch, { record, message, isEdited }, takesImages);
	return { kind: "entry", record, message, sizeTokens, isTagged: false };
}

/** What reductions save is known of the message as it was written, with its images; of others it is measured. */
function sizeOf(branch: Branch, { record, message, isEdited }: Sent, takesImages: boolean): number {
	const reductions = reductionsOf(branch, record);
	const wholeTokens = record.tokensFor(takesImages);
	const last = reductions.at(-1);
	const isMeasured = isEdited || (last !== undefined && wholeTokens !== record.sizeTokens);
	if (isMeasured) return tokensFor(reduceMessage(message, record.ordinal, reductions), takesImages);
	return Math.max(0, wholeTokens - (last?.savedTokens ?? 0));
}

/** Estimated tokens of a message for a model that takes images or takes none. */
export function tokensFor(message: Message, takesImages: boolean): number {
	return messageTokens(message) - (takesImages ? 0 : imageTokens(message));
}

/** Takes each expected message at most once: the next in order if it fits, else the first later or skipped one. */
function matcher(expected: readonly Sent[]): (message: Message) => Sent | undefined {
	const isUsed = new Uint8Array(expected.length);
	let byKey: Map<string, number[]> | undefined;
	let next = 0;
	return (message) => {
		while (isUsed[next] === 1) next++;
		const following = expected[next];
		if (following !== undefined && isSame(following.message, message)) {
			isUsed[next++] = 1;
			return following;
		}
		byKey ??= indexByKey(expected);
		const unused = (name: string) => byKey?.get(name)?.find((index) => isUsed[index] === 0);
		const position = unused(key(message)) ?? unused(callKey(message));
		if (position === undefined) return undefined;
		isUsed[position] = 1;
		next = position + 1;
		return expected[position];
	};
}

function indexByKey(expected: readonly Sent[]): Map<string, number[]> {
	const byKey = new Map<string, number[]>();
	for (const [index, { message }] of expected.entries()) {
		const names = message.toolCallId === undefined ? [key(message)] : [key(message), callKey(message)];
		for (const name of names) {
			const positions = byKey.get(name);
			if (positions === undefined) byKey.set(name, [index]);
			else positions.push(index);
		}
	}
	return byKey;
}

function key(message: Message): string {
	return `${message.role}|${message.timestamp}|${message.toolCallId ?? ""}`;
}

/** A result that another extension wrote anew still answers its call; other messages have no such name. */
function callKey(message: Message): string {
	return `${message.role}||${message.toolCallId ?? ""}`;
}

function isSame(left: Message, right: Message): boolean {
	return left.role === right.role && left.timestamp === right.timestamp && left.toolCallId === right.toolCallId;
}

function isSystem(message: Message): boolean {
	return message.role === "system";
}

function isOmitted(record: BranchRecord): boolean {
	return record.entry.kind === "message" && record.entry.omitted;
}
