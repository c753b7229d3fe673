import { readFileSync } from "node:fs";
import { estimateTokens } from "../../kernel/meter/estimate.ts";
import { formatTokens } from "../../kernel/problem.ts";
import type { ScriptedModel } from "./model.ts";
import type { Received } from "./request.ts";
import { newCode } from "./scenario.ts";
import { madeBlocks } from "./transcript.ts";

/** What is left after the session. */
export interface Remains {
	readonly model: ScriptedModel;
	/** Absent if Pi wrote no session log. */
	readonly sessionFile: string | undefined;
	/** The file of the sample project that the bug is in. */
	readonly sourceFile: string;
}

/** The figures of the session, and in `missing` what did not happen. */
export interface Summary {
	readonly text: string;
	readonly missing: readonly string[];
}

/** Sums the session up; `settings` is a sentence on how the demo is set up. */
export function sumUp(remains: Remains, settings: string): Summary {
	const { received } = remains.model;
	const last = received.at(-1);
	const fold = foldOf(remains.model);
	const log = readLog(remains.sessionFile);
	const fixedTokens = last?.fixedTokens ?? 0;
	const lines = [
		"Context, in estimated tokens of what the provider was sent",
		...(fold === undefined
			? []
			: [
					row("before the fold", fold.before.sizeTokens, fold.before.messages),
					row("after the fold", fold.after.sizeTokens, fold.after.messages),
				]),
		row("at the end", last?.sizeTokens ?? 0, last?.messages ?? 0),
		row("with nothing folded", log.sizeTokens + fixedTokens, log.messages),
		`  (in each of them ${formatTokens(fixedTokens)} for the system prompt and the tools)`,
		...blockLines(last),
		"Session log, in a temporary home that is removed now",
		`  ${logText(remains.model, log)}`,
		"Demo settings",
		`  ${settings}`,
	];
	return { text: lines.join("\n"), missing: missingOf(remains, fold, log) };
}

interface Fold {
	readonly before: Received;
	readonly after: Received;
	readonly blocks: number;
}

/** The requests before and after the first fold. */
function foldOf({ received }: ScriptedModel): Fold | undefined {
	for (const [index, after] of received.entries()) {
		const result = after.results.find(({ call }) => call.name === "compress");
		const before = received[index - 1];
		if (result !== undefined && before !== undefined) return { before, after, blocks: madeBlocks(result.text).length };
	}
	return undefined;
}

function row(name: string, sizeTokens: number, messages: number): string {
	return `  ${name.padEnd(20)}${formatTokens(sizeTokens).padStart(7)}  ${String(messages).padStart(3)} messages`;
}

function blockLines(last: Received | undefined): string[] {
	const blocks = [...(last?.blocks ?? [])];
	if (blocks.length === 0) return ["Blocks", "  none"];
	const lines = blocks.map(([id, text]) => {
		const attribute = (name: string) => new RegExp(` ${name}="([^"]*)"`).exec(text)?.[1] ?? "";
		const size = `${formatTokens(Number(attribute("tokens")))} → ${formatTokens(estimateTokens(text))}`;
		return `  ${id}  ${attribute("covers")}  ${size.padEnd(13)}  ${attribute("topic")}`;
	});
	return ["Blocks", ...lines];
}

interface LogContent {
	readonly messages: number;
	readonly sizeTokens: number;
	/** The text of each tool result by call id. */
	readonly results: ReadonlyMap<string, string>;
}

interface LoggedMessage {
	role: string;
	toolCallId?: string;
	content: string | { type: string; text?: string; arguments?: unknown }[];
}

function readLog(path: string | undefined): LogContent {
	const lines = path === undefined ? [] : readFileSync(path, "utf8").split("\n").filter(Boolean);
	const entries = lines.map((line): { type: string; message?: LoggedMessage } => JSON.parse(line));
	const messages = entries.flatMap(({ message }) =>
		message === undefined || message.role === "system" ? [] : message,
	);
	const texts = messages.map(({ content }) =>
		typeof content === "string"
			? content
			: content.map((part) => part.text ?? JSON.stringify(part.arguments)).join("\n"),
	);
	return {
		messages: messages.length,
		sizeTokens: texts.reduce((sum, text) => sum + estimateTokens(text), 0),
		results: new Map(messages.map(({ toolCallId = "" }, index) => [toolCallId, texts[index] ?? ""])),
	};
}

function logText({ results }: ScriptedModel, log: LogContent): string {
	const kept = [...results].filter(([id, { text }]) => log.results.get(id) === text).length;
	const all = kept === results.size ? `all ${kept}` : `only ${kept} of ${results.size}`;
	return `${log.messages} messages, ${all} tool results byte for byte as first sent`;
}

function missingOf({ model, sourceFile }: Remains, fold: Fold | undefined, log: LogContent): string[] {
	const named = (name: string) => [...model.results.values()].filter(({ call }) => call.name === name);
	const opened = named("decompress").some(({ text }) => /page \d+ of \d+/.test(text));
	const tests = named("bash").findLast(({ call }) => String(call.arguments.command).includes("--test"));
	const checks: [boolean, string][] = [
		[model.received.length > 0, "Pi sent no request to the demo's provider"],
		[model.events.some((event) => event.kind === "nudge"), "no nudge appeared"],
		[(fold?.blocks ?? 0) > 1, "the model did not fold several ranges"],
		[fold !== undefined && fold.after.sizeTokens < fold.before.sizeTokens / 2, "the fold did not halve the context"],
		[opened, "no block was opened"],
		[readFileSync(sourceFile, "utf8").includes(newCode), "the bug was not fixed"],
		[/fail 0$/m.test(tests?.text ?? ""), "the tests of the sample project did not pass at the end"],
		[model.isDone(), "the session ended before its last turn"],
		[
			[...model.results].every(([id, { text }]) => log.results.get(id) === text),
			"the session log does not hold every tool result as it was",
		],
	];
	return checks.filter(([happened]) => !happened).map(([, text]) => text);
}
