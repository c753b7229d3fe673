/**
 * One writer of the crash bench: opens a session log as Pi does, appends work, folds it through the kernel as the tool
 * does, writes the sidecar as the extension does, and says each fold on its output once the log holds it. Runs until killed.
 */
import { writeSync } from "node:fs";
import type { JsonObject, JsonValue } from "@earendil-works/pi-ai";
import { SessionManager } from "@earendil-works/pi-coding-agent";
import {
	defaultSettings,
	encodeSidecar,
	mark,
	planFold,
	replayCall,
	standingView,
	Timeline,
} from "../../kernel/index.ts";
import { createSidecarStore } from "../../src/store/sidecar.ts";
import { entryFromPi } from "../../src/transcript/from-pi.ts";
import { contextOf, said, words } from "../support/log.ts";

const [path = "", name = ""] = process.argv.slice(2);
const manager = SessionManager.open(path);
const timeline = new Timeline(replayCall);
const sidecar = createSidecarStore((problem) => process.stderr.write(`${problem}\n`));
const usage = {
	input: 1,
	output: 1,
	cacheRead: 0,
	cacheWrite: 0,
	totalTokens: 2,
	cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
};

const branch = () =>
	timeline.branch(manager.getLeafId(), (id) => {
		const entry = manager.getEntry(id);
		return entry && entryFromPi(entry);
	});

function call(tool: string, args: JsonObject, text: string, details?: JsonValue): string {
	const id = `${name}-${Math.random().toString(36).slice(2)}`;
	manager.appendMessage({
		role: "assistant",
		content: [{ type: "toolCall", id, name: tool, arguments: args }],
		api: "openai-completions",
		provider: "bench",
		model: "bench",
		usage,
		stopReason: "toolUse",
		timestamp: Date.now(),
	});
	return manager.appendMessage({
		role: "toolResult",
		toolCallId: id,
		toolName: tool,
		content: [{ type: "text", text }],
		...(details === undefined ? {} : { details }),
		isError: false,
		timestamp: Date.now(),
	});
}

for (let round = 0; ; round++) {
	manager.appendMessage({
		role: "user",
		content: [{ type: "text", text: `${name} task ${round}` }],
		timestamp: Date.now(),
	});
	for (let step = 0; step < 4; step++) call("read", { path: `${name}${step}.ts` }, words(400, `${name}${step}`));
	const now = branch();
	const context = contextOf(branch());
	const ranges = [
		{
			startId: `m${Math.max(1, now.lastOrdinal - 8)}`,
			endId: `m${now.lastOrdinal}`,
			summary: said(`${name} ${round}: read four files`),
		},
	];
	const { operation } = planFold(now, standingView(now, context), defaultSettings, ranges, undefined);
	if (operation?.kind !== "fold") continue;
	const entryId = call("compress", { content: ranges }, "Folded:\nbench", JSON.parse(JSON.stringify(mark(operation))));
	// An answer is only given for what the log holds, so the fold is acknowledged after the append, as Pi does.
	writeSync(1, `${JSON.stringify({ entryId, block: operation.blocks[0]?.number })}\n`);
	await sidecar.save(`${path}.acp.json`, encodeSidecar(branch(), "bench"));
}
