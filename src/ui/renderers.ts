import type { AgentToolResult, KeybindingHints, Theme, ToolRenderResultOptions } from "@earendil-works/pi-coding-agent";
import {
	type Component,
	replaceControlCharacters,
	stripTerminalSequences,
	Text,
	truncateToWidth,
	visibleWidth,
} from "@earendil-works/pi-tui";
import { readCompressArguments } from "../../kernel/index.ts";

/** What drawing needs of Pi's theme and of a call's context. */
type Paint = Pick<Theme, "fg" | "bold">;
type CallContext = { readonly expanded: boolean };
type ResultContext = Pick<KeybindingHints, "keyHint"> & { readonly isError: boolean };
type Result = Pick<AgentToolResult<unknown>, "content">;

/** How a tool is drawn: a line or two collapsed, everything when expanded. */
export interface Renderers {
	renderCall(args: unknown, theme: Paint, context: CallContext): Component;
	renderResult(result: Result, options: ToolRenderResultOptions, theme: Paint, context: ResultContext): Component;
}

/** A call in words: what stands behind the tool's name, and what more there is when expanded. */
interface CallText {
	readonly brief: string;
	readonly rest?: string;
}

/** A call by its topics, a result by its blocks and the size of the view. */
export const compressRenderers = renderers("compress", describeFold, foldLines);
/** A call by what it opens, a result by its heading. */
export const decompressRenderers = renderers("decompress", describeOpening, firstLine);
/** A call by its query, a result by the refs it found. */
export const searchContextRenderers = renderers("search_context", describeSearch, hitLines);
/** A call by the list it asks for, a result by its last lines. */
export const acpStatusRenderers = renderers("acp_status", (args) => ({ brief: field(args, "view") }), statusLines);

function renderers(
	name: string,
	describe: (args: unknown) => CallText,
	collapse: (lines: readonly string[]) => readonly string[],
): Renderers {
	return {
		renderCall(args, theme, { expanded }) {
			const { brief, rest } = describe(args);
			const subject = brief === "" ? "" : ` ${theme.fg("accent", oneLine(brief))}`;
			const title = `${theme.fg("toolTitle", theme.bold(name))}${subject}`;
			if (!expanded || !rest) return new CutLines([title]);
			return new Text(`${title}\n${theme.fg("muted", clean(rest))}`, 0, 0);
		},
		renderResult(result, { expanded }, theme, { isError, keyHint }) {
			const text = clean(textOf(result));
			const color = isError ? "error" : "toolOutput";
			// A refusal is short, and whoever reads along wants to know why.
			if (expanded || isError) return new Text(theme.fg(color, text), 0, 0);
			const lines = text.split("\n");
			const shown = collapse(lines).map((line) => theme.fg(color, line));
			if (lines.length === shown.length) return new CutLines(shown);
			return new CutLines(
				shown,
				` ${theme.fg("muted", "(")}${keyHint("app.tools.expand", "to expand")}${theme.fg("muted", ")")}`,
			);
		},
	};
}

function describeFold(args: unknown): CallText {
	const read = readCompressArguments(args);
	if ("problem" in read) return { brief: "" };
	const { ranges } = read;
	const topics = ranges.map(({ startId, endId, topic }) => topic ?? `${startId}-${endId}`);
	const rest = ranges.map(({ startId, endId, topic = "", summary }) =>
		[`${startId}-${endId} ${topic}`, ...summary.split("\n")].join("\n  "),
	);
	return { brief: `${counted(ranges.length, "range")}: ${topics.join("; ")}`, rest: rest.join("\n") };
}

/** Which blocks were made, and what it did to the view; the lines between say it range by range. */
function foldLines(lines: readonly string[]): readonly string[] {
	const blocks = lines.flatMap((line) => /^(b\d+) = /.exec(line)?.[1] ?? []);
	const view = lines.map((line) => /^The view went from (\S+) to (.+?)\. /.exec(line)).find(Boolean);
	if (blocks.length === 0 || !view) return firstLine(lines);
	const refused = lines.filter((line) => line.startsWith("Refused: "));
	return [`${blocks.join(" ")}: ${view[1]} → ${view[2]}`, ...refused];
}

function describeOpening(args: unknown): CallText {
	const page = field(args, "page");
	const to = field(args, "to");
	return { brief: `${field(args, "id")}${page ? ` page ${page}` : ""}${to && to !== "inline" ? ` to ${to}` : ""}` };
}

function describeSearch(args: unknown): CallText {
	const query = field(args, "query");
	return { brief: query ? `"${query}"` : "" };
}

/** The refs that were hit; the passages are long. */
function hitLines(lines: readonly string[]): readonly string[] {
	const refs = lines.flatMap((line) => /^([mb]\d+) \(/.exec(line)?.[1] ?? []);
	if (refs.length === 0) return firstLine(lines);
	return [`${counted(refs.length, "hit")}: ${refs.join(", ")}`];
}

function counted(count: number, noun: string): string {
	return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** The overview is three lines long; lists show their end, where the newest is. */
function statusLines(lines: readonly string[]): readonly string[] {
	return lines.slice(-3);
}

function firstLine(lines: readonly string[]): readonly string[] {
	return lines.slice(0, 1);
}

/** A field of arguments that may still be arriving. */
function field(args: unknown, name: string): string {
	if (typeof args !== "object" || args === null) return "";
	const value: unknown = Reflect.get(args, name);
	return typeof value === "string" || typeof value === "number" ? String(value) : "";
}

function textOf({ content }: Result): string {
	return content.map((part) => (part.type === "text" ? part.text : "[image]")).join("\n");
}

/** Text that cannot move the cursor or change colours. */
function clean(text: string): string {
	const lines = stripTerminalSequences(text).replaceAll("\r", "").replaceAll("\t", "   ").split("\n");
	return lines.map(replaceControlCharacters).join("\n");
}

function oneLine(text: string): string {
	return clean(text).replace(/\s+/g, " ").trim();
}

/** Lines that are cut at the edge instead of wrapped; the last one leaves room for what has to stand behind it. */
class CutLines implements Component {
	readonly #lines: readonly string[];
	readonly #tail: string;

	constructor(lines: readonly string[], tail = "") {
		this.#lines = lines;
		this.#tail = tail;
	}

	render(width: number): readonly string[] {
		const tailWidth = visibleWidth(this.#tail);
		const tail = tailWidth < width / 2 ? this.#tail : "";
		return this.#lines.map((line, index) => {
			if (index < this.#lines.length - 1) return truncateToWidth(line, width);
			return truncateToWidth(line, width - visibleWidth(tail)) + tail;
		});
	}

	invalidate(): void {
		// Nothing is cached.
	}
}
