import { readFileSync, utimesSync } from "node:fs";
import { join } from "node:path";
import { fauxAssistantMessage, fauxToolCall, type ToolResultMessage } from "@earendil-works/pi-ai";
import {
	type AgentToolResult,
	type ExtensionAPI,
	type ExtensionFactory,
	type ExtensionUIContext,
	type SessionEntry,
	SessionManager,
} from "@earendil-works/pi-coding-agent";
import piBillionContext from "../../src/index.ts";
import { createHome, type Home, writeHomeFiles } from "./home.ts";
import { type InProcess, type InProcessOptions, inProcess } from "./in-process.ts";
import { said } from "./log.ts";
import type { Reply } from "./provider.ts";

/** Settings under which everything but the last user message may be folded and no nudge is due. */
export const bareAcp = {
	preserveRecentMessages: 0,
	preserveRecentTokens: 0,
	compress: { keepTokens: 10_000_000 },
};

export interface AcpOptions extends Partial<Omit<InProcessOptions, "script" | "provider">> {
	/** Fills the log before the session opens it. */
	seed?: (log: SessionManager) => void;
	/** True for a session that lives in memory only. */
	inMemory?: boolean;
}

/** A real session with the extension; its home outlives it until `closeAcp`. */
export interface AcpSession extends InProcess {
	readonly sessionFile: string;
	/** What the model answers next; then `ok` to everything. */
	replies(...replies: Reply[]): void;
	/** Lets the model call a tool. Returns the result as the log holds it. */
	call(name: string, args: Record<string, unknown> | string): Promise<ToolResultMessage>;
	/** The log file of the extension, once all that is to be written is. */
	logText(): Promise<string>;
	/** The entries of the branch. */
	branch(): SessionEntry[];
	/** Runs one of our tools beside the conversation, as Pi would run it. */
	execute(name: string, args: Record<string, unknown>, signal?: AbortSignal): Promise<AgentToolResult<unknown>>;
}

const opened: AcpSession[] = [];

/** Opens a session with the extension, bound as Pi's own modes do, under `bareAcp` unless told otherwise. */
export async function openAcp({ seed, inMemory, ...options }: AcpOptions = {}): Promise<AcpSession> {
	const home = options.home ?? createHome();
	const sessionFile = options.sessionFile ?? join(home.cwd, "session.jsonl");
	seed?.(SessionManager.open(sessionFile, undefined, home.cwd));
	const queue: Reply[] = [];
	const one = await inProcess({
		acp: bareAcp,
		extensions: [piBillionContext],
		bind: true,
		...options,
		...(inMemory ? {} : { sessionFile }),
		home,
		script: () => queue.shift() ?? { text: "ok" },
	});
	const branch = () => one.session.sessionManager.getBranch();
	const replies = (...more: Reply[]) => void queue.push(...more);
	const acp: AcpSession = {
		...one,
		sessionFile,
		branch,
		replies,
		async call(name, args) {
			replies({ toolCalls: [{ name, arguments: args }] });
			await one.prompt(`Call ${name}`);
			return resultsIn(branch()).findLast((result) => result.toolName === name) ?? missing(`result of ${name}`);
		},
		async logText() {
			await one.session.extensionRunner.emit({ type: "session_shutdown", reason: "quit" });
			return readFileSync(join(home.path, ".pi", "acp.log"), "utf8");
		},
		async execute(name, args, signal) {
			const tool = one.session.getToolDefinition(name) ?? missing(name);
			const ctx = one.session.extensionRunner.createToolContext("call_beside", signal);
			return tool.execute("call_beside", args, signal, undefined, ctx);
		},
	};
	opened.push(acp);
	return acp;
}

/** Ends the sessions opened so far and removes their homes; for `afterEach`. */
export async function closeAcp(): Promise<void> {
	for (const acp of opened.splice(0)) {
		await acp.dispose();
		acp.home.remove();
	}
}

/** Pi's interface for extensions with some of its methods replaced. */
export function piWith(pi: ExtensionAPI, replaced: Readonly<Record<string, unknown>>): ExtensionAPI {
	return new Proxy(pi, { get: (host, name) => Reflect.get(Object.hasOwn(replaced, name) ? replaced : host, name) });
}

