import { constraintsIn } from "./constraints.ts";
import { argumentOf, type Message, pathOf, type ToolCallPart, textOf, toolCalls } from "./message.ts";
import { estimateTokens } from "./meter/estimate.ts";
import { defuse } from "./ref.ts";

/** Tokens of a record that are visible under a block, the session's first user message apart. */
const recordLimitTokens = 400;

/** What a record keeps of a very long message of the user: of the session's first in a block, of each where all is told. */
export const messageLimitTokens = 2_000;

/** A record of more characters is not measured whole: it passes the limit, or is blank for the most part. */
const measuredChars = 8_000;

/** What paths leave to the user's rules where there are too many of both. */
const rulesShareTokens = 80;

/** What the name of a list and the count of what it leaves out take. */
const listFrameTokens = 10;

/** A single item of a list takes no more than this where the record is cut. */
const itemLimitTokens = 60;

const changingTools: ReadonlySet<string> = new Set(["edit", "write"]);
const errorLimitTokens = 80;

/** What is read of an error, and what is shown of an older one. */
const errorChars = 1_000;
const olderErrorChars = 120;

/** What is read of a shell command, and what is shown of it. */
const commandChars = 4_000;
const shownCommandChars = 80;

/** What a line that is cut keeps at each end, at the least. */
const leastKeepChars = 20;

/**
 * The record under a block, made without a model from all messages it covers, those of its children included: from tier to
 * tier nothing is lost but what the limit cuts. Same messages, same bytes. It holds the user's words, files, commands and
 * errors; where it would pass its limit commands go first, then reads, older errors, and the user's words from the middle;
 * edited paths and the sentences in which the user sets a rule stay last. `openingTokens` of the first message of the user
 * are shown beside the limit: it is the session's first. Left out are messages that `summary` tells in lines of their own,
 * as those made by rules do.
 */
export function digest(messages: readonly Message[], openingTokens = 0, summary = ""): string {
	const all = factsOf(messages);
	const told = new Set(summary.split("\n"));
	const isTold = (text: string) => told.has(`user: ${text}`);
	const facts = { ...all, said: all.said.filter((text) => !isTold(text)) };
	const openings = openingTokens > 0 && facts.said[0] === all.said[0] ? 1 : 0;
	const said = facts.said.map(quote);
	const opening = said.slice(0, openings).map((line) => cut(line, openingTokens));
	const later = said.slice(openings);
	const whole = wholeRecord(facts, later);
	const isShort = whole.reduce((sum, line) => sum + line.length, 0) <= measuredChars;
	const isCut = opening.some((line, index) => line !== said[index]) || !isShort || !fits(whole);
	return [...opening.filter((line) => line !== ""), ...(isCut ? fitted(facts, opening, later) : whole)].join("\n");
}

/** The record without its limit, but of a very long message of the user no more than both ends and its rules. */
export function fullDigest(messages: readonly Message[]): string {
	const facts = factsOf(messages);
	const said = facts.said.flatMap((text) => {
		const [line, short] = [quote(text), cut(quote(text), messageLimitTokens)];
		return short === line ? line : [short, ...rulesIn(text).filter((rule) => !short.includes(bare(rule)))];
	});
	return wholeRecord(facts, said).join("\n");
}

/** What a record tells, each list from the first to the last but the files, the most edited first. */
interface Facts {
	/** The messages of the user. */
	readonly said: readonly string[];
	readonly edited: readonly string[];
	readonly read: readonly string[];
	readonly commands: readonly string[];
	readonly olderErrors: readonly string[];
	readonly lastError: readonly string[];
}

function factsOf(messages: readonly Message[]): Facts {
	const failed = failedCalls(messages);
	const files = [...fileUses(messages, failed)];
	const edited = files.filter(([, use]) => use.edits > 0).toSorted((a, b) => b[1].edits - a[1].edits);
	const errors = errorsIn(messages);
	return {
		said: messages.filter(({ role }) => role === "user").flatMap((message) => defuse(textOf(message).trim()) || []),
		edited: edited.map(
			([path, { edits, reads }]) => `${path} (edited ${edits}×${reads > 0 ? `, read ${reads}×` : ""})`,
		),
		read: files
			.filter(([, use]) => use.edits === 0)
			.map(([path, { reads }]) => `${path} (read${reads > 1 ? ` ${reads}×` : ""})`),
		commands: commandsIn(messages, failed),
		olderErrors: [...new Set(errors.slice(0, -1).map((text) => oneLine(ends(text, olderErrorChars))))],
		lastError: errors
			.slice(-1)
			.map((text) => defuse(`last error: ${cut(oneLine(ends(text, errorChars)), errorLimitTokens)}`)),
	};
}

function wholeRecord({ edited, read, commands, olderErrors, lastError }: Facts, said: readonly string[]) {
	const files = [...edited, ...read];
	return [...said, ...list("files", files), ...list("commands", commands), ...errorList(olderErrors), ...lastError];
}

function fits(lines: readonly string[]): boolean {
	return estimateTokens(lines.join("\n")) <= recordLimitTokens;
}

/** The record within its limit. The sizes of its lines do not quite add up, so less is aimed at where they pass it. */
function fitted(facts: Facts, opening: readonly string[], said: readonly string[]): readonly string[] {
	for (let limitTokens = recordLimitTokens; ; limitTokens -= 20) {
		const lines = fittedTo(limitTokens, facts, opening, said);
		if (fits(lines)) return lines;
	}
}

