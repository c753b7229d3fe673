import type { ExtensionContext, ToolResultEvent, ToolResultEventResult } from "@earendil-works/pi-coding-agent";
import type { Sessions } from "../session.ts";
import { writePrivate } from "../store/private-file.ts";
import type { Content } from "./note.ts";

/** Results of ours have limits of their own. */
const ownTool = /^(compress|decompress|search_context|acp_status|acp_delegate.*)$/;

/** A path in a folder that we wrote full texts to, also in the notation of JSON. */
const ownFile = /[\\/]acp-(output|originals)-\w+[\\/]/;

/**
 * Cuts a result whose text is longer than `toolOutputMaxBytes` to head and tail, and puts all of it into a file. Rejects
 * if the file cannot be written. Not cut: images, results of our tools, what is read back from our files, and calls made
 * by another tool, whose own result is what the model gets.
 */
export async function capOutput(
	sessions: Sessions,
	event: ToolResultEvent,
	ctx: ExtensionContext,
): Promise<ToolResultEventResult | undefined> {
	const { toolName, input, content = [], parentToolCallId } = event;
	if (parentToolCallId !== undefined || ownTool.test(toolName)) return undefined;
	const { config, session } = sessions.at(ctx);
	const limitBytes = config.toolOutputMaxBytes;
	if (!config.enabled || limitBytes === 0) return undefined;
	const texts = content.flatMap((part) => (part.type === "text" ? part.text : []));
	const totalBytes = sizeBytes(texts);
	if (totalBytes <= limitBytes || ownFile.test(JSON.stringify(input))) return undefined;
	const path = await writePrivate("acp-output-", toolName, texts.join("\n"));
	session.log.info("output-cap", { tool: toolName, totalBytes, limitBytes, path });
	return { content: cut(content, totalBytes, limitBytes, path) };
}

/** Places are counted in bytes through all texts of the content, as if they were one. */
function cut(content: Content, totalBytes: number, limitBytes: number, path: string): Content {
	const lineBreaks = 2;
	const keptBytes = Math.max(0, limitBytes - sizeBytes([pointer(totalBytes, path)]) - lineBreaks);
	const headEnd = Math.floor(keptBytes / 2);
	const tailStart = totalBytes - (keptBytes - headEnd);
	let start = 0;
	const pieces = content.map((part) => {
		if (part.type !== "text") return { part };
		const bytes = Buffer.from(part.text);
		const [from, to] = [start, start + bytes.length];
		start = to;
		const hasCut = from <= headEnd && headEnd < to;
		return { part, head: headOf(bytes, headEnd - from), tail: tailOf(bytes, tailStart - from), hasCut };
	});
	const shownBytes = sizeBytes(pieces.flatMap(({ head = "", tail = "" }) => [head, tail]));
	const line = pointer(totalBytes - shownBytes, path);
	return pieces.flatMap(({ part, head, tail, hasCut }) => {
		if (part.type !== "text") return part;
		const text = [head, hasCut ? line : "", tail].filter((piece) => piece !== "").join("\n");
		return text === "" ? [] : { ...part, text };
	});
}

/** What stands where a result was cut. */
export function pointer(leftOutBytes: number, path: string): string {
	return `[… ${leftOutBytes} bytes left out; the full text is in ${path} …]`;
}

function sizeBytes(texts: readonly (string | undefined)[]): number {
	return texts.reduce((sum, text) => sum + Buffer.byteLength(text ?? ""), 0);
}

/** What is whole before a place; a character across it is left out. */
function headOf(bytes: Buffer, place: number): string {
	let end = Math.min(Math.max(place, 0), bytes.length);
	while (isInside(bytes, end)) end--;
	return bytes.toString("utf8", 0, end);
}

/** What is whole after a place; a character across it is left out. */
function tailOf(bytes: Buffer, place: number): string {
	let start = Math.min(Math.max(place, 0), bytes.length);
	while (isInside(bytes, start)) start++;
	return bytes.toString("utf8", start);
}

/** Whether a place is inside a character: its byte is one of those that continue in UTF-8. */
function isInside(bytes: Buffer, place: number): boolean {
	return ((bytes[place] ?? 0) & 0xc0) === 0x80;
}
