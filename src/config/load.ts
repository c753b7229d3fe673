import { dirname, join, resolve } from "node:path";
import { wordsOf } from "../../kernel/index.ts";
import { createSettingsFile } from "./file.ts";
import { describeProblems, type Layer, readEnvironment, resolveFor } from "./merge.ts";
import { withPace } from "./pace.ts";
import { createPacks, promptsIn } from "./packs.ts";
import type { Config, KeyValues } from "./schema.ts";

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

	const readsProject = () => !isSameFile && options.projectTrusted();
	const packOf = createPacks(() =>
		[...(readsProject() ? [projectFile] : []), globalFile].map(({ path }) => join(dirname(path), "acp", "packs")),
	);

	let files: readonly Layer[] = [];
	let resolved = new Map<string, Resolved>();
	let packProblems = new Map<string, readonly string[]>();
	let known: readonly string[] = [];
	let fresh: readonly string[] = [];
	const saidOfPacks = new Set<string>();

	const refresh = () => {
		const layers = [...(readsProject() ? [projectFile.read()] : []), globalFile.read()];
		if (layers.length === files.length && layers.every((layer, index) => layer === files[index])) return;
		files = layers;
		resolved = new Map();
		packProblems = new Map();
		const warnings = describeProblems({ environment, files });
		fresh = [...fresh, ...warnings.filter((warning) => !known.includes(warning))];
		known = warnings;
	};

	const packNamed = (name: string) => {
		const { layer, problems } = packOf(name);
		packProblems.set(name, problems);
		for (const problem of problems) {
			if (!saidOfPacks.has(problem)) fresh = [...fresh, problem];
			saidOfPacks.add(problem);
		}
		return layer;
	};

	return {
		current(provider, model) {
			refresh();
			const address = JSON.stringify([provider, model]);
			const found = resolved.get(address);
			const values = found?.values ?? resolveFor({ environment, files }, provider, model);
			const pack = packNamed(values.promptPack);
			if (found?.pack === pack) return found.config;
			const config = configOf(values, pack, options);
			resolved.set(address, { values, pack, config });
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
			return { files: found, warnings: [...known, ...[...packProblems.values()].flat()] };
		},
	};
}

interface Resolved {
	readonly values: KeyValues;
	readonly pack: Layer;
	readonly config: Config;
}

function configOf({ log, prompts, ...values }: KeyValues, pack: Layer, options: ConfigOptions): Config {
	const words = wordsOf(prompts, promptsIn(pack));
	return { ...values, compress: withPace(values), words, logPath: absolutePath(log.path, options) };
}

function absolutePath(path: string, { home, cwd }: ConfigOptions): string {
	return /^~[/\\]/.test(path) ? join(home, path.slice(2)) : resolve(cwd, path);
}
