import { type Archive, type ForeignBranch, noArchive, whereabouts } from "./archive.ts";
import { type Block, formatSpans, spansWithout } from "./block.ts";
import { fullDigest } from "./digest.ts";
import {
	type ImagePart,
	isImage,
	isText,
	isThinking,
	isToolCall,
	type Message,
	type Part,
	parts,
	type TextPart,
} from "./message.ts";
import { estimateImageTokens, estimateTokens } from "./meter/estimate.ts";
import type { Estimate } from "./meter/fit.ts";
import type { Operation } from "./operation.ts";
import { formatTokens, type Problem } from "./problem.ts";
import { blockRef, formatRef, messageRef, parseRefRange, type Ref } from "./ref.ts";
import { blockAt, childrenOf } from "./state.ts";
import type { Branch, BranchRecord } from "./timeline.ts";
import { estimateOf, savedBy, type View } from "./view.ts";

/** What a page of originals holds: the 4,000 tokens of contract.md less its heading. */
const pageLimitTokens = 3_800;

/** What a page leaves free beside a piece of a long text: the line that says whose it is stands on the same page. */
const headTokens = 40;

/** No more characters than these are tried for a page. */
const pageLimitChars = 5 * pageLimitTokens;

/** Names a heading lists one by one; the rest is counted. */
const listLimit = 12;

/** What a ref stands for: its messages in order, and the block if it is one. */
export interface Originals {
	readonly title: string;
	readonly records: readonly BranchRecord[];
	readonly block: Block | undefined;
	/** The record of the block in full, if what its text shows of it is cut; else "". */
	readonly record: string;
}

/** The record of a block without its limit, made of all it covers as it was written: the same whenever it is asked for. */
export function fullRecord(branch: Branch, block: Block): string {
	const records = block.spans.flatMap((span) => branch.messages(span.from, span.to));
	return fullDigest(records.flatMap((record) => (record.isSilent ? [] : (record.message ?? []))));
}

/**
 * Finds the messages behind a block, a message or a range. Foreign refs, and a bare block that is unknown here but the only
 * one of its number elsewhere, are looked up in the archive; the title says where they are. Refuses what is nowhere.
 */
export function findOriginals(branch: Branch, id: string, archive: Archive = noArchive): Originals | Problem {
	const range = parseRefRange(id);
	if (range === undefined) return { code: "unreadableRef", text: id };
	const to = originalsOf(branch, range.to, archive);
	if ("code" in to || range.to === range.from) return to;
	const from = originalsOf(to.branch, range.from, archive);
	if ("code" in from) return from;
	if (from.branch !== to.branch) return { code: "foreignRef", ref: formatRef(range.from) };
	const ends = [from, to].flatMap(({ records }) => [...records.slice(0, 1), ...records.slice(-1)]);
	const ordinals = ends.map((record) => record.ordinal);
	const [first, last] = [Math.min(...ordinals), Math.max(...ordinals)];
	const title = `${messageRef(first)}-${messageRef(last)}${to.place}`;
	return { title, records: to.branch.messages(first, last), block: undefined, record: "" };
}

/** Originals with the branch they are on; `place` is "" on the current one. */
interface Found extends Originals {
	readonly branch: Branch;
	readonly place: string;
}

function originalsOf(branch: Branch, ref: Ref, archive: Archive): Found | Problem {
	const find = ref.kind === "block" ? blockOriginals : messageOriginals;
	const here = find(branch, ref, "");
	if (here !== undefined) return here;
	const foreign = ref.at === undefined ? lonelyBlock(ref, archive) : archive.branchAt(ref.at);
	const there = foreign && find(foreign.branch, { ...ref, at: localPart(ref.at) }, `, ${whereabouts(foreign)}`);
	if (there !== undefined) return there;
	if (ref.at !== undefined) return { code: "foreignRef", ref: formatRef(ref) };
	if (ref.kind === "message") return { code: "unknownMessage", ref: formatRef(ref), last: branch.lastOrdinal };
	return { code: "unknownBlock", ref: formatRef(ref), known: [...branch.state.blocks.keys()] };
}

