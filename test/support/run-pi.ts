import { type ChildProcess, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { createHome, type Home, type HomeFiles, modelId, PROVIDER_NAME, writeHomeFiles } from "./home.ts";

const CLI_PATH = fileURLToPath(
	new URL("../../node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js", import.meta.url),
);
/** The built extension; in tests a copy outside this tree, so that its imports are Pi's own as in an installation. */
export const BUNDLE_PATH =
	process.env.ACP_TEST_BUNDLE ?? fileURLToPath(new URL("../../dist/index.js", import.meta.url));
const GRACE_MS = 2_000;

/** How to start Pi. The first model is selected if there is a provider. */
export interface PiOptions extends HomeFiles {
	/** A home of an earlier run continues its sessions; a new one is made if left out. The caller removes it. */
	home?: Home;
	/** Paths loaded with `-e`; the built bundle if left out. */
	extensions?: readonly string[];
	/** Further command-line arguments, such as `-c`. */
	args?: readonly string[];
	env?: Record<string, string>;
	/** Limit for a whole run, in RPC mode for each wait. */
	timeoutMs?: number;
}

export interface RunOptions extends PiOptions {
	prompt?: string;
	mode?: "print" | "json";
}

/** What is left of a finished Pi; `code` is null if a signal ended it. */
export interface PiResult {
	code: number | null;
	stdout: string;
	stderr: string;
	home: Home;
	sessionFiles(): string[];
}

/** A record of RPC mode: a command, a response or an event. */
export interface RpcRecord {
	type: string;
	[field: string]: unknown;
}

/** A running `pi --mode rpc`. `events` and `uiRequests` grow as records arrive. */
export interface Rpc {
	home: Home;
	events: RpcRecord[];
	uiRequests: RpcRecord[];
	/** Sends a prompt and waits until the agent has settled, or only for the response if no run started. */
	prompt(text: string): Promise<void>;
	/** Sends a command and waits for its response, which may say `success: false`. */
	command(command: RpcRecord): Promise<RpcRecord>;
	/** Ends Pi by closing its input. */
	close(): Promise<PiResult>;
}

/** Runs the real Pi on one prompt in a hermetic home. Rejects with the output so far after `timeoutMs`. */
export async function runPi(options: RunOptions): Promise<PiResult> {
	const mode = options.mode === "json" ? ["--mode", "json"] : ["-p"];
	const prompt = options.prompt === undefined ? [] : [options.prompt];
	const pi = startPi(options, "ignore", [...mode, ...piArguments(options), ...prompt]);
	return pi.finish(options.timeoutMs ?? 45_000);
}

/** Starts `pi --mode rpc` in a hermetic home; end it with `close()`. */
export function startRpc(options: PiOptions): Rpc {
	const timeoutMs = options.timeoutMs ?? 45_000;
	const pi = startPi(options, "pipe", ["--mode", "rpc", ...piArguments(options)]);
	const records = readRecords(pi);
	let sent = 0;

	function command(fields: RpcRecord): Promise<RpcRecord> {
		sent++;
		const id = `command-${sent}`;
		const response = records.next((record) => record.type === "response" && record.id === id, timeoutMs);
		pi.child.stdin?.write(`${JSON.stringify({ ...fields, id })}\n`);
		return response;
	}

	async function prompt(text: string): Promise<void> {
		// A fast run may settle before its response is read, so the count is taken first.
		const settledBefore = records.events.filter(isSettled).length;
		const response = await command({ type: "prompt", message: text });
		if (response.success !== true) throw new Error(`Pi refused the prompt: ${String(response.error)}`);
		const { disposition } = response.data as { disposition: string };
		if (disposition === "handled" || records.events.filter(isSettled).length > settledBefore) return;
		await records.next(isSettled, timeoutMs);
	}

	async function close(): Promise<PiResult> {
		pi.child.stdin?.end();
		return pi.finish(timeoutMs);
	}

	return { home: pi.home, events: records.events, uiRequests: records.uiRequests, prompt, command, close };
}

function isSettled(record: RpcRecord): boolean {
	return record.type === "agent_settled";
}

function piArguments(options: PiOptions): string[] {
	const model = options.providerUrl === undefined ? [] : ["--model", `${PROVIDER_NAME}/${modelId(options.models)}`];
	const extensions = (options.extensions ?? [BUNDLE_PATH]).flatMap((path) => ["-e", path]);
	return [...model, ...extensions, ...(options.args ?? [])];
}

/** A started Pi; `finish` waits for its end, and stops it after `timeoutMs`. */
interface RunningPi {
	child: ChildProcess;
	home: Home;
	output(): string;
	finish(timeoutMs: number): Promise<PiResult>;
}

function startPi(options: PiOptions, stdin: "ignore" | "pipe", args: string[]): RunningPi {
	const home = options.home ?? createHome();
	writeHomeFiles(home, options);
	const child = spawn(process.execPath, [CLI_PATH, ...args], {
		cwd: home.cwd,
		env: { ...hermeticEnv(home), ...options.env },
		stdio: [stdin, "pipe", "pipe"],
	});
	const written = { stdout: "", stderr: "" };
	for (const name of ["stdout", "stderr"] as const) {
		child[name]?.setEncoding("utf8").on("data", (text: string) => {
			written[name] += text;
		});
	}
	const closed = new Promise<number | null>((resolve, reject) => {
		child.once("error", reject);
		child.once("close", resolve);
	});
	// Whoever waits sees the failure; before that it must not count as unhandled.
	closed.catch(() => undefined);
	const output = () => `stdout:\n${written.stdout}\nstderr:\n${written.stderr}`;

	async function finish(timeoutMs: number): Promise<PiResult> {
		let isLate = false;
		const timer = setTimeout(() => {
			isLate = true;
			stop(child);
		}, timeoutMs);
		const code = await closed.finally(() => clearTimeout(timer));
		if (isLate) throw new Error(`Pi did not end within ${timeoutMs} ms.\n${output()}`);
		return { code, ...written, home, sessionFiles: home.sessionFiles };
	}

	return { child, home, output, finish };
}

/** Only what a program needs to run at all: no keys, no proxies, no settings of the user's. */
function hermeticEnv(home: Home): Record<string, string> {
	return {
		PATH: process.env.PATH ?? "",
		LANG: "C.UTF-8",
		HOME: home.path,
		TMPDIR: home.tmpDir,
		// Pi fills a cache of compiled code when it ends; a cold one in each home would cost every run seconds.
		NODE_COMPILE_CACHE: join(tmpdir(), "compile-cache"),
		PI_CODING_AGENT_DIR: home.agentDir,
		PI_OFFLINE: "1",
		PI_TELEMETRY: "0",
		PI_SKIP_VERSION_CHECK: "1",
	};
}

/** Asks a child to end, then ends it; its pipes are closed then, since its own children may still hold them. */
function stop(child: ChildProcess): void {
	const timer = setTimeout(() => child.kill("SIGKILL"), GRACE_MS);
	child.once("exit", () => {
		clearTimeout(timer);
		child.stdout?.destroy();
		child.stderr?.destroy();
	});
	child.kill("SIGTERM");
}

interface Waiter {
	matches(record: RpcRecord): boolean;
	settle(outcome: RpcRecord | Error): void;
}

interface RecordStream {
	events: RpcRecord[];
	uiRequests: RpcRecord[];
	/** The next record that matches; rejects after `timeoutMs` or when Pi ends. */
	next(matches: (record: RpcRecord) => boolean, timeoutMs: number): Promise<RpcRecord>;
}

function readRecords(pi: RunningPi): RecordStream {
	const events: RpcRecord[] = [];
	const uiRequests: RpcRecord[] = [];
	const waiters = new Set<Waiter>();
	let partialLine = "";

	function receive(record: RpcRecord): void {
		if (record.type === "extension_ui_request") uiRequests.push(record);
		else if (record.type !== "response") events.push(record);
		for (const waiter of [...waiters]) if (waiter.matches(record)) waiter.settle(record);
	}

	function fail(reason: string): void {
		for (const waiter of [...waiters]) waiter.settle(new Error(`${reason}\n${pi.output()}`));
	}

	// Records end at LF alone: other line separators may stand inside a JSON string.
	pi.child.stdout?.on("data", (text: string) => {
		const lines = (partialLine + text).split("\n");
		partialLine = lines.pop() ?? "";
		for (const line of lines) receive(JSON.parse(line));
	});
	pi.child.once("close", (code) => fail(`Pi ended with code ${code} while a test waited for it.`));

	function next(matches: (record: RpcRecord) => boolean, timeoutMs: number): Promise<RpcRecord> {
		return new Promise((resolve, reject) => {
			const timer = setTimeout(() => {
				waiter.settle(new Error(`Pi sent nothing that matches within ${timeoutMs} ms.\n${pi.output()}`));
			}, timeoutMs);
			const waiter: Waiter = {
				matches,
				settle(outcome) {
					clearTimeout(timer);
					waiters.delete(waiter);
					if (outcome instanceof Error) reject(outcome);
					else resolve(outcome);
				},
			};
			waiters.add(waiter);
		});
	}

	return { events, uiRequests, next };
}
