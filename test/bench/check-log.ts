import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { formatTokens, viewTokens } from "../../kernel/index.ts";
import { createHome, type Home, modelId, PROVIDER_NAME } from "../support/home.ts";
import { type Judgement, judge } from "../support/invariants.ts";
import { startProvider } from "../support/provider.ts";
import { type Recording, readSessionLog } from "../support/recording.ts";
import { type PiResult, type Rpc, runPi, startRpc } from "../support/run-pi.ts";
import { blocksIn } from "../support/wire.ts";
import { foldingModel, goalShare, storyFile, storyPrompts } from "./folding-model.ts";

const usage = "Usage: npm run check:log -- --log FILE [--window TOKENS]";
const bundlePath = fileURLToPath(new URL("../../dist/index.js", import.meta.url));
/** Wide enough for a day of work: in a narrower window rules fold first, and the check says little of the model's folds. */
const defaultWindowTokens = 400_000;
const answerMaxTokens = 8_192;
const runLimitMs = 900_000;
const shownViolations = 20;

/** What a run over a log came to. */
export interface CheckedLog {
	readonly recording: Recording;
	readonly judgement: Judgement;
	/** The estimated size of each request's view, the nudge apart. */
	readonly sizesTokens: readonly number[];
	/** True if folding brought a request down to the goal. */
	readonly isFolded: boolean;
	/** What Pi and the scripted model took, and what the checks took. */
	readonly piMs: number;
	readonly checkMs: number;
}

/** What is wrong with the command line or the file. */
export class BadInput extends Error {}

/** Resumes a copy of a session log in the real Pi, folds it by a scripted model, and checks every request. */
export async function checkLog(path: string, windowTokens = defaultWindowTokens): Promise<CheckedLog> {
	const log = readLog(path);
	const home = createHome();
	try {
		const copy = join(home.agentDir, "sessions", "copy", "session.jsonl");
		mkdirSync(dirname(copy), { recursive: true });
		// The project of the log is not there, and Pi refuses to go on in a folder that is missing.
		const header = JSON.stringify({ ...log.header, cwd: home.cwd });
		writeFileSync(copy, [header, ...log.lines].join("\n"));
		writeFileSync(join(home.cwd, storyFile.name), storyFile.text);
		const startMs = performance.now();
		const recording = await record(home, copy, windowTokens);
		const endMs = performance.now();
		const judgement = judge(recording);
		const sizesTokens = judgement.sights.map((sight) => viewTokens(sight.view));
		const isFolded = Math.min(...sizesTokens) <= (sizesTokens[0] ?? 0) * goalShare;
		const times = { piMs: endMs - startMs, checkMs: performance.now() - endMs };
		return { recording, judgement, sizesTokens, isFolded, ...times };
	} finally {
		home.remove();
	}
}

/** The header of a session log and the lines after it, as Pi finds them; throws for any other file. */
export function readLog(path: string): { readonly header: object; readonly lines: readonly string[] } {
	if (!existsSync(path)) throw new BadInput(`There is no file ${path}.`);
	if (!statSync(path).isFile()) throw new BadInput(`${path} is no file.`);
	const lines = readFileSync(path, "utf8").split("\n");
	// Pi passes over lines it cannot read; the first one it can read has to be the header.
	const first = lines.findIndex((line) => parseLine(line) !== undefined);
	const header = parseLine(lines[first] ?? "");
	if (header?.type !== "session" || typeof header.id !== "string") {
		throw new BadInput(`${path} is no session log of Pi: it does not begin with a session header.`);
	}
	if (!lines.some((line) => parseLine(line)?.type === "message")) {
		throw new BadInput(`${path} holds no messages, so there is nothing to check.`);
	}
	return { header, lines: lines.slice(first + 1) };
}

/** The object on a line; undefined if there is none. */
function parseLine(line: string): { readonly type?: unknown; readonly id?: unknown } | undefined {
	try {
		const value: unknown = JSON.parse(line);
		return typeof value === "object" && value !== null ? value : undefined;
	} catch (error) {
		if (error instanceof SyntaxError) return undefined;
		throw error;
	}
}

