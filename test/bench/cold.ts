/**
 * The first view of a session that was just opened, without a sidecar: how long it takes beside the time Pi itself needs
 * to open the file, and how much of it goes into operations. Times are medians; the machine may be shared, so read ratios.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { SessionManager } from "@earendil-works/pi-coding-agent";
import { outgoingItems, project, replayCall, Timeline, toMessages } from "../../kernel/index.ts";
import { entryFromPi, messageFromPi } from "../../src/transcript/from-pi.ts";
import { contextOf, Log, said, words } from "../support/log.ts";

const sizes = process.argv
	.slice(2)
	.map(Number)
	.filter((size) => size > 0);
const folder = mkdtempSync(join(tmpdir(), "acp-bench-"));
console.log("messages   file MB   Pi opens   branch   operations   view   ours / Pi");
for (const size of sizes.length > 0 ? sizes : [10_000, 100_000]) console.log(measure(size));
rmSync(folder, { recursive: true });

function measure(messages: number): string {
	const path = join(folder, `${messages}.jsonl`);
	const text = sessionFile(messages);
	writeFileSync(path, text);
	const rounds = messages > 20_000 ? 3 : 7;
	const times = Array.from({ length: rounds }, () => once(path));
	const median = (key: keyof (typeof times)[number]) =>
		times.map((time) => time[key]).sort((a, b) => a - b)[rounds >> 1] ?? 0;
	const [opensMs, branchMs, operationsMs, viewMs] = [
		median("opensMs"),
		median("branchMs"),
		median("operationsMs"),
		median("viewMs"),
	];
	const ratio = ((branchMs + viewMs) / opensMs).toFixed(2);
	const columns = [
		messages,
		(text.length / 1e6).toFixed(1),
		ms(opensMs),
		ms(branchMs),
		ms(operationsMs),
		ms(viewMs),
		ratio,
	];
	return columns.map((column) => String(column).padStart(8)).join("   ");
}

function once(path: string) {
	const start = performance.now();
	const manager = SessionManager.open(path);
	const opened = performance.now();
	const read = (id: string) => {
		const entry = manager.getEntry(id);
		return entry && entryFromPi(entry);
	};
	const branch = new Timeline(replayCall).branch(manager.getLeafId(), read);
	const branched = performance.now();
	const outgoing = manager.buildSessionProjection().messages.map(messageFromPi);
	const projected = performance.now();
	toMessages(project(outgoingItems(branch, outgoing), contextOf(branch)), contextOf(branch));
	const viewed = performance.now();
	// The same log with every operation left out: what is missing then is what a checkpoint could save.
	new Timeline(() => undefined).branch(manager.getLeafId(), (id) => {
		const entry = read(id);
		return entry?.kind === "message" ? { ...entry, message: { ...entry.message, toolName: "none" } } : entry;
	});
	const bare = performance.now();
	return {
		opensMs: opened - start,
		branchMs: branched - opened,
		operationsMs: Math.max(0, branched - opened - (bare - viewed)),
		viewMs: viewed - projected,
	};
}

/** A log of steps that folds its oldest unfolded part every 12 steps; a large one, which takes long to make, every 200. */
function sessionFile(messages: number): string {
	const log = new Log();
	log.user("Begin.");
	let folded = 1;
	while (log.branch().lastOrdinal < messages) {
		for (let step = 0; step < (messages > 20_000 ? 200 : 12); step++)
			log.step("read", { path: `src/file${step}.ts` }, words(200, `s${step}`));
		log.user("Go on.");
		const last = log.branch().lastOrdinal;
		log.compress([{ startId: `m${folded}`, endId: `m${last - 1}`, summary: said(words(200, "sum")) }]);
		folded = last;
	}
	const header = { type: "session", version: 3, id: "bench", timestamp: new Date(0).toISOString(), cwd: folder };
	const lines = [...log.entries.values()].map((entry) => {
		const { id, parentId, timestampMs } = entry;
		const message = entry.kind === "message" ? entry.message : undefined;
		return { type: "message", id, parentId, timestamp: new Date(timestampMs).toISOString(), message };
	});
	return `${[header, ...lines].map((line) => JSON.stringify(line)).join("\n")}\n`;
}

function ms(time: number): string {
	return `${time.toFixed(0)} ms`;
}
