import {
	type Branch,
	type Context,
	type Entry,
	type Message,
	outgoingItems,
	project,
	toMessages,
	type View,
} from "../../kernel/index.ts";
import { contextOf, Log } from "./log.ts";

/** A leaf of a session log. */
export interface Place {
	readonly log: Log;
	readonly leafId: string | null;
}

/** A message that the host sends, and the entry it comes from; none for the system message of a compaction. */
export interface Sent {
	readonly id: string | undefined;
	readonly message: Message;
}

/** The entries from the root to a leaf. */
export function pathTo({ log, leafId }: Place): readonly Entry[] {
	const path: Entry[] = [];
	for (let entry = log.entries.get(leafId ?? ""); entry; entry = log.entries.get(entry.parentId ?? ""))
		path.push(entry);
	return path.reverse();
}

/**
 * What the host sends by its own rules, told once more without the kernel; compared with Pi in host-order.property. For the
 * host an anchor is a summary of its own.
 */
export function sentByHost(point: Place): readonly Sent[] {
	return sentAfter(pathTo(point), (entry) => entry.kind === "compaction" || entry.kind === "anchor");
}

/** What is to be seen: what the host would send without anchors, but for the system messages that went into the last one. */
export function sentThroughAnchors(point: Place): readonly Sent[] {
	const path = pathTo(point);
	const last = path.findLastIndex((entry) => entry.kind === "anchor" || entry.kind === "compaction");
	const anchor = path[last];
	const sent = sentAfter(path, (entry) => entry.kind === "compaction");
	if (anchor?.kind !== "anchor") return sent;
	const gone = new Set(path.slice(0, last).flatMap((entry) => (isSystem(entry) ? entry.id : [])));
	const left = sent.filter(({ id, message }) => message.role !== "system" || (id !== undefined && !gone.has(id)));
	return anchor.system === undefined ? left : [{ id: undefined, message: anchor.system }, ...left];
}

/** The entries after the last summary, with what it keeps, and the summary before them. */
function sentAfter(path: readonly Entry[], isSummary: (entry: Entry) => boolean): readonly Sent[] {
	const edits = new Map(path.flatMap((entry) => (entry.kind === "edit" ? [[entry.targetId, entry.replacement]] : [])));
	const at = path.findLastIndex(isSummary);
	const head = path[at];
	const summary: Sent[] = [];
	let rest: readonly Entry[] = path;
	if (head?.kind === "compaction" || head?.kind === "anchor") {
		if (head.system !== undefined) summary.push({ id: undefined, message: head.system });
		summary.push({ id: head.id, message: head.kind === "anchor" ? head.shownAs : head.message });
		const kept = path.findIndex((entry) => entry.id === head.firstKeptId);
		const before = kept < 0 || kept >= at ? [] : path.slice(kept, at).filter((entry) => !isSystem(entry));
		rest = [...before, ...path.slice(at + 1)];
	}
	return [...summary, ...rest.flatMap((entry) => contribution(entry, edits.get(entry.id)))];
}

function contribution(
	entry: Entry,
	edit: { readonly content: Message["content"] } | null | undefined,
): readonly Sent[] {
	if (entry.kind === "branchSummary") return [{ id: entry.id, message: entry.message }];
	if (entry.kind !== "message" || entry.omitted || edit === null) return [];
	const { id, message } = entry;
	if (edit === undefined) return [{ id, message }];
	const isList = typeof edit.content !== "string" || message.role === "user" || message.role === "custom";
	const content = isList ? edit.content : [{ type: "text", text: edit.content }];
	return [{ id, message: { ...message, content } }];
}

function isSystem(entry: Entry): boolean {
	return entry.kind === "message" && entry.message.role === "system";
}

/** What a request made at a place consists of. */
export interface Request {
	readonly branch: Branch;
	/** What the host hands out. */
	readonly outgoing: readonly Message[];
	/** What is to be seen of the branch. */
	readonly sent: readonly Sent[];
	readonly view: View;
	/** The messages for the model, the nudge left out: one for each item of the view. */
	readonly messages: readonly Message[];
}

/** The request made at a place, by the timeline of its log or by another one. */
export function requestAt(place: Place, over: Partial<Context> = {}, branch = place.log.branch(place.leafId)): Request {
	const outgoing = sentByHost(place).map((each) => each.message);
	const items = outgoingItems(branch, outgoing);
	const context = contextOf(branch, over);
	const view = project(items, context);
	return {
		branch,
		outgoing,
		sent: sentThroughAnchors(place),
		view,
		messages: toMessages({ ...view, nudge: undefined }, context),
	};
}

/** A message as bytes on the wire: usage and details are for the host alone. */
export function bytes({ usage, details, ...wire }: Message): string {
	return JSON.stringify(wire);
}

/** The same log under other entry ids, as a copy of an old session has them; what operations say stays as it was. */
export function copyOf(log: Log, rename: (id: string) => string): Log {
	const copy = new Log();
	for (const entry of log.entries.values()) {
		const renamed = { ...entry, id: rename(entry.id), parentId: entry.parentId && rename(entry.parentId) };
		if (renamed.kind === "edit") copy.entries.set(renamed.id, { ...renamed, targetId: rename(renamed.targetId) });
		else if (renamed.kind !== "compaction" && renamed.kind !== "anchor") copy.entries.set(renamed.id, renamed);
		else copy.entries.set(renamed.id, { ...renamed, firstKeptId: renamed.firstKeptId && rename(renamed.firstKeptId) });
	}
	copy.leafId = log.leafId && rename(log.leafId);
	return copy;
}
