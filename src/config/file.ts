import { readFileSync, type Stats, statSync } from "node:fs";
import { parseJsonc } from "./jsonc.ts";
import { type Layer, readDocument } from "./merge.ts";

type ReadValue = (source: string, document: unknown) => Layer;

/** Settings above this size are a mistake, and reading them would hold up a turn. */
const limitBytes = 1_000_000;

/** A file with settings, or with a pack of words. */
export interface SettingsFile {
	readonly path: string;
	/** The layer of the file; the same object until the file changes. */
	read(): Layer;
	isThere(): boolean;
}

/** Follows the changes of a file that `readValue` makes a layer of. No file makes it throw. */
export function createSettingsFile(path: string, readValue: ReadValue = readDocument): SettingsFile {
	const absent: Layer = { source: path, values: new Map(), problems: [] };
	let layer = absent;
	let seen = "absent";
	let failure = "";
	return {
		path,
		isThere: () => stampOf(path) !== "absent",
		read() {
			const stamp = stampOf(path);
			if (stamp === seen && failure === "") return layer;
			seen = stamp;
			const text = stamp === "absent" ? "" : readText(path);
			const stillFails = typeof text !== "string" && text.failure === failure;
			if (!stillFails) layer = layerOf(path, text, readValue);
			failure = typeof text === "string" ? "" : text.failure;
			return layer;
		},
	};
}

/** What a look at the file without reading it says; the time of a status change tells when it becomes readable. */
function stampOf(path: string): string {
	try {
		const stats = statSync(path, { throwIfNoEntry: false });
		return stats === undefined ? "absent" : `${stats.mtimeMs} ${stats.ctimeMs} ${stats.size}`;
	} catch (error) {
		return codeOf(error);
	}
}

/** The text of the file, or why there is none; a failure may pass, so it is tried again at the next look. */
function readText(path: string): string | { readonly failure: string } {
	try {
		const refusal = refuse(statSync(path));
		return refusal === undefined ? readFileSync(path, "utf8") : { failure: refusal };
	} catch (error) {
		return isAbsence(error) ? "" : { failure: `it cannot be read (${codeOf(error)})` };
	}
}

function layerOf(path: string, text: string | { readonly failure: string }, readValue: ReadValue): Layer {
	const ignored = (why: string): Layer => {
		return { source: path, values: new Map(), problems: [{ text: `${why}; the file is ignored` }] };
	};
	if (typeof text !== "string") return ignored(text.failure);
	const parsed = parseJsonc(text);
	if (parsed.ok) return readValue(path, parsed.value);
	return ignored(`line ${parsed.line}, column ${parsed.column}: ${parsed.reason}`);
}

/** Only a regular file is opened: a pipe would hold up the session for good. */
function refuse(stats: Stats): string | undefined {
	if (stats.isDirectory()) return "it is a directory";
	if (!stats.isFile()) return "it is not a regular file";
	return stats.size > limitBytes ? `it is larger than ${limitBytes} bytes` : undefined;
}

function isAbsence(error: unknown): boolean {
	return codeOf(error) === "ENOENT" || codeOf(error) === "ENOTDIR";
}

function codeOf(error: unknown): string {
	return error instanceof Error && "code" in error ? String(error.code) : String(error);
}
