/**
 * Two writers on one session log, killed at random moments: after each kill the log and the sidecar must load, and every
 * fold that a writer acknowledged must be there. `npm run bench:crash -- --kills 1000 --seed 1`.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { SessionManager } from "@earendil-works/pi-coding-agent";
import { buildSync } from "esbuild";
import { Check } from "typebox/value";
import { sidecarSchema } from "../../kernel/contract.ts";
import { replayCall, standingView, Timeline, toMessages } from "../../kernel/index.ts";
import { entryFromPi } from "../../src/transcript/from-pi.ts";
import { contextOf } from "../support/log.ts";

const { values } = parseArgs({
	options: { kills: { type: "string", default: "1000" }, seed: { type: "string", default: "1" } },
});
const kills = Number(values.kills);
const folder = mkdtempSync(join(tmpdir(), "acp-crash-"));
const writerPath = bundleWriter();
/** A log is written to by this many pairs of writers before the next one begins. */
const roundsPerLog = 25;
const random = generator(Number(values.seed));

interface Acknowledged {
	readonly entryId: string;
	readonly block: number;
}

let done = 0;
let folds = 0;
let torn = 0;
const failures: string[] = [];
let path = "";
let acknowledged: Acknowledged[] = [];
for (let round = 0; done < kills; round++) {
	if (round % roundsPerLog === 0) {
		path = newLog(round);
		acknowledged = [];
	}
	const writers = ["left", "right"].map((name) => startWriter(name));
	await Promise.all(writers.map((writer) => writer.ready));
	await sleep(random() * 250);
	for (const writer of writers) writer.child.kill("SIGKILL");
	await Promise.all(writers.map((writer) => writer.ended));
	done += writers.length;
	acknowledged.push(...writers.flatMap((writer) => writer.acknowledged()));
	check(round);
	if (done % 100 === 0) process.stderr.write(`${done} kills, ${failures.length} failures so far\n`);
}
folds += acknowledged.length;
rmSync(folder, { recursive: true });
console.log(
	`${done} kills, ${folds} acknowledged folds, ${torn} logs with a torn last line, ${failures.length} failures`,
);
for (const failure of failures.slice(0, 20)) console.log(failure);
process.exitCode = failures.length > 0 ? 1 : 0;

/** A writer that starts fast: the thousand starts would otherwise take most of the time. */
function bundleWriter(): string {
	const outfile = join(folder, "writer.mjs");
	const here = (name: string) => fileURLToPath(new URL(name, import.meta.url));
	buildSync({
		entryPoints: [here("crash-writer.ts")],
		outfile,
		bundle: true,
		platform: "node",
		format: "esm",
		alias: { "@earendil-works/pi-coding-agent": here("pi-core.ts") },
		banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
		logLevel: "error",
	});
	return outfile;
}

function startWriter(name: string) {
	const child: ChildProcess = spawn(process.execPath, [writerPath, path, name], {
		stdio: ["ignore", "pipe", "inherit"],
	});
	let output = "";
	let begin: () => void = () => undefined;
	const ready = new Promise<void>((resolve) => {
		begin = resolve;
	});
	child.stdout?.on("data", (chunk: Buffer) => {
		output += chunk.toString();
		begin();
	});
	const ended = new Promise<void>((resolve) => {
		child.on("close", () => {
			begin();
			resolve();
		});
	});
	const acknowledged = () =>
		output
			.split("\n")
			.slice(0, -1)
			.map((line) => JSON.parse(line) as Acknowledged);
	return { child, ready, ended, acknowledged };
}

function check(round: number): void {
	const fail = (what: string) => failures.push(`round ${round}: ${what}`);
	try {
		if (!readFileSync(path, "utf8").endsWith("\n")) torn++;
		const manager = SessionManager.open(path);
		const timeline = new Timeline(replayCall);
		const read = (id: string) => {
			const entry = manager.getEntry(id);
			return entry && entryFromPi(entry);
		};
		for (const { entryId, block } of acknowledged) {
			const made = timeline.branch(entryId, read).state.blocks.get(block);
			if (made?.madeBy !== entryId) fail(`fold b${block} of ${entryId} is gone`);
		}
		const branch = timeline.branch(manager.getLeafId(), read);
		if (toMessages(standingView(branch, contextOf(branch)), contextOf(branch)).length === 0) fail("the view is empty");
		const sidecar = `${path}.acp.json`;
		if (existsSync(sidecar) && !Check(sidecarSchema, JSON.parse(readFileSync(sidecar, "utf8"))))
			fail("the sidecar is no sidecar");
	} catch (error) {
		fail(String(error));
	}
}

function newLog(round: number): string {
	folds += acknowledged.length;
	const file = join(folder, `session-${round}.jsonl`);
	const header = {
		type: "session",
		version: 3,
		id: `crash-${round}`,
		timestamp: new Date().toISOString(),
		cwd: folder,
	};
	writeFileSync(file, `${JSON.stringify(header)}\n`);
	return file;
}

function sleep(delayMs: number): Promise<void> {
	return new Promise((resolve) => {
		setTimeout(resolve, delayMs);
	});
}

/** Mulberry32: the same moments for the same seed. */
function generator(seed: number): () => number {
	let state = seed;
	return () => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
		mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
		return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
	};
}
