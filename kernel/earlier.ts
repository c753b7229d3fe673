import { type Block, covers } from "./block.ts";
import { changedFiles, failedCalls } from "./digest.ts";
import { type Message, textOf, toolCalls } from "./message.ts";
import { estimateTokens } from "./meter/estimate.ts";
import { defuse } from "./ref.ts";
import { sentMessage } from "./sent.ts";
import { childrenOf } from "./state.ts";
import type { Branch, BranchRecord } from "./timeline.ts";
import { type Piece, spentTools } from "./unit.ts";

/** A turn of the earlier conversation: what the user asked, and all that came of it. */
interface Turn {
	readonly messages: Message[];
	/** What the model wrote of parts of it, and the host of what was before. */
	readonly summaries: Pick<Block, "topic" | "summary">[];
}

/** What a text keeps of a turn told at length, and of one told in a line. */
const longChars = { user: 800, assistant: 1_000, block: 1_200, blocks: 4_800, changed: 600 };
const shortChars = { user: 120, assistant: 120, block: 60, blocks: 180, changed: 120 };

/** Blocks of a turn that are told; a turn that never ends may have hundreds. */
const shownBlocks = 40;

/** Calls of a turn that are named, and what is shown of the argument of each. */
const shownCalls = 8;
const callChars = 60;

/** Of the limit, what lines may take: the rest is for turns told at length. */
const linesShare = 1 / 2;

export interface EarlierLimits {
	/** Turns told at length; older ones take a line each. */
	readonly maxTurns: number;
	/** Size of the whole text, the frame around it apart. */
	readonly limitTokens: number;
}

/**
 * The earlier conversation told by rules, turn by turn: the user's words, the assistant's conclusion, the files changed, and
 * the summaries the model wrote. Same pieces, same bytes. Where it would pass its limit, turns are told in a line each,
 * oldest first, and where there are too many for that the oldest are left out.
 */
export function earlierSummary(branch: Branch, pieces: readonly Piece[], limits: EarlierLimits): string {
	const turns = turnsOf(branch, pieces);
	const lines = newestLines(turns, limits.limitTokens * linesShare);
	let leftTokens = lines.reduce((left, line) => left - line.sizeTokens, limits.limitTokens);
	const atLength = new Map<Turn, string>();
	for (const { turn, sizeTokens } of lines.slice(-limits.maxTurns).toReversed()) {
		const text = longText(turn);
		leftTokens += sizeTokens - lineTokens(text);
		if (leftTokens < 0) break;
		atLength.set(turn, text);
	}
	const gone = turns.length - lines.length;
	const left =
		gone === 0 ? [] : [`(${gone} earlier ${gone === 1 ? "turn" : "turns"} left out; search_context finds them)`];
	const told = lines.map(({ turn, text }) => atLength.get(turn) ?? text).filter((text) => text !== "");
	return ["<earlier_conversation_summary>", ...left, ...told, "</earlier_conversation_summary>"].join("\n");
}

interface Line {
	readonly turn: Turn;
	readonly text: string;
	readonly sizeTokens: number;
}

/** The newest turns in a line each, as many as a limit holds. */
function newestLines(turns: readonly Turn[], limitTokens: number): readonly Line[] {
	const lines: Line[] = [];
	let leftTokens = limitTokens;
	for (const turn of turns.toReversed()) {
		const text = shortText(turn);
		const sizeTokens = lineTokens(text);
		leftTokens -= sizeTokens;
		if (leftTokens < 0) break;
		lines.push({ turn, text, sizeTokens });
	}
	return lines.reverse();
}

/** Tokens of a text with its line end. */
function lineTokens(text: string): number {
	return estimateTokens(text) + 1;
}

/** The pieces as turns. What rules folded before is told anew from the originals; what the model folded is told by it. */
function turnsOf(branch: Branch, pieces: readonly Piece[]): readonly Turn[] {
	const turns: Turn[] = [];
	for (const piece of pieces) {
		if (piece.kind === "block") addBlock(turns, branch, piece.block);
		else for (const record of piece.records) addRecord(turns, branch, record);
	}
	return turns;
}

function addBlock(turns: Turn[], branch: Branch, block: Block): void {
	if (block.author === "model") {
		lastOf(turns).summaries.push(block);
		return;
	}
	const children = childrenOf(branch.state, block);
	const told = new Set<Block>();
	for (const record of block.spans.flatMap(({ from, to }) => branch.messages(from, to))) {
		const child = children.find((each) => covers(each, record.ordinal));
		if (child === undefined) addRecord(turns, branch, record);
		else if (!told.has(child)) {
			told.add(child);
			addBlock(turns, branch, child);
		}
	}
}

