import { alternate, type Origin } from "./alternate.ts";
import type { Block } from "./block.ts";
import type { Decision } from "./decision.ts";
import type { Message } from "./message.ts";
import { appendLine, mapText } from "./message.ts";
import { type Calibration, type Reading, readingOf } from "./meter/calibration.ts";
import type { Estimate } from "./meter/fit.ts";
import { messageTokens, tagTokens } from "./meter/size.ts";
import type { Window } from "./meter/window.ts";
import type { Voice } from "./operation.ts";
import { type PairRole, sayLoneResults } from "./pairs.ts";
import { defuse, tag } from "./ref.ts";
import type { Settings } from "./settings.ts";
import type { Branch, BranchRecord } from "./timeline.ts";
import type { Range } from "./unit.ts";

/** A message of the branch. `sizeTokens` is what it takes in the finished view, its tag apart. */
export interface EntryItem {
	readonly kind: "entry";
	readonly record: BranchRecord;
	readonly message: Message;
	readonly sizeTokens: number;
	readonly isTagged: boolean;
}

/** A message that is none of the branch's: a system message, or one another extension put in. Stays in place. */
export interface ForeignItem {
	readonly kind: "foreign";
	readonly message: Message;
	readonly sizeTokens: number;
}

/** A block in the place of what it covers. */
export interface BlockItem {
	readonly kind: "block";
	readonly block: Block;
	readonly message: Message;
	readonly sizeTokens: number;
}

export type Item = EntryItem | ForeignItem | BlockItem;

/** What a nudge tells the model, and of a view of what size. */
export interface Nudge {
	readonly text: string;
	readonly sizeTokens: number;
	readonly voice: Voice;
}

/** What is sent, on its way through the stages. A value: each stage returns the next one. */
export interface View {
	readonly items: readonly Item[];
	/** The top-level blocks with a message that the host still sends; all others are retired and hide nothing. */
	readonly standing: ReadonlySet<Block>;
	/** What the model could fold now, oldest first. */
	readonly foldable: readonly Range[];
	/** The volatile text at the very end. */
	readonly nudge: Nudge | undefined;
	/** Why there is a nudge or none; undefined before that stage. */
	readonly decision: Decision | undefined;
}

/** All that a stage may look at beside the view. */
export interface Context {
	readonly branch: Branch;
	readonly settings: Settings;
	readonly window: Window;
	/** How the model in use counts. */
	readonly calibration: Calibration;
	/** False if images are left out for the model. */
	readonly takesImages: boolean;
	/** True if the provider refuses two user messages in a row. */
	readonly isAlternating: boolean;
	/** True if `compress` is ours and in the loadout: only then there are tags and nudges. */
	readonly isActive: boolean;
	/** What a request may take before it is made to fit without the model; as usual for the window if left out. */
	readonly fitTokens?: number;
}

export type Stage = (view: View, context: Context) => View;

/** The `customType` of the messages that show blocks and nudges. */
export const blockMessageType = "acp-block";
export const nudgeMessageType = "acp-nudge";

export function viewOf(items: readonly Item[]): View {
	return { items, standing: new Set(), foldable: [], nudge: undefined, decision: undefined };
}

/** Estimated tokens of the view, tags included, the nudge apart. */
export function viewTokens(view: View): number {
	return view.items.reduce((sum, item) => sum + itemTokens(item), 0);
}

/**
 * The estimate that the meter makes a reading of. What other extensions put in counts only before the first report: reports
 * count it already.
 */
export function estimateOf(view: View, calibration?: Calibration): Estimate {
	const isReported = calibration?.anchor !== undefined;
	let sizeTokens = 0;
	let messages = 0;
	for (const item of view.items) {
		if (isReported && item.kind === "foreign" && item.message.role !== "system") continue;
		sizeTokens += itemTokens(item);
		if (item.kind !== "entry" || !item.record.isSilent) messages += 1;
	}
	return { sizeTokens, messages };
}

/**
 * The size of a view as every place says it at one moment. What other extensions put in is left out: a request shows it, the
 * log does not, and once there is a report that counts it.
 */
