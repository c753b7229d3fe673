import type { Message, Part } from "./message.ts";

interface EntryBase {
	readonly id: string;
	readonly parentId: string | null;
	/** When the entry was written, in milliseconds since the epoch. */
	readonly timestampMs: number;
}

/** A message of the conversation. `omitted`: the host keeps it in the log but never sends it. */
export interface MessageEntry extends EntryBase {
	readonly kind: "message";
	readonly message: Message;
	readonly omitted: boolean;
}

/** A summary the host made of everything before `firstKeptId` (of everything at all if null). */
export interface CompactionEntry extends EntryBase {
	readonly kind: "compaction";
	readonly message: Message;
	readonly firstKeptId: string | null;
	/** The system message that takes the place of the earlier ones from here on. */
	readonly system?: Message;
}

/**
 * A summary of ours in the host's form, so that the host itself deals with the small session only. It changes nothing in the
 * view: what it stands for is shown from the log.
 */
export interface AnchorEntry extends EntryBase {
	readonly kind: "anchor";
	/** The message by which the host shows it. */
	readonly shownAs: Message;
	/** The first entry that the host still shows itself; null for none. */
	readonly firstKeptId: string | null;
	/** The system message that takes the place of the earlier ones from here on. */
	readonly system?: Message;
}

/** A summary the host made of a branch that was left. */
export interface BranchSummaryEntry extends EntryBase {
	readonly kind: "branchSummary";
	readonly message: Message;
}

/** A later change of what an earlier entry sends: other content, or nothing at all. */
export interface EditEntry extends EntryBase {
	readonly kind: "edit";
	readonly targetId: string;
	readonly replacement: { readonly content: string | readonly Part[] } | null;
}

/** State of an extension; ours are those of `operationEntryType`. */
export interface CustomEntry extends EntryBase {
	readonly kind: "custom";
	readonly customType: string;
	readonly data: unknown;
}

/** Anything else: labels, model changes, kinds we do not know. */
export interface OtherEntry extends EntryBase {
	readonly kind: "other";
}

/** One entry of the session log, neutral to the host. Entries form a tree by `parentId`. */
export type Entry =
	| MessageEntry
	| CompactionEntry
	| AnchorEntry
	| BranchSummaryEntry
	| EditEntry
	| CustomEntry
	| OtherEntry;

/** The message an entry contributes, before any edit. */
export function entryMessage(entry: Entry): Message | undefined {
	return entry.kind === "message" || entry.kind === "compaction" || entry.kind === "branchSummary"
		? entry.message
		: undefined;
}

/** True if the entry has a message ref: every message but system messages, summaries by the host, and anchors. */
export function isCounted(entry: Entry): boolean {
	if (entry.kind === "anchor") return true;
	return entryMessage(entry) !== undefined && !(entry.kind === "message" && entry.message.role === "system");
}
