import { estimateTokens } from "./estimate.ts";
import { type ToolCallPart, textOf, toolCalls } from "./message.ts";
import { defuse } from "./ref.ts";
import type { BranchRecord } from "./timeline.ts";

/** Tokens of a record that are visible under a block. */
const recordLimitTokens = 400;

const changingTools: ReadonlySet<string> = new Set(["edit", "write"]);
const errorLimitChars = 300;

interface FileUse {
	edits: number;
	reads: number;
}

/**
 * The record under a block, made without a model: the user's words, the files changed and read, the last error. Same
 * messages, same bytes. Where it would pass its limit, reads go first, then the user's words from the middle; edited
 * paths stay last.
 */
export function digest(records: readonly BranchRecord[]): string {
	const words = records.flatMap(userWords);
	const files = fileUses(records);
	const error = lastError(records);
	const edited = fileLine(files, true);
	const all = fileLine(files, false);
	const fits = (lines: readonly string[]) => estimateTokens(lines.join("\n")) <= recordLimitTokens;
	for (const files of [all, edited]) {
		const lines = [...words, ...files, ...error];
		if (fits(lines)) return lines.join("\n");
	}
	const fixed = [...edited, ...error];
	const limitTokens = Math.max(0, recordLimitTokens - estimateTokens(fixed.join("\n")));
	return cutLines([...cutMiddle(words, limitTokens), ...fixed], recordLimitTokens).join("\n");
}

function userWords(record: BranchRecord): readonly string[] {
	const { message } = record;
	if (message?.role !== "user" || record.isSilent) return [];
	const text = textOf(message).trim();
	return text === "" ? [] : [`user: "${defuse(text)}"`];
}

function fileUses(records: readonly BranchRecord[]): ReadonlyMap<string, FileUse> {
	const uses = new Map<string, FileUse>();
	for (const call of records.flatMap((record) => (record.message ? toolCalls(record.message) : []))) {
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
	const path = call.arguments.path ?? call.arguments.file_path;
	return typeof path === "string" && path !== "" ? path : undefined;
}

function fileLine(files: ReadonlyMap<string, FileUse>, onlyEdited: boolean): readonly string[] {
	const chosen = [...files]
		.filter(([, use]) => use.edits > 0 || !onlyEdited)
		.toSorted((a, b) => b[1].edits - a[1].edits);
	const names = chosen.map(([path, use]) => (use.edits > 0 ? `${path} (edited ${use.edits}×)` : `${path} (read)`));
	return names.length === 0 ? [] : [`files: ${defuse(names.join(", "))}`];
}

function lastError(records: readonly BranchRecord[]): readonly string[] {
	const failed = records.findLast((record) => record.message?.role === "toolResult" && record.message.isError === true);
	const text = failed?.message === undefined ? "" : textOf(failed.message).trim();
	if (text === "") return [];
	const line = text.replace(/\s+/g, " ");
	return [`last error: ${defuse(line.length > errorLimitChars ? `${line.slice(0, errorLimitChars)}…` : line)}`];
}

/** The lines within a limit, cut from the middle: the first and the last words of the user outlive the rest. */
function cutMiddle(lines: readonly string[], limitTokens: number): readonly string[] {
	const kept = new Map<number, string>();
	let left = limitTokens;
	for (const index of outsideIn(lines.length)) {
		const line = lines[index] ?? "";
		const sizeTokens = estimateTokens(line) + 1;
		kept.set(index, sizeTokens > left ? shorten(line, left) : line);
		left -= sizeTokens;
		if (left < 0) break;
	}
	const inOrder = [...kept].toSorted(([a], [b]) => a - b).map(([, line]) => line);
	return inOrder.filter((line) => line !== "");
}

/** 0, n-1, 1, n-2, … */
function outsideIn(count: number): readonly number[] {
	return Array.from({ length: count }, (_, step) => (step % 2 === 0 ? step / 2 : count - (step + 1) / 2));
}

/** A line cut in its middle to about a limit; "" if nothing useful would be left. */
function shorten(line: string, limitTokens: number): string {
	const share = (limitTokens - 4) / Math.max(1, estimateTokens(line));
	const keepChars = Math.floor((line.length * share) / 2);
	return keepChars < 20 ? "" : `${line.slice(0, keepChars)} […] ${line.slice(-keepChars)}`;
}

/** The lines cut at the end of the last one that fits; edited paths may exceed any limit in a block of thousands. */
function cutLines(lines: readonly string[], limitTokens: number): readonly string[] {
	return lines.map((line) => (estimateTokens(line) > limitTokens ? shorten(line, limitTokens) : line));
}
