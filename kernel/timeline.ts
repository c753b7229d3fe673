import { Chain } from "./chain.ts";
import { type EditEntry, type Entry, entryMessage, isCounted } from "./entry.ts";
import { type Message, type ToolCallPart, toolCalls } from "./message.ts";
import { type Evidence, evidenceAfter, noEvidence } from "./meter/evidence.ts";
import { imageTokens, messageTokens } from "./meter/size.ts";
import { isMarked, type Operation, operationEntryType, readMarked } from "./operation.ts";
import { apply, emptyState, type State } from "./state.ts";

/**
 * What is known of an entry once the path to it is known. An entry has one path to the root, so all of this is a
 * function of the entry and holds on every branch that contains it.
 */
export class BranchRecord {
	readonly entry: Entry;
	/** Number of entries before it on its path. */
	readonly depth: number;
	/** Counted entries on the path up to this one, itself included: the number of its ref if it is counted. */
	readonly ordinal: number;
	readonly isCounted: boolean;
	/** The first record of its unit; itself unless it is a tool result. */
	readonly unit: BranchRecord;
	/** The last summary by the host at or before this entry. */
	readonly compaction: BranchRecord | undefined;
	/** The last anchor at or before this entry, if the host made no summary of its own since. */
	readonly anchor: BranchRecord | undefined;
	/** The latest edit of each edited entry. */
	readonly edits: Chain<string, EditEntry>;
	/** State after this entry. */
	readonly state: State;
	/** What is known of the windows of models after this entry. */
	readonly evidence: Evidence;
	/** Ids of the calls it makes. */
	readonly callIds: readonly string[];
	#sizeTokens: number | undefined;
	#imageTokens: number | undefined;

	constructor(
		entry: Entry,
		previous: BranchRecord | undefined,
		state: (record: BranchRecord) => State,
		unit?: BranchRecord,
	) {
		this.entry = entry;
		this.depth = previous === undefined ? 0 : previous.depth + 1;
		this.isCounted = isCounted(entry);
		this.ordinal = (previous?.ordinal ?? 0) + (this.isCounted ? 1 : 0);
		this.unit = unit ?? this;
		this.compaction = entry.kind === "compaction" ? this : previous?.compaction;
		this.anchor = entry.kind === "anchor" ? this : entry.kind === "compaction" ? undefined : previous?.anchor;
		const edits = previous?.edits ?? noEdits;
		this.edits = entry.kind === "edit" ? edits.with(entry.targetId, entry) : edits;
		this.callIds = entry.kind === "message" ? toolCalls(entry.message).map((call) => call.id) : [];
		this.evidence = evidenceAfter(previous?.evidence ?? noEvidence, this);
		this.state = state(this);
	}

	/** The message of the entry as it was written; undefined for entries without one. */
	get message(): Message | undefined {
		return entryMessage(this.entry);
	}

	/** True if nothing of it reaches the wire: not a message, excluded by the user, failed or aborted. */
	get isSilent(): boolean {
		const { entry } = this;
		if (entry.kind === "message") return entry.omitted || isFailed(entry.message);
		return entry.kind !== "compaction" && entry.kind !== "branchSummary";
	}

	/** The call that this entry, a tool result, answers; undefined for all others and for results without their call. */
	get call(): ToolCallPart | undefined {
		const { unit, message } = this;
		return unit.message && toolCalls(unit.message).find((call) => call.id === message?.toolCallId);
	}

	/** Estimated tokens of the message as it was written. */
	get sizeTokens(): number {
		this.#sizeTokens ??= this.message === undefined ? 0 : messageTokens(this.message);
		return this.#sizeTokens;
	}

	/** Estimated tokens of the message for a model that takes images or takes none. */
	tokensFor(takesImages: boolean): number {
		if (takesImages) return this.sizeTokens;
		this.#imageTokens ??= this.message === undefined ? 0 : imageTokens(this.message);
		return this.sizeTokens - this.#imageTokens;
	}
}

/** The path from the root to a leaf. A value: it stays as it is when the timeline moves on. */
export class Branch {
	readonly #path: readonly BranchRecord[];
	readonly #counted: readonly BranchRecord[];
	readonly leaf: BranchRecord | undefined;

	constructor(path: readonly BranchRecord[], counted: readonly BranchRecord[], leaf = path.at(-1)) {
		this.#path = path;
		this.#counted = counted;
		this.leaf = leaf;
	}

