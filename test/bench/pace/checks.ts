import type { AgentSession, AgentToolResult, SessionEntry } from "@earendil-works/pi-coding-agent";
import { readCompressArguments } from "../../../kernel/arguments.ts";
import { canonicalJson } from "../../../kernel/json.ts";
import { isObject, readMarked } from "../../../kernel/operation.ts";
import { blockRef, messageRef } from "../../../kernel/ref.ts";
import { operationsIn, textIn } from "../../support/acp.ts";
import type { WireMessage } from "../../support/provider.ts";
import { callsOf, textOf } from "../../support/wire.ts";

/** Why a provider would refuse these messages: pairs that are not whole, a message without content; undefined if it takes them. */
export function brokenRequest(messages: readonly WireMessage[]): string | undefined {
	let waiting: readonly string[] = [];
	for (const message of messages) {
		const calls = callsOf(message);
		if (textOf(message).trim() === "" && calls.length === 0) return `an empty message of role ${message.role}`;
		if (message.role === "tool") {
			const id = message.tool_call_id;
			if (!waiting.some((each) => each === id)) return `a result of ${id} without its call`;
			waiting = waiting.filter((each) => each !== id);
			continue;
		}
		if (waiting.length > 0) return `${waiting.join(", ")} without a result`;
		waiting = calls.map((each) => each.id);
	}
	if (waiting.length > 0) return `${waiting.join(", ")} without a result`;
	return messages.some((message) => message.role === "user") ? undefined : "no message of the user";
}

/** Identical refused calls of a turn that are still tried, and identical calls in a row that are still made. */
const refusedLimit = 2;
const rowLimit = 5;

/** What a call is told that nobody tried: by us, by the repetition guard, and by Pi where its JSON is broken. */
const notExecuted = /^(?:Stop: |Blocked: |Invalid arguments for tool )/;

/** Calls that a model was let make too often. */
export function loopsIn(branch: readonly SessionEntry[]): readonly string[] {
	const loops: string[] = [];
	let calls = new Map<string, string>();
	let refused = new Map<string, number>();
	let row = { call: "", length: 0 };
	for (const entry of branch) {
		if (entry.type !== "message") continue;
		const { message } = entry;
		if (message.role === "user") [calls, refused, row] = [new Map(), new Map(), { call: "", length: 0 }];
		if (message.role === "assistant") {
			for (const part of message.content) {
				if (part.type !== "toolCall") continue;
				const call = canonicalJson([part.name, part.arguments]);
				row = { call, length: call === row.call ? row.length + 1 : 1 };
				if (row.length === rowLimit + 1) loops.push(`more than ${rowLimit} calls in a row: ${call.slice(0, 80)}`);
				calls.set(part.id, asked(part.name, part.arguments));
			}
		}
		if (message.role !== "toolResult" || !message.isError) continue;
		const call = calls.get(message.toolCallId) ?? "";
		if (notExecuted.test(textIn(message))) continue;
		const times = (refused.get(call) ?? 0) + 1;
		refused.set(call, times);
		if (times === refusedLimit + 1) loops.push(`refused more than ${refusedLimit} times: ${call.slice(0, 80)}`);
	}
	return loops;
}

/** What a call asks for: of compress only the boundaries count. */
function asked(name: string, args: unknown): string {
	const read = name === "compress" ? readCompressArguments(args) : undefined;
	if (read === undefined || "problem" in read) return canonicalJson([name, args]);
	return canonicalJson([name, read.ranges.map(({ startId, endId }) => [startId, endId])]);
}

/** Blocks and messages that are opened at the end, of each so many at the least if there are as many. */
const spotChecks = 20;

/** Some of a list, evenly spread. */
function spread<T>(list: readonly T[]): readonly T[] {
	const every = Math.max(1, Math.floor(list.length / spotChecks));
	return list.filter((_, index) => index % every === 0);
}

/** The first characters of a message, which have to be on a page of it; shorter ones tell nothing. */
const shownChars = 300;

/** Blocks that do not open, and messages whose text is gone. */
export async function lostContent(session: AgentSession, branch: readonly SessionEntry[]): Promise<readonly string[]> {
	const open: Open = async (id, page = 1) => {
		const tool = session.getToolDefinition("decompress");
		if (tool === undefined) throw new Error("There is no decompress.");
		const ctx = session.extensionRunner.createToolContext("call_beside", undefined);
		return tool.execute("call_beside", { id, page }, undefined, undefined, ctx);
	};
	const lost: string[] = [];
	const operations = operationsIn(branch).flatMap((op) => readMarked({ acp: 1, op }) ?? []);
	const blocks = operations.flatMap((op) => (op.kind === "fold" ? op.blocks : []));
	for (const { number } of spread(blocks)) {
		const answer = await open(blockRef(number));
		if (answer.isError) lost.push(`b${number} does not open: ${textIn(answer)}`);
	}
	for (const { ordinal, text } of spread(textsIn(branch))) {
		const isShown = await isOnPages(open, messageRef(ordinal), text.slice(0, shownChars));
		if (!isShown) lost.push(`${messageRef(ordinal)} is not what it was`);
	}
	return lost;
}

type Open = (id: string, page?: number) => Promise<Pick<AgentToolResult<unknown>, "content" | "isError">>;

/** True if a text stands on one of the pages of what an id opens. */
async function isOnPages(open: Open, id: string, text: string): Promise<boolean> {
	for (let page = 1; ; page++) {
		const shown = textIn(await open(id, page));
		if (shown.includes(text)) return true;
		if (!shown.includes(`; next: page ${page + 1}]`)) return false;
	}
}

/** The results in the log that are long enough to tell, by their ordinals. */
function textsIn(branch: readonly SessionEntry[]): readonly { readonly ordinal: number; readonly text: string }[] {
	const counted = branch.filter((entry) => {
		if (entry.type === "message") return entry.message.role !== "system";
		return ["custom_message", "compaction", "branch_summary"].includes(entry.type);
	});
	return counted.flatMap((entry, index) => {
		if (entry.type !== "message" || entry.message.role !== "toolResult") return [];
		const text = textIn(entry.message);
		return text.length < shownChars ? [] : [{ ordinal: index + 1, text }];
	});
}

const tagPattern = /<acp>m\d+<\/acp>/;

/** Tags in files, in arguments that reached a tool, and at the end of stored answers. */
export function strayTags(
	files: ReadonlyMap<string, string>,
	heard: readonly string[],
	branch: readonly SessionEntry[],
): readonly string[] {
	const inFiles = [...files].flatMap(([name, text]) => (tagPattern.test(text) ? `a tag in ${name}` : []));
	const inCalls = heard.flatMap((args) => (tagPattern.test(args) ? `a tag in a call: ${args.slice(0, 80)}` : []));
	const answers = branch.flatMap((entry) => {
		const isAnswer = entry.type === "message" && entry.message.role === "assistant";
		if (!isAnswer || !isObject(entry.message) || !Array.isArray(entry.message.content)) return [];
		return /<acp>m\d+<\/acp>\s*$/.test(textIn({ content: entry.message.content })) ? `a tag in ${entry.id}` : [];
	});
	return [...inFiles, ...inCalls, ...answers];
}
