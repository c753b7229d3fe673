/**
 * What Pi does for each request with the log of a long session, with and without anchors: its projection of the branch, alone
 * and as we let it project (`shortenProjection`), and its copy of the messages. The walk is the part of its own projection that
 * no anchor spares: Pi lists all entries and goes twice from the leaf to the root. Each round appends a message first. Times
 * are medians; the machine may be shared, so read ratios.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SessionManager } from "@earendil-works/pi-coding-agent";
import { shortenProjection } from "../../src/projection.ts";
import { longSession } from "../support/long-session.ts";

/** The goal, in milliseconds a request, at the largest size. */
const goalMs = 50;
const rounds = 9;

const sizes = process.argv
	.slice(2)
	.map(Number)
	.filter((size) => size > 0);
const folder = mkdtempSync(join(tmpdir(), "acp-bench-"));
console.log("messages   anchors   file MB   messages Pi sends   walk   Pi's projection   ours   copy   ours and copy");
try {
	for (const size of sizes.length > 0 ? sizes : [10_000, 100_000]) {
		const bare = measure(size, false);
		const anchored = measure(size, true);
		const share = ((anchored.totalMs / bare.totalMs) * 100).toFixed(1);
		console.log(`the first projection after an anchor, compared with Pi's: ${ms(anchored.firstMs)}`);
		console.log(
			`with anchors ${share} % of the time without; goal ≤ ${goalMs} ms: ${anchored.totalMs <= goalMs ? "met" : "missed"}`,
		);
	}
} finally {
	rmSync(folder, { recursive: true });
}

function measure(messages: number, isAnchored: boolean) {
	const path = join(folder, `${messages}-${isAnchored}.jsonl`);
	const { text, anchors } = longSession(messages, isAnchored);
	writeFileSync(path, text);
	const manager = SessionManager.open(path);
	const own = manager.buildSessionProjection.bind(manager);
	shortenProjection(manager, (problem) => {
		throw new Error(problem);
	});
	const times = Array.from({ length: rounds }, () => {
		manager.appendMessage({ role: "user", content: "Go on.", timestamp: Date.now() });
		const walkMs = timed(() => [manager.getEntries(), manager.getBranch(), manager.getBranch()]);
		const ownMs = timed(own);
		const oursMs = timed(() => manager.buildSessionProjection());
		const { messages } = manager.buildSessionProjection();
		const copyMs = timed(() => structuredClone(messages));
		return { walkMs, ownMs, oursMs, copyMs, togetherMs: oursMs + copyMs };
	});
	const firstMs = times[0]?.oursMs ?? 0;
	const median = (key: keyof (typeof times)[number]) =>
		times.map((time) => time[key]).toSorted((a, b) => a - b)[rounds >> 1] ?? 0;
	const sent = own().messages.length;
	const columns = [
		...[messages, anchors, (text.length / 1e6).toFixed(1), sent],
		...(["walkMs", "ownMs", "oursMs", "copyMs", "togetherMs"] as const).map((key) => ms(median(key))),
	];
	console.log(columns.map((column) => String(column).padStart(8)).join("   "));
	return { firstMs, totalMs: median("togetherMs") };
}

function timed(work: () => unknown): number {
	const start = performance.now();
	work();
	return performance.now() - start;
}

function ms(time: number): string {
	return `${time.toFixed(1)} ms`;
}