	/** The branch as it stood when one of its entries was the leaf. */
	upTo(record: BranchRecord): Branch {
		return new Branch(this.#path, this.#counted, record);
	}

	/** The branch as it stood before one of its entries was written. */
	before(record: BranchRecord): Branch {
		return record.depth === 0 ? new Branch([], []) : new Branch(this.#path, this.#counted, this.at(record.depth - 1));
	}

	get length(): number {
		return this.leaf === undefined ? 0 : this.leaf.depth + 1;
	}

	get lastOrdinal(): number {
		return this.leaf?.ordinal ?? 0;
	}

	get state(): State {
		return this.leaf?.state ?? emptyState;
	}

	/** The record at a depth, from 0. */
	at(depth: number): BranchRecord | undefined {
		return depth < this.length ? this.#path[depth] : undefined;
	}

	/** The record with a message ref's number, from 1. */
	message(ordinal: number): BranchRecord | undefined {
		return ordinal <= this.lastOrdinal ? this.#counted[ordinal - 1] : undefined;
	}

	/** The records from one ordinal to another, both included. */
	messages(from: number, to: number): readonly BranchRecord[] {
		return this.#counted.slice(from - 1, Math.min(to, this.lastOrdinal));
	}

	/** The records of a unit by its first one; all of them stand before the next assistant message. */
	unit(first: BranchRecord): readonly BranchRecord[] {
		const records = [first];
		if (first.callIds.length === 0) return records;
		for (let ordinal = first.ordinal + 1; ; ordinal++) {
			const record = this.message(ordinal);
			if (record === undefined || record.message?.role === "assistant") return records;
			if (record.unit === first) records.push(record);
		}
	}

	/** The assistant message that made a call; the latest one if the id occurs twice. */
	callUnit(callId: string): BranchRecord | undefined {
		for (let depth = this.length - 1; depth >= 0; depth--) {
			const record = this.at(depth);
			if (record?.callIds.includes(callId)) return record;
		}
		return undefined;
	}
}

/** Makes the operation of a compress call whose `details` were lost, from its arguments. */
export type Replay = (before: Branch, result: BranchRecord) => Operation | undefined;

/**
 * The memo of a session: records by entry id, and the path to the leaf looked at last. Moving to another leaf costs the
 * entries that are new and the part of the path that differs.
 */
export class Timeline {
	readonly #known = new Map<string, BranchRecord>();
	readonly #replay: Replay;
	#path: BranchRecord[] = [];
	#counted: BranchRecord[] = [];

	constructor(replay: Replay) {
		this.#replay = replay;
	}

	/** The branch that ends at `leafId`; empty for null. `read` gives entries by id; a missing parent makes a root. */
	branch(leafId: string | null, read: (id: string) => Entry | undefined): Branch {
		const fresh: Entry[] = [];
		const seen = new Set<string>();
		let id = leafId;
		while (id !== null && !this.#known.has(id) && !seen.has(id)) {
			seen.add(id);
			const entry = read(id);
			if (entry === undefined) break;
			fresh.push(entry);
			id = entry.parentId;
		}
		this.#moveTo(id === null ? undefined : this.#known.get(id));
		for (const entry of fresh.reverse()) this.#append(entry);
		return new Branch(this.#path, this.#counted);
	}

	/** The record of an entry seen before, on whatever branch. */
	find(id: string): BranchRecord | undefined {
		return this.#known.get(id);
	}

	/** Branches handed out share the arrays, so a move away from a leaf copies, and only an append writes in place. */
	#moveTo(record: BranchRecord | undefined): void {
		if (record === this.#path.at(-1)) return;
		if (record === undefined) {
			this.#path = [];
			this.#counted = [];
			return;
		}
		const tail: BranchRecord[] = [];
		let common: BranchRecord | undefined = record;
		while (common !== undefined && this.#path[common.depth] !== common) {
			tail.push(common);
			common = this.#previousOf(common);
		}
		this.#path = [...this.#path.slice(0, common === undefined ? 0 : common.depth + 1), ...tail.reverse()];
		this.#counted = this.#path.filter((each) => each.isCounted);
	}

	/** Depth decides where a path begins: its first entry may name a parent that was missing, or one of its own children. */
	#previousOf({ depth, entry }: BranchRecord): BranchRecord | undefined {
		return depth === 0 || entry.parentId === null ? undefined : this.#known.get(entry.parentId);
	}

	#append(entry: Entry): void {
		const previous = this.#path.at(-1);
		const record = new BranchRecord(entry, previous, (made) => this.#stateAfter(made, previous), this.#unitOf(entry));
		this.#known.set(entry.id, record);
		this.#path.push(record);
		if (record.isCounted) this.#counted.push(record);
	}

	/** A result belongs to the nearest assistant message before it, if that made the call; else it stands alone. */
	#unitOf(entry: Entry): BranchRecord | undefined {
		if (entry.kind !== "message" || entry.message.role !== "toolResult") return undefined;
		const assistant = this.#counted.findLast((record) => record.message?.role === "assistant");
		const { toolCallId } = entry.message;
		return toolCallId !== undefined && assistant?.callIds.includes(toolCallId) ? assistant : undefined;
	}

	#stateAfter(record: BranchRecord, previous: BranchRecord | undefined): State {
		const state = previous?.state ?? emptyState;
		const operation = this.#operation(record);
		if (operation === undefined) return state;
		return apply(state, operation, {
			entryId: record.entry.id,
			timestampMs: record.entry.timestampMs,
			ordinal: record.ordinal,
			locate: (id, ordinal) => this.#locate(id, ordinal),
		});
	}

	#operation(record: BranchRecord): Operation | undefined {
		const { entry } = record;
		if (entry.kind === "custom") return entry.customType === operationEntryType ? readMarked(entry.data) : undefined;
		if (entry.kind !== "message") return undefined;
		const { role, toolName, isError, details } = entry.message;
		if (role !== "toolResult" || isError === true) return undefined;
		if (toolName !== "compress" && toolName !== "decompress") return undefined;
		if (isMarked(details)) return readMarked(details);
		return this.#isWhole ? this.#replay(new Branch(this.#path, this.#counted), record) : undefined;
	}

	/** False if the path begins at an entry whose parent is missing: ordinals written down before then mean other messages. */
	get #isWhole(): boolean {
		return !this.#path[0]?.entry.parentId;
	}

	/** Ids decide; a copy of the log with new ids still has the same ordinals. */
	#locate(id: string, ordinal: number): number | undefined {
		const record = this.#known.get(id);
		if (record?.isCounted && this.#path[record.depth] === record) return record.ordinal;
		return this.#isWhole ? this.#counted[ordinal - 1]?.ordinal : undefined;
	}
}

const noEdits: Chain<string, EditEntry> = Chain.empty();

function isFailed(message: Message): boolean {
	return message.role === "assistant" && (message.stopReason === "error" || message.stopReason === "aborted");
}
