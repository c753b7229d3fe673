import { salvageJson } from "./tolerant-json.ts";

/** One range a compress call asks for. The refs are as the model wrote them, the summary is byte for byte. */
export interface RangeRequest {
	startId: string;
	endId: string;
	summary: string;
	topic?: string;
}

/** Why no range at all could be read: what was wrong, what was understood, and the expected shape. */
export interface ArgumentsProblem {
	problem: string;
}

/**
 * Reads what models really send as arguments of compress: the declared shape, or any deviation that means one thing.
 * `lost` names the entries that could not be read. A problem if no range is left; never throws.
 */
export function readCompressArguments(args: unknown): { ranges: RangeRequest[]; lost: string[] } | ArgumentsProblem {
	const reading: Reading = { ranges: [], lost: [], entries: 0 };
	if (typeof args === "string" || Array.isArray(args)) readValue(reading, args, 0);
	else {
		const fields = fieldsOf(args);
		if (fields.size === 0) return problemOf('"content" is missing.');
		readFields(reading, fields, 0);
	}
	const lost = sentencesOf(reading.lost);
	if (reading.ranges.length > 0) return { ranges: reading.ranges, lost };
	if (lost.length === 0) return problemOf("The list of ranges is empty; it must not be.");
	return problemOf(`No range could be read: ${lost.join("; ")}.`);
}

interface Reading {
	readonly ranges: RangeRequest[];
	readonly lost: LostEntry[];
	/** Entries met so far, read or lost. */
	entries: number;
}

interface LostEntry {
	readonly entry: number;
	/** The refs of the entry in brackets, as far as it has any. */
	readonly refs: string;
	why: string;
}

type Field = "startId" | "endId" | "summary" | "topic" | "content";
type Fields = ReadonlyMap<Field, unknown>;

const EXPECTED = '{"content": [{"startId": "m…", "endId": "m…", "summary": "…", "topic": "…"}]}';

/** Names models use, without case, underscore and hyphen. */
const FIELD_NAMES = new Map<string, Field>([
	["startid", "startId"],
	["startref", "startId"],
	["start", "startId"],
	["endid", "endId"],
	["endref", "endId"],
	["end", "endId"],
	["summary", "summary"],
	["topic", "topic"],
	["content", "content"],
]);

/** Lists and texts may hold each other up to this depth: text in a list in a text in `content`, and some to spare. */
const DEEPEST = 8;

/** Lost entries that are named one by one; the rest is counted. */
const NAMED_LOST = 8;

/**
 * The form that needs no escaping: two refs and an optional topic on the first line, everything below is the summary.
 * Between the refs stands a hyphen, a dash of any width, a minus sign, a tilde, an arrow, two or three dots, or "to".
 */
const LINE_FORM =
	/^([mb]\d{1,15})\s*(?:[-\u2010-\u2015\u2212~]{1,3}>?|\u2192|\.{2,3}|\u2026|to)\s*([mb]\d{1,15})(?:[\s:|,\u2013\u2014-]+(.*))?$/is;

function readValue(reading: Reading, value: unknown, depth: number): void {
	if (depth > DEEPEST) lose(reading, "is nested too deeply");
	else if (typeof value === "string") readText(reading, value, depth);
	else if (Array.isArray(value)) for (const item of value) readValue(reading, item, depth + 1);
	else if (typeof value === "object" && value !== null) readFields(reading, fieldsOf(value), depth);
	else lose(reading, value === undefined ? "cannot be read" : "is neither an object nor text");
}

