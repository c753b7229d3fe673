import { type FileHandle, mkdir, open, rename } from "node:fs/promises";
import { dirname } from "node:path";

/** What a line says; a key without a value is left out. The value of `stack` may be long. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>>;

/** The log of a session. No method throws, rejects or waits for the disk; what cannot be written is dropped. */
export interface Log {
	error(scope: string, fields: LogFields): void;
	warn(scope: string, fields: LogFields): void;
	info(scope: string, fields: LogFields): void;
	/** Writes only while debug is on. */
	debug(scope: string, fields: LogFields): void;
	/** Resolves when everything said so far is written or dropped. */
	flush(): Promise<void>;
}

export interface LogOptions {
	readonly path: string;
	readonly debug: () => boolean;
	readonly now: () => Date;
}

/** At this size the file becomes `<path>.old`. */
const limitBytes = 10 * 1024 * 1024;
const valueCharacters = 80;
const stackCharacters = 4_000;

/** A log that appends to one file, readable by the user alone: `<ISO time> [level] [scope] key=value …` per event. */
export function createLog({ path, debug, now }: LogOptions): Log {
	let chain = Promise.resolve();
	let waiting: string[] = [];
	let droppedLines = 0;

	const write = async () => {
		const lines = waiting;
		waiting = [];
		if (lines.length === 0) return;
		try {
			const gap = droppedLines > 0 ? [formatLine(now(), "warn", "log", { droppedLines })] : [];
			await append(path, [...gap, ...lines].join(""));
			droppedLines = 0;
		} catch {
			// There is no place to report to but the file itself, once it can be written again.
			droppedLines += lines.length;
		}
	};

	const say = (level: string) => (scope: string, fields: LogFields) => {
		try {
			if (level === "debug" && !debug()) return;
			waiting.push(formatLine(now(), level, scope, fields));
			chain = chain.then(write);
		} catch {
			droppedLines++;
		}
	};

	return { error: say("error"), warn: say("warn"), info: say("info"), debug: say("debug"), flush: () => chain };
}

async function append(path: string, text: string): Promise<void> {
	const content = Buffer.from(text);
	let file = await openToAppend(path);
	try {
		const stats = await file.stat();
		if (stats.isFile() && stats.size + content.length > limitBytes) {
			await file.close();
			await rename(path, `${path}.old`);
			file = await openToAppend(path);
		} else if (stats.isFile() && (stats.mode & 0o077) !== 0) {
			// Somebody else's file, or a disk without permissions: the line is still worth having.
			await file.chmod(0o600).catch(() => undefined);
		}
		await file.appendFile(content);
	} finally {
		await file.close();
	}
}

async function openToAppend(path: string): Promise<FileHandle> {
	await mkdir(dirname(path), { recursive: true });
	return open(path, "a", 0o600);
}

function formatLine(time: Date, level: string, scope: string, fields: LogFields): string {
	const pairs = Object.entries(fields).flatMap(([key, value]) => {
		return value === undefined ? [] : [` ${key}=${formatValue(key, String(value))}`];
	});
	return `${time.toISOString()} [${level}] [${scope}]${pairs.join("")}\n`;
}

function formatValue(key: string, value: string): string {
	const text = key === "stack" ? redacted(cutStack(value)) : brief(value);
	if (/^[^\s"=\\\p{C}]+$/u.test(text)) return text;
	// JSON leaves other control and format characters as they are, and a terminal may obey them.
	return JSON.stringify(text).replaceAll(/[\p{C}\u2028\u2029]/gu, escapeUnits);
}

/** Keys of providers by their prefixes, web tokens, passwords in addresses, and what follows a name that says it is secret. */
const credentials = [
	/\b(?:[spr]k|gsk|xai|gh[pos]|github_pat|glpat|hf|xox[abp]|AIza|ya29|A[KS]IA|r8|nvapi|pplx|eyJ)[-_.]?[\w.*-]{12,}/g,
	/(?<=:\/\/[^\s/:@]{0,80}:)[^\s/@]+(?=@)/g,
	/(?<=\b(?:bearer|basic) |(?:api[-_ ]?key|authorization|access[-_ ]?token|secret(?:[-_ ]?key)?|password)["']?(?: provided)?(?: ?[:=] ?| is )["']?)(?!bearer|basic)[^\s"',;}]{4,}/gi,
];

/** A text without what looks like a credential. */
export function redacted(text: string): string {
	return credentials.reduce((safe, pattern) => safe.replace(pattern, "***"), text);
}

function escapeUnits(character: string): string {
	const units = Array.from({ length: character.length }, (_, index) => character.charCodeAt(index));
	return units.map((unit) => `\\u${unit.toString(16).padStart(4, "0")}`).join("");
}

/** The frames at the end stay readable; the message before them may quote a conversation. */
function cutStack(stack: string): string {
	const lines = stack.split("\n");
	let first = lines.length;
	while (first > 1 && /^\s+at /.test(lines[first - 1] ?? "")) first--;
	const message = brief(lines.slice(0, first).join("\n"));
	return cut([message, ...lines.slice(first)].join("\n"), stackCharacters);
}

/** A credential across the end of what is shown must not be cut beyond recognition, and a long text not be searched. */
function brief(text: string): string {
	return cut(redacted(text.slice(0, 5 * valueCharacters)), valueCharacters);
}

function cut(text: string, limit: number): string {
	if (text.length <= limit) return text;
	const end = /[\uD800-\uDBFF]/.test(text.charAt(limit - 2)) ? limit - 2 : limit - 1;
	return `${text.slice(0, end)}…`;
}
