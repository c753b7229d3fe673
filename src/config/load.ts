import { readFileSync, type Stats, statSync } from "node:fs";
import { join, resolve } from "node:path";
import { parseJsonc } from "./jsonc.ts";
import { describeProblems, type Layer, readDocument, readEnvironment, resolveFor } from "./merge.ts";
import type { Config } from "./schema.ts";

export interface ConfigOptions {
	/** The user's home directory, where `.pi/acp.json` is. */
	readonly home: string;
	/** The project's directory. */
	readonly cwd: string;
	/** Name of the directory with a project's settings, as Pi calls it. */
	readonly configDirName: string;
	/** Asked before each look at the project's file. */
	readonly projectTrusted: () => boolean;
	/** The process environment, read once. */
	readonly environment: Readonly<Record<string, string | undefined>>;
}

/** The settings of one session, as the files say now. */
export interface LiveConfig {
	/** The settings for a model; the same object until a file changes. Costs a stat per file. */
	current(provider?: string, model?: string): Config;
	/** What is wrong in files and environment, as sentences for the user, each returned once. */
	takeWarnings(): readonly string[];
	/** Which files count now, and all that is wrong in them and in the environment. */
	report(): ConfigReport;
}

/** Where settings come from. */
export interface ConfigReport {
	readonly files: readonly { readonly path: string; readonly state: "read" | "absent" | "not trusted" }[];
	readonly warnings: readonly string[];
}

/** Reads the settings and follows their changes. No file, whatever is in it, makes it throw. */
export function createConfig(options: ConfigOptions): LiveConfig {
	const globalFile = createSettingsFile(join(options.home, ".pi", "acp.json"));
	const projectFile = createSettingsFile(join(options.cwd, options.configDirName, "acp.json"));
	const isSameFile = resolve(globalFile.path) === resolve(projectFile.path);
	const environment = readEnvironment(options.environment);

	let files: readonly Layer[] = [];
	let resolved = new Map<string, Config>();
	let known: readonly string[] = [];
	let fresh: readonly string[] = [];

	const refresh = () => {
		const layers = [...(!isSameFile && options.projectTrusted() ? [projectFile.read()] : []), globalFile.read()];
		if (layers.length === files.length && layers.every((layer, index) => layer === files[index])) return;
		files = layers;
		resolved = new Map();
		const warnings = describeProblems({ environment, files });
		fresh = [...fresh, ...warnings.filter((warning) => !known.includes(warning))];
		known = warnings;
	};

	return {
		current(provider, model) {
			refresh();
			const address = JSON.stringify([provider, model]);
			let config = resolved.get(address);
			if (!config) {
				const { log, ...values } = resolveFor({ environment, files }, provider, model);
				config = { ...values, logPath: absolutePath(log.path, options) };
				resolved.set(address, config);
			}
			return config;
		},
		takeWarnings() {
			refresh();
			const taken = fresh;
			fresh = [];
			return taken;
		},
		report() {
			refresh();
			const found = [globalFile, ...(isSameFile ? [] : [projectFile])].map((file) => {
				const state = file.isThere() ? (files.includes(file.read()) ? "read" : "not trusted") : "absent";
				return { path: file.path, state } as const;
			});
			return { files: found, warnings: known };
		},
	};
}

function absolutePath(path: string, { home, cwd }: ConfigOptions): string {
	return /^~[/\\]/.test(path) ? join(home, path.slice(2)) : resolve(cwd, path);
}

/** Settings above this size are a mistake, and reading them would hold up a turn. */
const limitBytes = 1_000_000;

interface SettingsFile {
	readonly path: string;
	/** The layer of the file; the same object until the file changes. */
	read(): Layer;
	isThere(): boolean;
}

function createSettingsFile(path: string): SettingsFile {
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
			if (!stillFails) layer = layerOf(path, text);
			failure = typeof text === "string" ? "" : text.failure;
			return layer;
		},
	};
}

/** What a look at the file without reading it says; the time of a status change tells when it becomes readable. */
function stampOf(path: string): string {
	try {
		const { mtimeMs, ctimeMs, size } = statSync(path);
		return `${mtimeMs} ${ctimeMs} ${size}`;
	} catch (error) {
		return isAbsence(error) ? "absent" : codeOf(error);
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

function layerOf(path: string, text: string | { readonly failure: string }): Layer {
	const ignored = (why: string): Layer => {
		return { source: path, values: new Map(), problems: [{ text: `${why}; the file is ignored` }] };
	};
	if (typeof text !== "string") return ignored(text.failure);
	const parsed = parseJsonc(text);
	if (parsed.ok) return readDocument(path, parsed.value);
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