/** A record may hold the list, be an entry itself, or both; `content` stands for a missing summary if it is plain text. */
function readFields(reading: Reading, fields: Fields, depth: number): void {
	const content = fields.get("content");
	const isSummary =
		typeof content === "string" && fields.has("startId") && !fields.has("summary") && !/^\s*[[{]/.test(content);
	if (content !== undefined && !isSummary) readValue(reading, content, depth + 1);
	if (content === undefined || isSummary || (fields.has("startId") && fields.has("summary")))
		readEntry(reading, fields, isSummary ? content : undefined);
}

function readEntry(reading: Reading, fields: Fields, content: string | undefined): void {
	const startId = textOf(fields.get("startId"));
	const endId = textOf(fields.get("endId"));
	const summary = textOf(content ?? fields.get("summary"));
	const topic = textOf(fields.get("topic"));
	if (startId !== undefined && endId !== undefined && summary !== undefined) {
		reading.entries += 1;
		reading.ranges.push({ startId, endId, summary, ...(topic?.trim() ? { topic } : {}) });
		return;
	}
	const missing = Object.entries({ startId, endId, summary }).filter(([, text]) => text === undefined);
	const refs = [startId, endId].filter((ref) => ref !== undefined).map((ref) => excerpt(ref, 20));
	lose(reading, `has no text in ${missing.map(([name]) => `"${name}"`).join(", ")}`, refs);
}

function readText(reading: Reading, text: string, depth: number): void {
	if (readLineForm(reading, text)) return;
	const json = parseJson(text);
	if (json === undefined) readDamagedText(reading, text, depth);
	else readValue(reading, json, depth + 1);
}

/** False if the text does not begin with a line of two refs. */
function readLineForm(reading: Reading, text: string): boolean {
	const [firstLine = ""] = text.trimStart().split("\n", 1);
	const match = LINE_FORM.exec(firstLine.trimEnd());
	if (match === null) return false;
	const summary = text.trimStart().slice(firstLine.length + 1);
	const fields = new Map<Field, unknown>([
		["startId", match[1]],
		["endId", match[2]],
		["summary", summary],
		["topic", match[3]],
	]);
	readEntry(reading, fields, undefined);
	return true;
}

function readDamagedText(reading: Reading, text: string, depth: number): void {
	const { values, lastKey, isCut } = salvageJson(text, (name) => fieldOf(name) !== undefined);
	const own: Reading = { ranges: [], lost: [], entries: reading.entries };
	for (const value of values) readValue(own, value, depth + 1);
	if (own.ranges.length === 0 && lastKey === "") {
		lose(reading, `holds no range: ${text.trim() === "" ? "it is empty" : `"${excerpt(text, 60)}"`}`);
		return;
	}
	if (isCut && own.entries === reading.entries) lose(own, "cannot be read");
	const last = own.lost.at(-1);
	if (isCut && last?.entry === own.entries) {
		last.why = `is cut off${lastKey === "" ? "" : ` after "${lastKey}"`} (character ${text.length}) and ${last.why}`;
	}
	for (const range of own.ranges) reading.ranges.push(range);
	for (const entry of own.lost) reading.lost.push(entry);
	reading.entries = own.entries;
}

/** The value of a text that is a valid list, record or string, else undefined. */
function parseJson(text: string): unknown {
	if (!/^\s*["[{]/.test(text)) return undefined;
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}

function fieldOf(name: string): Field | undefined {
	return FIELD_NAMES.get(name.toLowerCase().replace(/[_-]/g, ""));
}

/** The known members of a record; the declared name wins over its variants. */
function fieldsOf(value: unknown): Fields {
	const fields = new Map<Field, unknown>();
	if (typeof value !== "object" || value === null) return fields;
	for (const [name, member] of Object.entries(value)) {
		const field = fieldOf(name);
		if (field === undefined || member === undefined || member === null) continue;
		if (name === field || !fields.has(field)) fields.set(field, member);
	}
	return fields;
}

function textOf(value: unknown): string | undefined {
	return typeof value === "string" ? value : undefined;
}

function lose(reading: Reading, why: string, refs: readonly string[] = []): void {
	reading.entries += 1;
	reading.lost.push({ entry: reading.entries, refs: refs.length === 0 ? "" : ` (${refs.join(" to ")})`, why });
}

function sentencesOf(lost: readonly LostEntry[]): string[] {
	const named = lost.slice(0, NAMED_LOST).map(({ entry, refs, why }) => `entry ${entry}${refs} ${why}`);
	const unnamed = lost.length - named.length;
	return unnamed === 0 ? named : [...named, `${unnamed} more entries could not be read`];
}

function problemOf(sentence: string): ArgumentsProblem {
	return { problem: `${sentence} Nothing was folded. Expected: ${EXPECTED}` };
}

function excerpt(text: string, limitChars: number): string {
	const line = text
		.slice(0, 4 * limitChars)
		.trim()
		.replace(/\s+/g, " ");
	return line.length <= limitChars ? line : `${line.slice(0, limitChars).toWellFormed()}…`;
}
