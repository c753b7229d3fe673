import fc from "fast-check";
import { expect, test } from "vitest";
import { findOriginals, type Message, outgoingItems, pageOf, project, textOf, toolCalls } from "../../kernel/index.ts";
import { isEmpty, isImage, isText, isThinking, isToolCall, type Part, parts } from "../../kernel/message.ts";
import type { Branch, BranchRecord } from "../../kernel/timeline.ts";
import { type Item, toMessages } from "../../kernel/view.ts";
import { cutPoints, holds, play, scripts } from "../support/arbitraries.ts";
import { contextOf } from "../support/log.ts";
import { bytes, type Request, requestAt } from "../support/request.ts";

const seed = 20_261_102;

test("Every message that the host sends is in view once, in its place, or stands behind one block, or is hidden by a rule.", () => {
	holds(
		seed,
		fc.property(scripts, (script) => {
			for (const point of cutPoints(play(script))) {
				const request = requestAt(point);
				expect(request.view.items.map(nameOf)).toEqual(expectedNames(request));
			}
		}),
	);
});

test("A message in view has the bytes it was written with, but for its tag and what a rule or a commit recorded.", () => {
	holds(
		seed + 1,
		fc.property(scripts, fc.boolean(), (script, isActive) => {
			const { view, branch, messages, sent } = requestAt(play(script).last, { isActive });
			const written = new Map(sent.map(({ id, message }) => [id, message]));
			for (const [index, item] of view.items.entries()) {
				const shown = messages[index];
				if (item.kind === "foreign") expect(shown).toBe(item.message);
				if (item.kind === "block") expect(shown).toMatchObject({ role: "custom", content: item.block.text });
				if (item.kind !== "entry") continue;
				const { record } = item;
				const message = written.get(record.entry.id);
				if (shown === undefined || message === undefined) throw new Error("an item comes from nowhere");
				const isTagged = isActive && message.role !== "assistant";
				const expected = isTagged ? withTag(filled(message), record.ordinal) : filled(message);
				const isCut = branch.state.reductions.get(record.ordinal)?.rule === "truncate";
				const show = isCut ? withoutText : bytes;
				expect(defused(show(shown))).toBe(defused(show(expected)));
			}
		}),
	);
});

test("No text in view is torn between two halves of a character, or holds a tag or block that is none of ours.", () => {
	holds(
		seed + 2,
		fc.property(scripts, (script) => {
			const { view, messages } = requestAt(play(script).last);
			for (const [index, item] of view.items.entries()) {
				const text = textOf(messages[index] ?? item.message);
				expect(text.isWellFormed()).toBe(true);
				if (item.kind === "foreign" || item.message.role === "assistant") continue;
				expect(text.match(/<acp>\s*[mb]\d+\s*<\/acp>/gi) ?? []).toHaveLength(item.kind === "entry" ? 1 : 0);
				expect(text.match(/<\/?acp-block\b/gi) ?? []).toHaveLength(item.kind === "block" ? 2 : 0);
			}
		}),
	);
});

test("The pages of a block give back the texts and images of each of its messages byte for byte.", () => {
	let pages = 0;
	holds(
		seed + 3,
		fc.property(scripts, (script) => {
			const branch = play(script).last.log.branch();
			for (const block of branch.state.blocks.values()) {
				const shown = readPages(branch, `b${block.number}`);
				const all = block.spans.flatMap(({ from, to }) => branch.messages(from, to));
				const records = all.filter(({ entry }) => entry.kind !== "anchor");
				expect(missing(shown.text, records)).toEqual([]);
				expect(shown.images).toEqual(records.flatMap((record) => partsOf(record).filter(isImage)));
				pages = Math.max(pages, shown.count);
			}
		}),
	);
	expect(pages).toBeGreaterThan(1);
});

