import {
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	realpathSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/** A throw-away home: nothing that Pi or the extension does with it reaches the user's own files. */
export interface Home {
	/** What HOME points to. */
	path: string;
	/** Pi's own folder in it, `~/.pi/agent`. */
	agentDir: string;
	/** The project that Pi runs in. */
	cwd: string;
	/** What TMPDIR points to. */
	tmpDir: string;
	/** The global settings of the extension, `~/.pi/acp.json`. */
	acpPath: string;
	/** Paths of all session logs, oldest first. */
	sessionFiles(): string[];
	remove(): void;
}

/** A scripted model as Pi's models.json describes it; ids default to `scripted-1`, `scripted-2`, … */
export interface ModelOptions {
	id?: string;
	api?: "openai-completions" | "anthropic-messages";
	contextWindow?: number;
	maxTokens?: number;
	input?: ("text" | "image")[];
	reasoning?: boolean;
	compat?: Record<string, unknown>;
}

/** The files of a home; what is left out stays as it is. A string as `acp` is written verbatim. */
export interface HomeFiles {
	providerUrl?: string;
	models?: readonly ModelOptions[];
	settings?: Record<string, unknown>;
	acp?: string | Record<string, unknown>;
}

/** The provider's name in models.json. */
export const PROVIDER_NAME = "loopback";

/** Creates an empty home under the system's temp folder; `remove()` deletes it. */
export function createHome(): Home {
	const root = realpathSync(mkdtempSync(join(tmpdir(), "pi-home-")));
	const path = join(root, "home");
	const agentDir = join(path, ".pi", "agent");
	const cwd = join(root, "project");
	const tmpDir = join(root, "tmp");
	// Pi keeps transpiled extensions in `$TMPDIR/jiti`; a cold one costs a start about a second, so homes share it.
	const jitiCache = join(tmpdir(), "jiti");
	for (const folder of [agentDir, cwd, tmpDir, jitiCache]) mkdirSync(folder, { recursive: true });
	symlinkSync(jitiCache, join(tmpDir, "jiti"));
	return {
		path,
		agentDir,
		cwd,
		tmpDir,
		acpPath: join(path, ".pi", "acp.json"),
		sessionFiles: () => sessionFilesIn(join(agentDir, "sessions")),
		remove: () => rmSync(root, { recursive: true, force: true, maxRetries: 20 }),
	};
}

/** Writes models.json, settings.json and acp.json as far as they are given. */
export function writeHomeFiles(home: Home, files: HomeFiles): void {
	if (files.providerUrl !== undefined) {
		writeJson(join(home.agentDir, "models.json"), modelsConfig(files.providerUrl, files.models ?? [{}]));
	}
	if (files.settings !== undefined) writeJson(join(home.agentDir, "settings.json"), files.settings);
	if (typeof files.acp === "string") writeFileSync(home.acpPath, files.acp);
	else if (files.acp !== undefined) writeJson(home.acpPath, files.acp);
}

/** The id of the model at this place of the list. */
export function modelId(models: readonly ModelOptions[] | undefined, index = 0): string {
	return models?.[index]?.id ?? `scripted-${index + 1}`;
}

function modelsConfig(url: string, models: readonly ModelOptions[]): unknown {
	const entries = models.map((model, index) => ({
		id: modelId(models, index),
		api: model.api ?? "openai-completions",
		baseUrl: model.api === "anthropic-messages" ? url : `${url}/v1`,
		contextWindow: model.contextWindow ?? 200_000,
		maxTokens: model.maxTokens ?? 8_192,
		input: model.input ?? ["text"],
		reasoning: model.reasoning ?? false,
		cost: { input: 1, output: 1, cacheRead: 0.1, cacheWrite: 0 },
		compat: { supportsDeveloperRole: false, supportsReasoningEffort: false, ...model.compat },
	}));
	const provider = { baseUrl: `${url}/v1`, apiKey: "sk-loopback", api: "openai-completions", models: entries };
	return { providers: { [PROVIDER_NAME]: provider } };
}

function sessionFilesIn(folder: string): string[] {
	if (!existsSync(folder)) return [];
	// A log's name begins with its time, so the order of names is the order of time.
	return readdirSync(folder, { recursive: true, encoding: "utf8" })
		.filter((name) => name.endsWith(".jsonl"))
		.sort()
		.map((name) => join(folder, name));
}

function writeJson(path: string, value: unknown): void {
	mkdirSync(dirname(path), { recursive: true });
	writeFileSync(path, JSON.stringify(value, null, "\t"));
}
