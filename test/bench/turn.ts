/**
 * What a turn of a long session costs in a real AgentSession: the time of all our hooks for one prompt that is answered at
 * once, and of `context_with_system` alone, beside Pi's own projection and copy of the same log without anchors; and the time
 * of a compress call. The machine may be shared, so read ratios.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type ExtensionFactory, SessionManager } from "@earendil-works/pi-coding-agent";
import piBillionContext from "../../src/index.ts";
import { closeAcp, openAcp, piWith, range } from "../support/acp.ts";
import { longSession } from "../support/long-session.ts";

/** Milliseconds of our hooks in one turn, by size. */
const goalsMs: Readonly<Record<number, number>> = { 10000: 5, 50000: 25, 100000: 50 };
/** Of the time that Pi takes to project and copy the log without anchors. */
const goalShare = 0.1;
const turns = 40;
const warmTurns = 5;

const sizes = process.argv
	.slice(2)
	.map(Number)
	.filter((size) => size > 0);
const folder = mkdtempSync(join(tmpdir(), "acp-bench-"));
console.log("messages   Pi, no anchors   context p50   p95   all hooks p50   p95   of Pi   compress");
try {
	for (const size of sizes.length > 0 ? sizes : Object.keys(goalsMs).map(Number)) await measure(size);
} finally {
	rmSync(folder, { recursive: true });
}

async function measure(messages: number): Promise<void> {
	const piMs = piAlone(messages);
	const sessionFile = fileOf(messages, true);
	const spent = new Map<string, number>();
	const models = [{ contextWindow: 1_000_000, maxTokens: 8_192 }];
	const acp = await openAcp({ sessionFile, models, acp: {}, extensions: [timed(spent)] });
	const context: number[] = [];
	const all: number[] = [];
	for (let turn = 0; turn < turns + warmTurns; turn++) {
		spent.clear();
		await acp.prompt(`go on ${turn}`);
		if (turn < warmTurns) continue;
		context.push(spent.get("context_with_system") ?? 0);
		all.push([...spent.values()].reduce((sum, ms) => sum + ms, 0));
	}
	const last = acp.branch().filter((entry) => entry.type === "message").length;
	const start = performance.now();
	await acp.execute("compress", { content: [range(`m${last - 60}`, `m${last - 20}`, "Each prompt said to go on.")] });
	const compressMs = performance.now() - start;
	await closeAcp();
	const p95 = at(all, 0.95);
	const columns = [piMs, at(context, 0.5), at(context, 0.95), at(all, 0.5), p95].map((ms) => `${ms.toFixed(1)} ms`);
	const share = p95 / piMs;
	const line = [messages, ...columns, `${(share * 100).toFixed(1)} %`, `${compressMs.toFixed(1)} ms`];
	console.log(line.map((column) => String(column).padStart(8)).join("   "));
	const goalMs = goalsMs[messages];
	if (goalMs === undefined) return;
	const isMet = p95 <= goalMs && share <= goalShare;
	console.log(`goal ≤ ${goalMs} ms and ≤ ${goalShare * 100} % of Pi: ${isMet ? "met" : "missed"}`);
}

/** Pi's median time to project and copy the log without anchors. */
function piAlone(messages: number): number {
	const manager = SessionManager.open(fileOf(messages, false));
	const times = Array.from({ length: 5 }, () => {
		const start = performance.now();
		structuredClone(manager.buildSessionProjection().messages);
		return performance.now() - start;
	});
	return at(times, 0.5);
}

function fileOf(messages: number, isAnchored: boolean): string {
	const path = join(folder, `${messages}-${isAnchored}.jsonl`);
	writeFileSync(path, longSession(messages, isAnchored).text);
	return path;
}

/** The extension, with the time that each of its hooks takes added up by event. */
function timed(spent: Map<string, number>): ExtensionFactory {
	return (pi) => {
		const on = (event: string, hook: (...args: unknown[]) => unknown) => {
			const timedHook = async (...args: unknown[]) => {
				const start = performance.now();
				try {
					return await hook(...args);
				} finally {
					spent.set(event, (spent.get(event) ?? 0) + performance.now() - start);
				}
			};
			return Reflect.apply(pi.on, pi, [event, timedHook]);
		};
		return piBillionContext(piWith(pi, { on }));
	};
}

function at(times: readonly number[], share: number): number {
	const sorted = times.toSorted((a, b) => a - b);
	return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
}
