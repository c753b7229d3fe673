import type { EditEntry } from "./entry.ts";
import type { Message } from "./message.ts";
import { messageTokens } from "./meter.ts";
import type { Branch, BranchRecord } from "./timeline.ts";
import { type EntryItem, foreignItem, type Item } from "./view.ts";

interface Sent {
	readonly record: BranchRecord;
	readonly message: Message;
	readonly isEdited: boolean;
}

/**
 * The branch as items, in the host's order: after a summary by the host that summary comes first, then what it kept,
 * then what followed; edits are applied, and what the host leaves out is left out.
 */
export function branchItems(branch: Branch): readonly Item[] {
	return sent(branch).map((each) => (isSystem(each.message) ? foreignItem(each.message) : entryItem(branch, each)));
}

/**
 * The outgoing messages as items: each matched to its record by role, timestamp and call id, in order along the branch;
 * what matches nothing passes through as foreign. Messages moved or dropped by other extensions do no harm.
 */
export function outgoingItems(branch: Branch, outgoing: readonly Message[]): readonly Item[] {
	const expected = sent(branch).filter((each) => !isSystem(each.message));
	const match = matcher(expected);
	return outgoing.map((message) => {
		const found = isSystem(message) ? undefined : match(message);
		return found === undefined ? foreignItem(message) : entryItem(branch, { ...found, message });
	});
}

function sent(branch: Branch): readonly Sent[] {
	const compaction = branch.leaf?.compaction;
	const list: Sent[] = [];
	const add = (record: BranchRecord | undefined) => {
		const message = record && sentMessage(branch, record);
		if (record === undefined || message === undefined) return;
		list.push({ record, message, isEdited: message !== record.message });
	};
	if (compaction?.entry.kind === "compaction") {
		const { firstKeptId, system } = compaction.entry;
		if (system !== undefined) list.push({ record: compaction, message: system, isEdited: false });
		add(compaction);
		let isKept = false;
		for (let depth = 0; depth < compaction.depth; depth++) {
			const record = branch.at(depth);
			isKept ||= record?.entry.id === firstKeptId;
			if (isKept && record?.entry.kind !== "compaction" && !isSystemRecord(record)) add(record);
		}
	}
	for (let depth = compaction === undefined ? 0 : compaction.depth + 1; depth < branch.length; depth++) {
		add(branch.at(depth));
	}
	return list;
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

function entryItem(branch: Branch, { record, message, isEdited }: Sent): EntryItem {
	const wholeTokens = isEdited ? messageTokens(message) : record.sizeTokens;
	const savedTokens = branch.state.reductions.get(record.ordinal)?.savedTokens ?? 0;
	const sizeTokens = record.isSilent ? 0 : Math.max(0, wholeTokens - savedTokens);
	return { kind: "entry", record, message, sizeTokens, isTagged: false };
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

function isSystemRecord(record: BranchRecord | undefined): boolean {
	return record?.message?.role === "system";
}

function isOmitted(record: BranchRecord): boolean {
	return record.entry.kind === "message" && record.entry.omitted;
}
