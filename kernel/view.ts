import type { Block } from "./block.ts";
import type { Message } from "./message.ts";
import { appendLine, mapText } from "./message.ts";
import { messageTokens, tagTokens, type Window } from "./meter.ts";
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

/** Why and what a nudge tells the model. */
export interface Nudge {
	readonly text: string;
	readonly sizeTokens: number;
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
}

/** All that a stage may look at beside the view. */
export interface Context {
	readonly branch: Branch;
	readonly settings: Settings;
	readonly window: Window;
	/** True if `compress` is ours and in the loadout: only then there are tags and nudges. */
	readonly isActive: boolean;
}

export type Stage = (view: View, context: Context) => View;

/** The `customType` of the messages that show blocks and nudges. */
export const blockMessageType = "acp-block";
export const nudgeMessageType = "acp-nudge";

export function viewOf(items: readonly Item[]): View {
	return { items, standing: new Set(), foldable: [], nudge: undefined };
}

/** Estimated tokens of the view, tags included, the nudge apart. */
export function viewTokens(view: View): number {
	return view.items.reduce((sum, item) => sum + itemTokens(item), 0);
}

export function itemTokens(item: Item): number {
	return item.sizeTokens + (item.kind === "entry" && item.isTagged ? tagTokens : 0);
}

export function foreignItem(message: Message): ForeignItem {
	return { kind: "foreign", message, sizeTokens: messageTokens(message) };
}

export function blockItem(block: Block): BlockItem {
	const message = { ...extensionMessage(blockMessageType, block.text), timestamp: block.createdAtMs };
	return { kind: "block", block, message, sizeTokens: messageTokens(message) };
}

/** What blocks keep out of view: their originals less what they show instead. */
export function savedBy(blocks: readonly Block[]): number {
	return blocks.reduce((sum, block) => sum + block.sizeTokens - blockItem(block).sizeTokens, 0);
}

/** The messages to send. Those that nothing changes are the same objects that came in. */
export function toMessages(view: View, branch: Branch): readonly Message[] {
	const stale = staleUsage(view, branch);
	const messages = view.items.map((item) => {
		if (item === stale) return withUsage(item.message, tokensThrough(view, item));
		return item.kind === "entry" && item.isTagged ? tagged(item) : item.message;
	});
	if (view.nudge === undefined) return messages;
	return [...messages, { ...extensionMessage(nudgeMessageType, view.nudge.text), timestamp: latest(messages) }];
}

/**
 * The assistant message whose reported usage the host would size the answer by, if a commit came after it: its figure
 * is that of a view which is gone.
 */
function staleUsage(view: View, { state }: Branch): EntryItem | undefined {
	const { commit } = state;
	if (commit === undefined) return undefined;
	const last = view.items.findLast((item) => item.kind === "entry" && !item.record.isSilent && isAnswer(item.message));
	return last?.kind === "entry" && last.record.ordinal <= commit.ordinal ? last : undefined;
}

/** Only an assistant's usage is that of a request; a tool result's is what the tool spent. */
function isAnswer(message: Message): boolean {
	return message.role === "assistant" && message.usage !== undefined;
}

function tokensThrough(view: View, last: Item): number {
	const end = view.items.indexOf(last) + 1;
	return view.items.slice(0, end).reduce((sum, item) => sum + itemTokens(item), 0);
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
