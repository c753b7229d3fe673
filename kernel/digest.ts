import { estimateTokens } from "./estimate.ts";
import { argumentOf, type Message, type ToolCallPart, textOf, toolCalls } from "./message.ts";
import { defuse } from "./ref.ts";

/** Tokens of a record that are visible under a block. */
const recordLimitTokens = 400;

const changingTools: ReadonlySet<string> = new Set(["edit", "write"]);
const errorLimitTokens = 80;

/** Edited paths outlive the rest, but in a block of thousands even they are cut. */
const pathsLimitTokens = 300;

/** What a line that is cut keeps at each end, at the least. */
const leastKeepChars = 20;

interface FileUse {
	edits: number;
	reads: number;
}

/**
 * The record under a block, made without a model: the user's words, the files changed and read, the last error. Same
 * messages, same bytes. Where it would pass its limit, reads go first, then the user's words from the middle; edited
 * paths stay last.
 */
export function digest(messages: readonly Message[]): string {
	const words = messages.flatMap(userWords);
	const files = fileUses(messages);
	const error = lastError(messages);
	const record = [...words, ...fileLine(files, false), ...error].join("\n");
	if (estimateTokens(record) <= recordLimitTokens) return record;
	const edited = fileLine(files, true).map((line) => cut(line, pathsLimitTokens));
	const fixed = [...edited, ...error];
	const leftTokens = recordLimitTokens - estimateTokens(fixed.join("\n"));
	return [...cutMiddle(words, leftTokens), ...fixed].join("\n");
}

function userWords(message: Message): readonly string[] {
	if (message.role !== "user") return [];
	const text = textOf(message).trim();
	return text === "" ? [] : [`user: "${defuse(text)}"`];
}

function fileUses(messages: readonly Message[]): ReadonlyMap<string, FileUse> {
	const uses = new Map<string, FileUse>();
	for (const call of messages.flatMap(toolCalls)) {
		const path = pathOf(call);
		if (path === undefined || (call.name !== "read" && !changingTools.has(call.name))) continue;
		const use = uses.get(path) ?? { edits: 0, reads: 0 };
		if (call.name === "read") use.reads++;
		else use.edits++;
		uses.set(path, use);
	}
	return uses;
}

function pathOf(call: ToolCallPart): string | undefined {
	const path = argumentOf(call, "path") ?? argumentOf(call, "file_path");
	return typeof path === "string" && path !== "" ? path : undefined;
}

function fileLine(files: ReadonlyMap<string, FileUse>, onlyEdited: boolean): readonly string[] {
	const chosen = [...files]
		.filter(([, use]) => use.edits > 0 || !onlyEdited)
		.toSorted((a, b) => b[1].edits - a[1].edits);
	const names = chosen.map(([path, use]) => (use.edits > 0 ? `${path} (edited ${use.edits}×)` : `${path} (read)`));
	return names.length === 0 ? [] : [`files: ${defuse(names.join(", "))}`];
}

function lastError(messages: readonly Message[]): readonly string[] {
	const failed = messages.findLast((message) => message.role === "toolResult" && message.isError === true);
	const text = failed === undefined ? "" : textOf(failed).trim().replace(/\s+/g, " ");
	return text === "" ? [] : [`last error: ${defuse(cut(text, errorLimitTokens))}`];
}

/** The lines within a limit, cut from the middle: the first and the last words of the user outlive the rest. */
function cutMiddle(lines: readonly string[], limitTokens: number): readonly string[] {
	const kept = new Map<number, string>();
	let leftTokens = limitTokens;
	for (const index of outsideIn(lines.length)) {
		const line = lines[index] ?? "";
		const sizeTokens = estimateTokens(line) + 1;
		kept.set(index, cut(line, leftTokens));
		leftTokens -= sizeTokens;
		if (leftTokens < 0) break;
	}
	const inOrder = [...kept].toSorted(([a], [b]) => a - b).map(([, line]) => line);
	return inOrder.filter((line) => line !== "");
}

/** 0, n-1, 1, n-2, … */
function outsideIn(count: number): readonly number[] {
	return Array.from({ length: count }, (_, step) => (step % 2 === 0 ? step / 2 : count - (step + 1) / 2));
}

/** A line cut in its middle to a limit; "" if nothing useful would be left. */
function cut(line: string, limitTokens: number): string {
	const sizeTokens = estimateTokens(line);
	if (sizeTokens <= limitTokens) return line;
	let keepChars = Math.floor((line.length * limitTokens) / sizeTokens / 2);
	while (keepChars >= leastKeepChars) {
		const short = `${line.slice(0, keepChars)} […] ${line.slice(-keepChars)}`.toWellFormed();
		if (estimateTokens(short) <= limitTokens) return short;
		keepChars = Math.floor(keepChars * 0.9);
	}
	return "";
}