/** The only branch with a block of a number, whatever branches share it; undefined if blocks of several makings have it. */
function lonelyBlock(ref: Ref, archive: Archive): ForeignBranch | undefined {
	if (ref.kind === "message") return undefined;
	const having = archive.branches().filter(({ branch }) => branch.state.blocks.has(ref.number));
	const makers = new Set(having.map(({ branch }) => branch.state.blocks.get(ref.number)?.madeBy));
	return makers.size === 1 ? having[0] : undefined;
}

/** The entry id of an address. */
function localPart(at: string | undefined): string | undefined {
	return at?.slice(at.lastIndexOf("/") + 1);
}

type LocalRef = Pick<Ref, "number"> & { readonly at?: string | undefined };

function blockOriginals(branch: Branch, ref: LocalRef, place: string): Found | undefined {
	const block = branch.state.blocks.get(ref.number);
	if (block === undefined || (ref.at !== undefined && block.madeBy !== ref.at)) return undefined;
	const records = block.spans.flatMap((span) => branch.messages(span.from, span.to));
	const spans = listed(block.spans.map((span) => formatSpans([span])));
	const full = fullRecord(branch, block);
	const record = block.text.endsWith(`\n${full}\n</acp-block>`) ? "" : full;
	return { title: `${blockRef(block.number)} (${spans})${place}`, records, block, record, branch, place };
}

function messageOriginals(branch: Branch, ref: LocalRef, place: string): Found | undefined {
	const record = branch.message(ref.number);
	if (record === undefined || (ref.at !== undefined && record.entry.id !== ref.at)) return undefined;
	// An anchor has a number and no message: what it stands for is found by its own refs.
	if (record.message === undefined) return undefined;
	const title = `${messageRef(ref.number)}${place}`;
	return { title, records: [record], block: undefined, record: "", branch, place };
}

/** What a model can be shown of a part. */
type Shown = TextPart | ImagePart;

/** One page: text and images in the order of the messages. */
export interface Page {
	readonly parts: readonly Shown[];
	readonly page: number;
	readonly pages: number;
}

/** A page of originals, before them the record that their block shows only in part. Texts are whole and byte for byte; one that passes a page by itself is cut across pages. */
export function pageOf(originals: Originals, page: number): Page | Problem {
	const pages = paginate(allParts(originals));
	const chosen = pages[page - 1];
	if (chosen === undefined) return { code: "noPage", page, pages: pages.length };
	const head: Slice = { part: { type: "text", text: heading(originals, page, pages.length) }, glue: "" };
	const body = chosen.map((slice, index): Slice => (index === 0 ? { ...slice, glue: "\n" } : slice));
	return { parts: joinTexts([head, ...body]), page, pages: pages.length };
}

/** All originals as one text, for a file; images are named, not included. */
export function fileText(originals: Originals): string {
	const lines = allParts(originals).map((part) => (isText(part) ? part.text : "[image]"));
	return `${lines.join("\n")}\n`;
}

/** A block to unfold, what comes back into view, and the operation that does it. */
export interface Unfolding {
	readonly block: Block;
	readonly back: string;
	/** The view as it is to be. */
	readonly after: Estimate;
	readonly operation: Extract<Operation, { kind: "unfold" }>;
}

/** Plans to unfold the top-level block that stands in the view at `id`; refuses where nothing would change. */
export function planUnfold(branch: Branch, view: View, id: string): Unfolding | Problem {
	const originals = findOriginals(branch, id);
	if ("code" in originals) return originals;
	const { state } = branch;
	const around = originals.records.map((record) => blockAt(state, record.ordinal));
	const block = around.find((each) => each !== undefined && view.standing.has(each));
	if (block === undefined) return { code: "notFolded", ref: id.trim() };
	const children = childrenOf(state, block);
	const before = estimateOf(view);
	const sizeTokens = before.sizeTokens + Math.max(0, savedBy([block]) - savedBy(children));
	const hidden = children.reduce((sum, child) => sum + child.messages - 1, 0);
	const after = { sizeTokens, messages: before.messages - 1 + block.messages - hidden };
	const operation = { kind: "unfold", block: block.number, sizeTokens } as const;
	return { block, back: backInView(children, block), after, operation };
}

function backInView(children: readonly Block[], block: Block): string {
	const spans = spansWithout(
		block.spans,
		children.flatMap((child) => child.spans),
	);
	return [...children.map((child) => blockRef(child.number)), ...(spans.length > 0 ? [formatSpans(spans)] : [])].join(
		", ",
	);
}