function addRecord(turns: Turn[], branch: Branch, record: BranchRecord): void {
	const message = record.isSilent ? undefined : sentMessage(branch, record);
	if (message === undefined) return;
	const isSummary = record.entry.kind !== "message";
	if (isSummary) lastOf(turns).summaries.push({ summary: textOf(message) });
	else if (message.role === "user") turns.push({ messages: [message], summaries: [] });
	else lastOf(turns).messages.push(message);
}

/** The turn that goes on; what comes before the first message of the user is one, too. */
function lastOf(turns: Turn[]): Turn {
	const last = turns.at(-1);
	if (last !== undefined) return last;
	const first: Turn = { messages: [], summaries: [] };
	turns.push(first);
	return first;
}

function longText(turn: Turn): string {
	return [
		...said("user", turn, longChars.user),
		...foldedAtLength(turn),
		...done(turn),
		...said("assistant", turn, longChars.assistant),
		...changed(turn, longChars.changed),
	].join("\n");
}

function shortText(turn: Turn): string {
	const topics = turn.summaries.map(({ topic, summary }) => topic ?? oneLine(summary, shortChars.block)).join(", ");
	const parts = [
		...said("user", turn, shortChars.user),
		...(topics === "" ? [] : [`folded: ${defuse(cut(topics, shortChars.blocks))}`]),
		...said("assistant", turn, shortChars.assistant),
		...changed(turn, shortChars.changed),
	];
	return parts.length === 0 ? "" : `- ${parts.map((part) => oneLine(part, Number.POSITIVE_INFINITY)).join("; ")}`;
}

/** The summaries of a turn, the newest of them, with less of each where there are many. */
function foldedAtLength({ summaries }: Turn): readonly string[] {
	const shown = summaries.slice(-shownBlocks);
	const limitChars = Math.min(longChars.block, Math.floor(longChars.blocks / shown.length));
	const more = summaries.length > shown.length ? [`folded: ${summaries.length - shown.length} earlier blocks`] : [];
	const told = shown.map(({ topic, summary }) => {
		const headline = topic === undefined ? "" : `${topic}: `;
		return `folded: ${defuse(`${headline}${cut(summary.trim(), limitChars)}`)}`;
	});
	return [...more, ...told];
}

function changed({ messages }: Turn, limitChars: number): readonly string[] {
	const files = changedFiles(messages);
	return files.length === 0 ? [] : [`changed: ${defuse(cut(files.join(", "), limitChars))}`];
}

/** The user's words all together; of the assistant's only the last, its conclusion. */
function said(role: "user" | "assistant", { messages }: Turn, limitChars: number): readonly string[] {
	const texts = messages
		.filter((message) => message.role === role)
		.map((message) => textOf(message).trim())
		.filter((text) => text !== "");
	const text = role === "user" ? texts.join("\n") : (texts.at(-1) ?? "");
	return text === "" ? [] : [`${role}: ${defuse(cut(text, limitChars))}`];
}

/** What was called, each call by its first argument; a call that failed says so. */
function done({ messages }: Turn): readonly string[] {
	const failed = failedCalls(messages);
	const calls = messages.flatMap(toolCalls).filter((call) => !spentTools.has(call.name));
	if (calls.length === 0) return [];
	const shown = calls.slice(-shownCalls).map((call) => {
		const first = Object.values(call.arguments ?? {}).find((value) => typeof value === "string");
		const what = first === undefined ? "" : ` ${oneLine(first, callChars)}`;
		return `${call.name}${what}${failed.has(call) ? " (failed)" : ""}`;
	});
	const more = calls.length > shown.length ? [`${calls.length - shown.length} earlier calls`] : [];
	return [`did: ${defuse([...more, ...shown].join("; "))}`];
}

function oneLine(text: string, limitChars: number): string {
	return cut(text.replace(/\s+/g, " "), limitChars);
}

/** Head and tail of a text that is too long. */
function cut(text: string, limitChars: number): string {
	if (text.length <= limitChars) return text;
	const tailChars = Math.floor(limitChars / 3);
	return `${text.slice(0, limitChars - tailChars)} […] ${text.slice(-tailChars)}`.toWellFormed();
}
