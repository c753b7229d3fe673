import { argumentOf, type Message, type ToolCallPart, textOf, toolCalls } from "./message.ts";
import { estimateTokens } from "./meter/estimate.ts";
import { defuse } from "./ref.ts";

/** Tokens of a record that are visible under a block. */
const recordLimitTokens = 400;

const changingTools: ReadonlySet<string> = new Set(["edit", "write"]);
const errorLimitTokens = 80;

/** What is read of a shell command. */
const commandChars = 4_000;

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

/** The files that calls changed, as far as that is certain, in the order of their first change. */
export function changedFiles(messages: readonly Message[]): readonly string[] {
	return [...fileUses(messages)].filter(([, use]) => use.edits > 0).map(([path]) => path);
}

/** What calls did to files. A call that failed changed nothing. */
function fileUses(messages: readonly Message[]): ReadonlyMap<string, FileUse> {
	const failed = failedCalls(messages);
	const uses = new Map<string, FileUse>();
	const use = (path: string) => {
		const known = uses.get(path) ?? { edits: 0, reads: 0 };
		uses.set(path, known);
		return known;
	};
	for (const call of messages.flatMap(toolCalls)) {
		const path = pathOf(call);
		if (path !== undefined && call.name === "read") use(path).reads++;
		if (failed.has(call)) continue;
		if (path !== undefined && changingTools.has(call.name)) use(path).edits++;
		if (call.name === "bash") for (const target of redirections(call)) use(target).edits++;
	}
	return uses;
}

/** The calls whose results say that they failed; a result belongs to the last assistant message before it. */
export function failedCalls(messages: readonly Message[]): ReadonlySet<ToolCallPart> {
	const failed = new Set<ToolCallPart>();
	let calls: readonly ToolCallPart[] = [];
	for (const message of messages) {
		if (message.role === "assistant") calls = toolCalls(message);
		const call = message.isError === true ? calls.find(({ id }) => id === message.toolCallId) : undefined;
		if (call !== undefined) failed.add(call);
	}
	return failed;
}

/**
 * The files that a shell command certainly writes: plain names after `>`, `>>` and `tee`. Names with variables or patterns
 * are left out, comments, what stands on a line with quotes or a comparison, and what comes after the start of a
 * here-document: there `>` may be text.
 */
function redirections(call: ToolCallPart): readonly string[] {
	const command = argumentOf(call, "command");
	if (typeof command !== "string") return [];
	const read = command.length > commandChars ? command.slice(0, command.lastIndexOf("\n", commandChars) + 1) : command;
	const [shell = ""] = read.split("<<", 1);
	const lines = shell.split("\n").filter((line) => !/['"`]|\[\[|\(\(/.test(line));
	const targets = lines.flatMap((line) => {
		const code = line.replace(/(?:^|\s)#.*/, "");
		return [
			...code.matchAll(/(?:^|[^>&\d-])(?:1?>>?)\s*([\w./-]+)(?=\s|;|&|\||$)/g),
			...code.matchAll(/\btee\s+(?:-a\s+)?([\w./-]+)(?=\s|;|&|\||$)/g),
		];
	});
	return targets.map((match) => match[1] ?? "").filter((path) => !path.startsWith("/dev/"));
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