/** Four prompts in three processes of Pi, the last one without the sidecar. */
async function record(home: Home, file: string, windowTokens: number): Promise<Recording> {
	const provider = await startProvider(foldingModel());
	const models = [
		{ contextWindow: windowTokens, maxTokens: answerMaxTokens, input: ["text" as const, "image" as const] },
	];
	const options = { home, providerUrl: provider.url, models, args: ["--session", file], timeoutMs: runLimitMs };
	const [fold, open, next, last] = storyPrompts;
	const restarts: number[] = [];
	try {
		requireClean(await runPrompts(startRpc(options), [fold, open]));
		restarts.push(provider.requests.length);
		requireClean(await runPi({ ...options, prompt: next }));
		if (provider.requests.some((request) => blocksIn(request).length > 0)) rmSync(`${file}.acp.json`);
		restarts.push(provider.requests.length);
		requireClean(await runPi({ ...options, prompt: last, mode: "json" }));
	} finally {
		await provider.close();
	}
	const log = readSessionLog(readFileSync(file, "utf8"));
	if (log === undefined) throw new Error("Pi left no session log.");
	const id = modelId(models);
	const key = `${PROVIDER_NAME}/${id}`;
	const model = { key, windowTokens, answerMaxTokens, countsAnswer: true, takesImages: true, needsAlternation: false };
	return { log, requests: provider.requests, restarts, modelId: id, model };
}

async function runPrompts(rpc: Rpc, prompts: readonly string[]): Promise<PiResult> {
	try {
		for (const prompt of prompts) await rpc.prompt(prompt);
	} catch (error) {
		await rpc.close();
		throw error;
	}
	return rpc.close();
}

/** Throws if Pi failed, or if the extension noted an error in its log, where hooks put what they catch. */
function requireClean({ code, stdout, stderr, home }: PiResult): void {
	const logPath = join(home.path, ".pi", "acp.log");
	const errors = existsSync(logPath)
		? readFileSync(logPath, "utf8")
				.split("\n")
				.filter((line) => line.includes(" [error] "))
		: [];
	if (code === 0 && stderr === "" && errors.length === 0) return;
	throw new Error(`Pi ended with code ${code}.\n${[stderr || stdout.slice(-2_000), ...errors].join("\n")}`);
}

/** The command line: 0 if all holds, 1 if not, 2 for bad input. */
export async function main(args: readonly string[], print: (text: string) => void): Promise<number> {
	try {
		const { path, windowTokens } = readArguments(args);
		const checked = await checkLog(path, windowTokens);
		print(report(checked));
		return checked.isFolded && checked.judgement.violations.length === 0 ? 0 : 1;
	} catch (error) {
		if (!(error instanceof BadInput)) throw error;
		print(`${error.message}\n${usage}`);
		return 2;
	}
}

function readArguments(args: readonly string[]): { readonly path: string; readonly windowTokens: number } {
	const { log, window } = parse(args);
	if (log === undefined) throw new BadInput("No session log is given.");
	const windowTokens = window === undefined ? defaultWindowTokens : Number(window);
	if (!Number.isSafeInteger(windowTokens) || windowTokens < 1) throw new BadInput(`${window} is no number of tokens.`);
	if (!existsSync(bundlePath)) throw new BadInput('There is no dist/index.js yet; run "npm run build" first.');
	return { path: log, windowTokens };
}

function parse(args: readonly string[]) {
	try {
		return parseArgs({ args: [...args], options: { log: { type: "string" }, window: { type: "string" } } }).values;
	} catch (error) {
		throw new BadInput(error instanceof Error ? error.message : String(error));
	}
}

function report({ recording, judgement, sizesTokens, isFolded, piMs, checkMs }: CheckedLog): string {
	const { sights, violations } = judgement;
	const branch = sights.at(-1)?.branch;
	const blocks = [...(branch?.state.blocks.values() ?? [])];
	const folds = sights.at(-1)?.operations.filter(({ operation }) => operation.kind === "fold") ?? [];
	const tiers = [1, 2, 3].map((tier) => blocks.filter((block) => block.tier === tier).length);
	const rows: readonly (readonly [string, string | number])[] = [
		["messages in the log", branch?.lastOrdinal ?? 0],
		["tokens of the first request", formatTokens(sizesTokens[0] ?? 0)],
		["tokens of the smallest request", formatTokens(Math.min(...sizesTokens))],
		["tokens of the last request", formatTokens(sizesTokens.at(-1) ?? 0)],
		[`folded to ${goalShare * 100} %`, isFolded ? "yes" : "no"],
		["folds", folds.length],
		["blocks", `${blocks.length} (tiers 1 to 3: ${tiers.join(", ")})`],
		["requests checked", `${sights.length} of ${recording.requests.length}`],
		["violations", violations.length],
		["time in Pi, of the checks", `${(piMs / 1_000).toFixed(1)} s, ${(checkMs / 1_000).toFixed(1)} s`],
	];
	const shown = violations
		.slice(0, shownViolations)
		.map((each) => `  invariant ${each.invariant}, request ${each.request}: ${each.what}`);
	const left = violations.length - shown.length;
	return [
		...rows.map(([name, value]) => `${name.padEnd(32)}${value}`),
		...shown,
		...(left > 0 ? [`  and ${left} more`] : []),
	].join("\n");
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
	process.exitCode = await main(process.argv.slice(2), (text) => process.stdout.write(`${text}\n`));
}