export function viewReading(view: View, calibration: Calibration): Reading {
	const items = view.items.filter((item) => item.kind !== "foreign" || item.message.role === "system");
	return readingOf(calibration, estimateOf({ ...view, items }));
}

export function itemTokens(item: Item): number {
	return item.sizeTokens + (item.kind === "entry" && item.isTagged ? tagTokens : 0);
}

export function foreignItem(message: Message): ForeignItem {
	return { kind: "foreign", message, sizeTokens: messageTokens(message) };
}

export function blockItem(block: Block): BlockItem {
	const message = { ...extensionMessage(blockMessageType, block.text), timestamp: block.createdAtMs };
	return { kind: "block", block, message, sizeTokens: block.shownTokens };
}

/** What blocks keep out of view: their originals less what they show instead. */
export function savedBy(blocks: readonly Block[]): number {
	return blocks.reduce((sum, block) => sum + block.sizeTokens - block.shownTokens, 0);
}

/** The messages to send. Those that nothing changes are the same objects that came in. */
export function toMessages(view: View, { branch, calibration, isAlternating }: Context): readonly Message[] {
	const usages = staleUsages(view, branch, calibration);
	const messages = sayLoneResults(view.items, pairRole).map((item) => {
		const sizeTokens = usages.get(item);
		if (sizeTokens !== undefined) return withUsage(item.message, sizeTokens);
		return item.kind === "entry" && item.isTagged ? tagged(item) : item.message;
	});
	const nudge = view.nudge && { ...extensionMessage(nudgeMessageType, view.nudge.text), timestamp: latest(messages) };
	const all = nudge === undefined ? messages : [...messages, nudge];
	if (!isAlternating) return all;
	const origins = new Map<Message, Origin>(nudge === undefined ? [] : [[nudge, "ours"]]);
	for (const [index, item] of view.items.entries()) {
		const message = messages[index] ?? item.message;
		if (item.kind === "block") origins.set(message, "ours");
		if (item.kind === "entry" && item.record.isSilent) origins.set(message, "unsent");
	}
	return alternate(all, (message) => origins.get(message) ?? "other");
}

function pairRole(item: Item): PairRole {
	if (item.kind === "entry") return item.record.isSilent ? "unsent" : "other";
	return item.kind === "block" ? "other" : "foreign";
}

/**
 * What the usage of answers has to say that are older than the last commit: they reported a view which is gone, and the
 * host would size the next answer by that. Each gets the metered size of the present view up to and with itself.
 */
function staleUsages(view: View, { state: { commit } }: Branch, calibration: Calibration): ReadonlyMap<Item, number> {
	const usages = new Map<Item, number>();
	if (commit === undefined) return usages;
	const { sizeTokens } = readingOf(calibration, estimateOf(view, calibration));
	const wholeTokens = Math.max(1, viewTokens(view));
	let throughTokens = 0;
	for (const item of view.items) {
		throughTokens += itemTokens(item);
		if (item.kind !== "entry" || item.record.isSilent || item.record.ordinal > commit.ordinal) continue;
		if (!isAnswer(item.message)) continue;
		usages.set(item, Math.max(1, Math.round((sizeTokens * throughTokens) / wholeTokens)));
	}
	return usages;
}

/** Only an assistant's usage is that of a request; a tool result's is what the tool spent. */
function isAnswer(message: Message): boolean {
	return message.role === "assistant" && message.usage !== undefined;
}

function withUsage(message: Message, sizeTokens: number): Message {
	const usage = {
		...message.usage,
		input: sizeTokens,
		output: 0,
		cacheRead: 0,
		cacheWrite: 0,
		totalTokens: sizeTokens,
	};
	return { ...message, usage };
}

function tagged(item: EntryItem): Message {
	return appendLine(mapText(item.message, defuse), tag(item.record.ordinal));
}

function extensionMessage(customType: string, text: string) {
	return { role: "custom", customType, content: text, display: false };
}

function latest(messages: readonly Message[]): number {
	return messages.at(-1)?.timestamp ?? 0;
}