test("Units are whole: after an assistant message come just those of its results that the host sends.", () => {
	holds(
		seed + 4,
		fc.property(scripts, (script) => {
			for (const point of cutPoints(play(script))) {
				const { sent, view } = requestAt(point);
				const outgoing = unitsOf(sent.map(({ id, message }) => [id ?? "system", message]));
				const names = view.items.map(nameOf);
				for (const [id, results] of outgoing) {
					const at = names.indexOf(id);
					if (at >= 0) expect(names.slice(at + 1, at + 1 + results.length)).toEqual(results);
					else expect(results.filter((result) => names.includes(result))).toEqual([]);
				}
			}
		}),
	);
});

test("No message is empty but an assistant's that came empty, and one of the user's side is there if the host sends one.", () => {
	holds(
		seed + 5,
		fc.property(scripts, (script) => {
			for (const point of cutPoints(play(script))) {
				const { messages, sent } = requestAt(point);
				const mayBeEmpty = ["assistant", "system"];
				expect(messages.filter((message) => isEmpty(message) && !mayBeEmpty.includes(message.role))).toEqual([]);
				if (sent.some(({ message }) => isUsers(message))) expect(messages.some(isUsers)).toBe(true);
			}
		}),
	);
});

test("The first message stays the system message, and system messages stay and keep their order.", () => {
	holds(
		seed + 6,
		fc.property(scripts, (script) => {
			const { messages, sent } = requestAt(play(script).last);
			const isSystem = (message: Message | undefined) => message?.role === "system";
			expect(messages.filter(isSystem)).toEqual(sent.map((each) => each.message).filter(isSystem));
			expect(isSystem(messages[0])).toBe(isSystem(sent[0]?.message));
		}),
	);
});

test("Messages that others put in, even twice, pass through untouched, and the view around them is the same.", () => {
	holds(
		seed + 7,
		fc.property(scripts, fc.array(fc.nat(30), { minLength: 1, maxLength: 3 }), (script, places) => {
			const { branch, outgoing: handed, messages } = requestAt(play(script).last);
			const outgoing = [...handed];
			const foreign: Message[] = places.map((place) => ({
				role: "user",
				content: `foreign ${place}`,
				timestamp: place,
			}));
			const twice = outgoing.filter((message) => isUnique(message, outgoing)).slice(0, 1);
			for (const [index, place] of places.entries()) {
				outgoing.splice(place % (outgoing.length + 1), 0, ...foreign.slice(index, index + 1));
			}
			const copies = twice.map((message) => ({ ...message }));
			const mixed = project(outgoingItems(branch, [...outgoing, ...copies]), contextOf(branch));
			const shown = toMessages({ ...mixed, nudge: undefined }, contextOf(branch));
			const added = new Set<Message>([...foreign, ...copies]);
			expect(shown.filter((message) => added.has(message))).toHaveLength(added.size);
			expect(shown.filter((message) => !added.has(message)).map(bytes)).toEqual(messages.map(bytes));
		}),
	);
});

/** True if no other message could be taken for this one. */
function isUnique({ role, timestamp, toolCallId }: Message, among: readonly Message[]): boolean {
	const alike = among.filter((other) => other.role === role && other.timestamp === timestamp);
	return role !== "system" && alike.filter((other) => other.toolCallId === toolCallId).length === 1;
}

function nameOf(item: Item): string {
	if (item.kind === "block") return `b${item.block.number}`;
	return item.kind === "entry" ? item.record.entry.id : "system";
}

/** The view told once more: what is sent, with each block in the place of the first of its messages. */
function expectedNames({ branch, sent }: Request): readonly string[] {
	const { tops, reductions } = branch.state;
	const ordinals = new Map(branch.messages(1, branch.lastOrdinal).map((record) => [record.entry.id, record]));
	const names: string[] = [];
	for (const { id, message } of sent) {
		const record = message.role === "system" ? undefined : ordinals.get(id ?? "");
		const over = tops.filter(
			(top) => record && top.spans.some(({ from, to }) => from <= record.ordinal && record.ordinal <= to),
		);
		expect(over.length).toBeLessThanOrEqual(1);
		const [top] = over;
		if (record === undefined) names.push("system");
		else if (top !== undefined && !names.includes(`b${top.number}`)) names.push(`b${top.number}`);
		else if (top === undefined && reductions.get(record.unit.ordinal)?.rule !== "hide") names.push(record.entry.id);
	}
	return names;
}

