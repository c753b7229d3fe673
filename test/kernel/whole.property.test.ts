import fc from "fast-check";
import { expect, test } from "vitest";
import { findOriginals, type Message, outgoingItems, pageOf, project, textOf, toolCalls } from "../../kernel/index.ts";
import { isEmpty, isImage, isText, isThinking, isToolCall, type Part, parts } from "../../kernel/message.ts";
import { messageTokens } from "../../kernel/meter/size.ts";
import type { Branch, BranchRecord } from "../../kernel/timeline.ts";
import { type Item, toMessages } from "../../kernel/view.ts";
import { holds, play, scripts } from "../support/arbitraries.ts";
import { contextOf } from "../support/log.ts";
import { bytes, requestAt } from "../support/request.ts";

const seed = 20_261_102;

test("A message in view has the bytes it was written with, but for its tag and what a rule or a commit recorded.", () => {
	holds(
		seed + 1,
		fc.property(scripts, fc.boolean(), (script, isActive) => {
			const { view, branch, messages, sent } = requestAt(play(script).last, { isActive });
			const written = new Map(sent.map(({ id, message }) => [id, message]));
			const paired = pairedResults(view.items);
			for (const [index, item] of view.items.entries()) {
				const shown = messages[index];
				if (item.kind === "foreign") expect(shown).toBe(item.message);
				if (item.kind === "block") expect(shown).toMatchObject({ role: "custom", content: item.block.text });
				if (item.kind !== "entry") continue;
				const { record } = item;
				const message = written.get(record.entry.id);
				if (shown === undefined || message === undefined) throw new Error("an item comes from nowhere");
				const isTagged = isActive && message.role !== "assistant";
				const isLone = message.role === "toolResult" && !paired.has(record.entry.id);
				const whole = lessFiltered(filled(message, isTagged), branch, record);
				const reduced = isLone ? saidAsText(whole) : whole;
				const expected = isTagged ? withTag(reduced, record.ordinal) : reduced;
				const isCut = branch.state.reductions.get(record.ordinal)?.some(({ rule }) => rule === "truncate");
				const show = isCut ? withoutText : bytes;
				expect(defused(show(shown))).toBe(defused(show(expected)));
			}
		}),
	);
});

test("A message that rules of content reduced weighs what is left of it.", () => {
	const reduced = new Map<string, number>();
	holds(
		seed + 8,
		fc.property(scripts, (script) => {
			const { view, branch } = requestAt(play(script).last);
			for (const item of view.items) {
				const rules = item.kind === "entry" ? (branch.state.reductions.get(item.record.ordinal) ?? []) : [];
				if (rules.length === 0 || rules.some(({ rule }) => rule === "truncate")) continue;
				expect(item.sizeTokens).toBe(messageTokens(item.message));
				for (const { rule } of rules) reduced.set(rule, (reduced.get(rule) ?? 0) + 1);
			}
		}),
	);
	for (const rule of ["unsignedThinking", "supersededReads", "repeatedCalls"]) {
		expect(reduced.get(rule)).toBeGreaterThan(0);
	}
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

function filled(message: Message, isTagged: boolean): Message {
	if (message.role === "assistant" || message.role === "system" || !isEmpty(message)) return message;
	const text = message.role === "toolResult" ? "(no output: tool interrupted or timed out)" : "(empty)";
	return isTagged && message.role !== "toolResult" ? message : { ...message, content: [{ type: "text", text }] };
}

/** The results that stand in the row behind the message that made their call. */
function pairedResults(items: readonly Item[]): ReadonlySet<string> {
	const list = items.flatMap((item): (readonly [string, Message])[] => {
		if (item.kind === "foreign") return [];
		const isSilent = item.kind === "entry" && item.record.isSilent;
		return [[nameOf(item), isSilent ? { ...item.message, role: "silent" } : item.message]];
	});
	return new Set([...unitsOf(list).values()].flat());
}

/** A result that no provider takes as one. */
function saidAsText({ toolName, timestamp, ...message }: Message): Message {
	const text = `[result of ${toolName}, apart from its call]`;
	const content = [{ type: "text", text }, ...parts({ ...message, timestamp })];
	return { role: "custom", ...{ customType: "acp-result", display: false }, content, timestamp };
}

/** A message without what the rules of content took from it, told once more. */
function lessFiltered(message: Message, branch: Branch, { ordinal, entry }: BranchRecord): Message {
	const rules = branch.state.reductions.get(ordinal)?.map(({ rule }) => rule) ?? [];
	if (branch.leaf?.edits.has(entry.id)) return message;
	if (rules.includes("unsignedThinking")) {
		expect(JSON.stringify(message)).not.toContain("Signature");
		return { ...message, content: parts(message).filter((part) => !isThinking(part)) };
	}
	const why = rules.includes("supersededReads") ? "a later call reads the same" : "a later call is the same";
	if (!rules.some((rule) => rule === "supersededReads" || rule === "repeatedCalls")) return message;
	expect(message.role).toBe("toolResult");
	const id = `m${String(ordinal).padStart(5, "0")}`;
	const text = `[left out: ${why}; decompress({ id: "${id}" }) shows this result]`;
	return { ...message, content: [{ type: "text", text }] };
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