function heading({ title, records, block }: Originals, page: number, pages: number): string {
	const inside = block?.children.length ? `; holds ${listed(block.children.map(blockRef))}` : "";
	const more = page < pages ? `; next: page ${page + 1}` : "";
	const sizeTokens = records.reduce((sum, record) => sum + record.sizeTokens, 0);
	return `[${title}: ${records.length} messages, ${formatTokens(sizeTokens)} tokens${inside}; page ${page} of ${pages}${more}]`;
}

function listed(names: readonly string[]): string {
	const more = names.length > listLimit ? [`${names.length - listLimit} more`] : [];
	return [...names.slice(0, listLimit), ...more].join(", ");
}

function allParts({ record, records }: Originals): readonly Shown[] {
	const head: readonly Shown[] =
		record === "" ? [] : [{ type: "text", text: `[record made by code, in full]\n${record}` }];
	return [...head, ...records.flatMap(rendered)];
}

function rendered(record: BranchRecord): readonly Shown[] {
	const { message } = record;
	if (message === undefined) return [];
	const head: TextPart = { type: "text", text: `[${messageRef(record.ordinal)} ${speaker(message)}]` };
	return [head, ...parts(message).map(renderedPart)];
}

function speaker(message: Message): string {
	if (message.role !== "toolResult") return message.role === "custom" ? "user" : message.role;
	return `${message.toolName ?? "tool"}${message.isError ? " failed" : ""}`;
}

function renderedPart(part: Part): Shown {
	if (isText(part) || isImage(part)) return part;
	if (isThinking(part)) return { type: "text", text: `(thinking) ${part.thinking}` };
	if (isToolCall(part)) return { type: "text", text: `(calls ${part.name}) ${JSON.stringify(part.arguments)}` };
	return { type: "text", text: JSON.stringify(part) };
}

/** A part and what joins it to the text before it: nothing if it continues a text that was cut. */
interface Slice {
	readonly part: Shown;
	readonly glue: "" | "\n";
}

/** Greedy pages of whole parts; an image counts as much as it takes, a long text is cut between characters. */
function paginate(all: readonly Shown[]): readonly (readonly Slice[])[] {
	const pages: Slice[][] = [];
	let current: Slice[] = [];
	let leftTokens = 0;
	for (const slice of all.flatMap(slices)) {
		const sizeTokens = tokensOf(slice.part);
		if (sizeTokens > leftTokens) {
			current = [];
			pages.push(current);
			leftTokens = pageLimitTokens;
		}
		current.push(slice);
		leftTokens -= sizeTokens;
	}
	return pages;
}

/** The newline before a text counts with it. */
function tokensOf(part: Shown): number {
	return isText(part) ? estimateTokens(part.text) + 1 : estimateImageTokens(part);
}

function slices(part: Shown): readonly Slice[] {
	if (!isText(part)) return [{ part, glue: "\n" }];
	const cut: Slice[] = [];
	let at = 0;
	do {
		const text = fitting(part.text, at);
		cut.push({ part: { type: "text", text }, glue: at === 0 ? "\n" : "" });
		at += text.length;
	} while (at < part.text.length);
	return cut;
}

/** As much of a text, from a place on, as one page holds. */
function fitting(text: string, at: number): string {
	let piece = text.slice(at, at + pageLimitChars);
	for (;;) {
		if (isTorn(text, at + piece.length)) piece = piece.slice(0, -1);
		const share = (pageLimitTokens - headTokens) / (estimateTokens(piece) + 1);
		if (share >= 1) return piece;
		piece = piece.slice(0, Math.floor(piece.length * share * 0.98));
	}
}

/** True if a cut at a place would divide a surrogate pair. */
function isTorn(text: string, at: number): boolean {
	const code = text.charCodeAt(at);
	return code >= 0xdc00 && code <= 0xdfff;
}

function joinTexts(all: readonly Slice[]): readonly Shown[] {
	const joined: Shown[] = [];
	for (const { part, glue } of all) {
		const last = joined.at(-1);
		if (last !== undefined && isText(last) && isText(part)) {
			joined[joined.length - 1] = { ...last, text: `${last.text}${glue}${part.text}` };
		} else joined.push(part);
	}
	return joined;
}