/** A message with its tag at the end of its last text, or as a text of its own. */
function withTag(message: Message, ordinal: number): Message {
	const tag = `<acp>m${String(ordinal).padStart(5, "0")}</acp>`;
	const line = (text: string) => (text === "" ? tag : `${text}\n${tag}`);
	if (typeof message.content === "string") return { ...message, content: line(message.content) };
	const at = message.content.findLastIndex(isText);
	if (at < 0) return { ...message, content: [...message.content, { type: "text", text: tag }] };
	return {
		...message,
		content: message.content.map((part, index) =>
			index === at && isText(part) ? { ...part, text: line(part.text) } : part,
		),
	};
}

function filled(message: Message): Message {
	if (message.role !== "toolResult" || !isEmpty(message)) return message;
	return { ...message, content: [{ type: "text", text: "(no output: tool interrupted or timed out)" }] };
}

/** The same for a text and for the text with its look-alikes of tags made harmless. */
function defused(text: string): string {
	return text.replace(/< (?=\/?acp)/gi, "<");
}

/** The bytes of a message apart from its texts and from what its calls are given. */
function withoutText(message: Message): string {
	const rest = parts(message).filter((part) => !isText(part));
	return bytes({ ...message, content: rest.map((part) => (isToolCall(part) ? { ...part, arguments: {} } : part)) });
}

function isUsers(message: Message): boolean {
	return message.role === "user" || message.role === "custom";
}

function partsOf(record: BranchRecord): readonly Part[] {
	return record.message === undefined ? [] : parts(record.message);
}

function readPages(branch: Branch, id: string): { text: string; images: readonly Part[]; count: number } {
	const originals = findOriginals(branch, id);
	if ("code" in originals) throw new Error(`${id} has no originals`);
	const shown: Part[] = [];
	let count = 0;
	for (let page = pageOf(originals, 1); !("code" in page); page = pageOf(originals, count + 1)) {
		const [heading, ...rest] = page.parts;
		if (heading === undefined || !isText(heading)) throw new Error("a page has no heading");
		shown.push({ ...heading, text: heading.text.replace(/^\[[^\]]*\]\n/, "") }, ...rest);
		count = page.page;
		expect(page.page <= page.pages).toBe(true);
	}
	const text = shown.map((part) => (isText(part) ? part.text : "")).join("");
	return { text, images: shown.filter(isImage), count };
}

/** The texts of messages that do not stand in a text, in their order, each after the ref of its message. */
function missing(text: string, records: readonly BranchRecord[]): readonly string[] {
	let at = 0;
	const lost: string[] = [];
	for (const record of records) {
		const texts = partsOf(record).map((part) => (isText(part) ? part.text : isThinking(part) ? part.thinking : ""));
		for (const each of [`[m${String(record.ordinal).padStart(5, "0")} `, ...texts]) {
			const found = text.indexOf(each, at);
			if (found < 0) lost.push(each.slice(0, 40));
			else at = found + each.length;
		}
	}
	return lost;
}

/** For each assistant message the results right after it that answer its calls. */
function unitsOf(list: readonly (readonly [string, Message])[]): ReadonlyMap<string, readonly string[]> {
	const units = new Map<string, string[]>();
	let open: { readonly ids: Set<string | undefined>; readonly results: string[] } | undefined;
	for (const [name, message] of list) {
		if (message.role === "toolResult" && open?.ids.delete(message.toolCallId)) open.results.push(name);
		else open = undefined;
		if (message.role !== "assistant") continue;
		open = { ids: new Set(toolCalls(message).map((call) => call.id)), results: [] };
		units.set(name, open.results);
	}
	return units;
}