/** Takes in what matters most first, each as far as what is left of the limit goes. */
function fittedTo(limitTokens: number, facts: Facts, opening: readonly string[], said: readonly string[]) {
	let leftTokens = limitTokens;
	const spend = (lines: readonly string[]) => {
		leftTokens -= tokensOf(lines);
		return lines;
	};
	spend(facts.lastError);
	const allRules = outerRules(facts.said, leftTokens);
	const rulesTokens = tokensOf(allRules);
	const edited = fitList(facts.edited, leftTokens - Math.min(rulesTokens, rulesShareTokens), "more edited");
	spend(list("files", edited));
	const words = spend(cutMiddle(said, leftTokens - Math.min(rulesTokens, leftTokens)));
	const shown = [...opening, ...words].join("\n");
	const lost = allRules.filter((rule) => !shown.includes(bare(rule)));
	const rules = spend(cutMiddle(lost, leftTokens));
	const olderErrors = isSame(words, said) ? fitLast(facts.olderErrors, leftTokens) : [];
	spend(errorList(olderErrors));
	const hasErrors = isSame(olderErrors, facts.olderErrors);
	const read = hasErrors ? fitList(facts.read, leftTokens, "more read") : [];
	spend(list("files", read));
	const commands = hasErrors && isSame(read, facts.read) ? fitLast(facts.commands, leftTokens) : [];
	return [
		...words,
		...rules,
		...list("files", [...edited, ...read]),
		...list("commands", commands),
		...errorList(olderErrors),
		...facts.lastError,
	];
}

function isSame(left: readonly string[], right: readonly string[]): boolean {
	return left.length === right.length && left.every((item, index) => item === right[index]);
}

function tokensOf(lines: readonly string[]): number {
	return lines.reduce((sum, line) => sum + estimateTokens(line) + 1, 0);
}

function quote(text: string): string {
	return `user: "${text}"`;
}

function rulesIn(text: string): readonly string[] {
	return constraintsIn(text).map((sentence) => `rule: "${sentence}"`);
}

/** The sentence of a rule. */
function bare(rule: string): string {
	return rule.slice(rule.indexOf('"') + 1, -1);
}

/** The user's rules, read from the first and the last messages inwards until they fill a limit. */
function outerRules(said: readonly string[], limitTokens: number): readonly string[] {
	const found: string[][] = said.map(() => []);
	let leftTokens = limitTokens;
	for (const index of outsideIn(said.length)) {
		if (leftTokens <= 0) break;
		const rules = rulesIn(said[index] ?? "");
		found[index] = [...rules];
		leftTokens -= tokensOf(rules);
	}
	return [...new Set(found.flat())];
}

function list(name: string, items: readonly string[], glue = ", "): readonly string[] {
	return items.length === 0 ? [] : [defuse(`${name}: ${items.join(glue)}`)];
}

function errorList(errors: readonly string[]): readonly string[] {
	return list("earlier errors", errors, "; ");
}

/** As many items as a limit holds, from the front, and how many are left out. */
function fitList(items: readonly string[], limitTokens: number, left: string): readonly string[] {
	const kept: string[] = [];
	let leftTokens = limitTokens - listFrameTokens;
	for (const item of items) {
		const short = cut(item, itemLimitTokens);
		leftTokens -= estimateTokens(short) + 1;
		if (leftTokens < 0) break;
		kept.push(short);
	}
	const more = items.length - kept.length;
	return more === 0 || kept.length === 0 ? kept : [...kept, `${more} ${left}`];
}

/** The same from the back. */
function fitLast(items: readonly string[], limitTokens: number): readonly string[] {
	return fitList(items.toReversed(), limitTokens, "earlier").toReversed();
}

/** The files that calls changed, as far as that is certain, in the order of their first change. */
export function changedFiles(messages: readonly Message[]): readonly string[] {
	return [...fileUses(messages, failedCalls(messages))].filter(([, use]) => use.edits > 0).map(([path]) => path);
}

interface FileUse {
	edits: number;
	reads: number;
}

/** What calls did to files. A call that failed changed nothing. */
function fileUses(messages: readonly Message[], failed: ReadonlySet<ToolCallPart>): ReadonlyMap<string, FileUse> {
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

/** The shell commands, each once, in the order of their last run. */
function commandsIn(messages: readonly Message[], failed: ReadonlySet<ToolCallPart>): readonly string[] {
	const commands = new Map<string, { runs: number; fails: number }>();
	for (const call of messages.flatMap(toolCalls)) {
		const command = call.name === "bash" ? argumentOf(call, "command") : undefined;
		if (typeof command !== "string" || command.trim() === "") continue;
		const short = oneLine(command.slice(0, commandChars));
		const name = short.length > shownCommandChars ? `${short.slice(0, shownCommandChars).toWellFormed()}…` : short;
		const { runs, fails } = commands.get(name) ?? { runs: 0, fails: 0 };
		commands.delete(name);
		commands.set(name, { runs: runs + 1, fails: fails + (failed.has(call) ? 1 : 0) });
	}
	return [...commands].map(([name, { runs, fails }]) => {
		const times = [
			...(runs > 1 ? [`${runs}×`] : []),
			...(fails > 0 ? [fails < runs ? `failed ${fails}×` : "failed"] : []),
		];
		return times.length === 0 ? name : `${name} (${times.join(", ")})`;
	});
}

function errorsIn(messages: readonly Message[]): readonly string[] {
	const failed = messages.filter((message) => message.role === "toolResult" && message.isError === true);
	return failed.map(textOf).filter((text) => text.trim() !== "");
}

/** Both ends of a text that has more than a number of characters. */
function ends(text: string, chars: number): string {
	if (text.length <= chars) return text;
	return `${text.slice(0, chars / 2)} […] ${text.slice(-chars / 2)}`.toWellFormed();
}

function oneLine(text: string): string {
	return text.trim().replace(/\s+/g, " ");
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
		keepChars = Math.floor(keepChars * 0.97);
	}
	return "";
}