/** Another extension that registers a compress of its own as it loads. */
export const rival: ExtensionFactory = (pi) => {
	pi.registerTool({
		name: "compress",
		label: "Rival",
		description: "Compresses otherwise.",
		parameters: { type: "object", properties: {} },
		execute: async () => ({ content: [], details: {} }),
	});
};

/** A call of each of our tools that works on a log of two steps. */
export const callOfEach: readonly [name: string, args: Record<string, unknown>][] = [
	["compress", { content: [range("m2", "m3")] }],
	["decompress", { id: "m2" }],
	["search_context", { query: "needle" }],
	["acp_status", {}],
];

/** A session with a user interface, whose notices `notify` hears, and `setStatus` what stands in its footer. */
export async function openWithUi(
	notify: ExtensionUIContext["notify"],
	options: AcpOptions,
	setStatus: ExtensionUIContext["setStatus"] = () => undefined,
): Promise<AcpSession> {
	const acp = await openAcp({ ...options, bind: false });
	const uiContext: Partial<ExtensionUIContext> = { notify, setStatus };
	await acp.session.bindExtensions({ uiContext: uiContext as ExtensionUIContext, mode: "tui" });
	return acp;
}

/** Changes the settings of a running session, as if time had passed since the last change. */
export function writeAcp(home: Home, acp: Record<string, unknown>): void {
	writeHomeFiles(home, { acp });
	changedAtSeconds += 10;
	utimesSync(home.acpPath, changedAtSeconds, changedAtSeconds);
}

let changedAtSeconds = 1_700_000_000;

/** The tool results among entries. */
export function resultsIn(entries: readonly SessionEntry[]): readonly ToolResultMessage[] {
	return entries.flatMap((entry) =>
		entry.type === "message" && entry.message.role === "toolResult" ? [entry.message] : [],
	);
}

/** The operations among entries, from tool results and from entries of our own. */
export function operationsIn(entries: readonly SessionEntry[]): readonly unknown[] {
	const own = (value: unknown) =>
		typeof value === "object" && value !== null && "acp" in value && "op" in value ? [value.op] : [];
	return entries.flatMap((entry) => {
		if (entry.type === "custom") return own(entry.data);
		return entry.type === "message" && entry.message.role === "toolResult" ? own(entry.message.details) : [];
	});
}

/**
 * A seed with one prompt and so many steps of work: step n is m(2n) and m(2n + 1), a call of `read` and a result of
 * about `sizeTokens`.
 */
export function work(steps: number, sizeTokens = 2_000): (log: SessionManager) => void {
	return (log) => {
		log.appendMessage({
			role: "user",
			content: [{ type: "text", text: "Look into it" }],
			timestamp: 1_700_000_000_000,
		});
		for (let step = 1; step <= steps; step++) {
			const timestamp = 1_700_000_000_000 + 2_000 * step;
			const call = fauxToolCall("read", { path: `file${step}.ts` }, { id: `seed_${step}` });
			log.appendMessage(fauxAssistantMessage(call, { stopReason: "toolUse", timestamp }));
			log.appendMessage({
				role: "toolResult",
				toolCallId: `seed_${step}`,
				toolName: "read",
				content: [{ type: "text", text: output(step, sizeTokens) }],
				isError: false,
				timestamp: timestamp + 1_000,
			});
		}
	};
}

/** What step n of `work` put out: prose of about `sizeTokens`; its first word is `needle<n>`. */
export function output(step: number, sizeTokens = 2_000): string {
	const sentence = `The parser of file ${step} reads one line after the other until it meets the end. `;
	return `needle${step} ${sentence.repeat(Math.ceil((sizeTokens * 4) / sentence.length))}`;
}

/** A range of a compress call. */
export function range(startId: string, endId: string, summary = "What was found.") {
	return { startId, endId, summary: said(summary) };
}

/** The text of a tool's result. */
export function textIn({ content }: Pick<AgentToolResult<unknown>, "content">): string {
	return content.flatMap((part) => (part.type === "text" ? part.text : [])).join("\n");
}

function missing(what: string): never {
	throw new Error(`There is no ${what}.`);
}
