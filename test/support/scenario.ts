import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { SessionEntry } from "@earendil-works/pi-coding-agent";
import { expect } from "vitest";
import { createHome, type Home, type HomeFiles, writeHomeFiles } from "./home.ts";
import { type InProcess, type InProcessOptions, inProcess } from "./in-process.ts";
import { said } from "./log.ts";
import { type Provider, type RecordedRequest, type Reply, type ScriptedUsage, startProvider } from "./provider.ts";
import { type PiOptions, type PiResult, type Rpc, type RunOptions, runPi, startRpc } from "./run-pi.ts";

/** A home and a scripted model that outlive the Pi processes and sessions started on them. */
export interface Scenario {
	readonly home: Home;
	readonly provider: Provider;
	/** All requests so far, whoever made them. */
	readonly requests: RecordedRequest[];
	/** What the model answers next; then `ok` to everything, unless the scenario was opened with an answer. */
	replies(...replies: Reply[]): void;
	/** Writes a file of the project. */
	file(name: string, content: string | Buffer): void;
	/** Writes an extension into the home and returns its path. */
	extension(name: string, code: string): string;
	/** Runs the real Pi on one prompt and expects it to succeed. Returns the requests it made, and what it wrote. */
	run(prompt: string, options?: Omit<RunOptions, "prompt" | "home">): Promise<PiResult & { made: RecordedRequest[] }>;
	rpc(options?: Omit<PiOptions, "home">): Rpc;
	/** A session in this process, on the log `session.jsonl` of the project unless told otherwise. */
	session(options: InProcessOptions): Promise<InProcess>;
	/** The entries of the latest session log. */
	entries(): SessionEntry[];
	/** The latest session log. */
	sessionFile(): string;
}

/** A model that decides for each request. */
type Answer = (request: RecordedRequest) => Reply | Promise<Reply>;

const running: (() => unknown)[] = [];

/** Settings under which no nudge is due, whatever the size of the view. */
export const withoutNudges = { compress: { keepTokens: 10_000_000 } };

/**
 * Opens a scenario; the files are those of its home, and hold until a run brings its own. `answer` answers what
 * `replies` leave over.
 */
export async function openScenario(files: HomeFiles = {}, answer: Answer = () => ({ text: "ok" })): Promise<Scenario> {
	const home = createHome();
	const queue: Reply[] = [];
	const provider = await startProvider((request) => queue.shift() ?? answer(request));
	const { requests } = provider;
	const settings = { ...files, providerUrl: provider.url };
	writeHomeFiles(home, settings);
	running.push(
		() => home.remove(),
		() => provider.close(),
	);
	const sessionFile = () => home.sessionFiles().at(-1) ?? join(home.cwd, "session.jsonl");
	return {
		home,
		provider,
		requests,
		replies: (...replies) => void queue.push(...replies),
		file: (name, content) => writeFileSync(join(home.cwd, name), content),
		extension(name, code) {
			const path = join(home.path, name);
			writeFileSync(path, code);
			return path;
		},
		async run(prompt, options) {
			const from = requests.length;
			const result = await runPi({ models: files.models ?? [{}], ...options, providerUrl: provider.url, home, prompt });
			expect(result.code, result.stderr).toBe(0);
			return { ...result, made: requests.slice(from) };
		},
		rpc(options) {
			const rpc = startRpc({ models: files.models ?? [{}], ...options, providerUrl: provider.url, home });
			running.push(() => rpc.close());
			return rpc;
		},
		async session(options) {
			const models = options.models ?? files.models;
			const own = { sessionFile: join(home.cwd, "session.jsonl"), ...options, ...(models && { models }) };
			return inProcess({ ...own, home, provider });
		},
		entries: () => entriesOf(sessionFile()),
		sessionFile,
	};
}

/** Ends everything that the scenarios so far started; for `afterEach` or `afterAll`. */
export async function closeScenarios(): Promise<void> {
	for (const close of running.splice(0).reverse()) await close();
}

/** A reply that reads a file. */
export function read(path: string, usage?: ScriptedUsage): Reply {
	return { toolCalls: [{ name: "read", arguments: { path } }], ...(usage && { usage }) };
}

/** A reply that folds ranges, each given by its refs; the summary tells them apart. */
export function fold(...ranges: readonly (readonly [startId: string, endId: string])[]): Reply {
	const content = ranges.map(([startId, endId]) => ({
		startId,
		endId,
		summary: said(`What ${startId} to ${endId} said.`),
	}));
	return call("compress", { content });
}

/** A reply that calls one tool. */
export function call(name: string, args: Record<string, unknown> | string): Reply {
	return { toolCalls: [{ name, arguments: args }] };
}

/** The entries of a session log, its header left out. */
export function entriesOf(path: string): SessionEntry[] {
	const [, ...lines] = readFileSync(path, "utf8").trim().split("\n");
	return lines.map((line) => JSON.parse(line));
}
