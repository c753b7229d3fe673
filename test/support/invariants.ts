import { sanitizeSurrogates } from "@earendil-works/pi-ai/utils/sanitize-unicode";
import type { SessionEntry } from "@earendil-works/pi-coding-agent";
import type { Span } from "../../kernel/block.ts";
import { entryMessage } from "../../kernel/entry.ts";
import { type Branch, findOriginals, type Part, pageOf } from "../../kernel/index.ts";
import { isImage, isText, isThinking, isToolCall, parts } from "../../kernel/message.ts";
import { reductionsOf } from "../../kernel/reductions.ts";
import { defuse, messageRef } from "../../kernel/ref.ts";
import { entryFromPi, messageFromPi } from "../../src/transcript/from-pi.ts";
import type { WireMessage } from "./provider.ts";
import {
	type HostMessage,
	isIn,
	type LoggedOperation,
	type Recording,
	type Sight,
	sightsOf,
	untagged,
	type WirePlace,
} from "./recording.ts";

/** Something a request or the log should not show; `invariant` is its number in the architecture. */
export interface Violation {
	readonly invariant: 1 | 2 | 3 | 4 | 5;
	/** Index of the request. */
	readonly request: number;
	readonly what: string;
}

/** What was found: the requests beside their branches, and what is wrong with them. */
export interface Judgement {
	readonly sights: readonly Sight[];
	readonly violations: readonly Violation[];
}

/** Checks invariants 1 to 5 on every request, as far as requests and the log show them. */
export function judge(recording: Recording): Judgement {
	const sights = sightsOf(recording);
	const answered = new Set(sights.map((sight) => sight.request));
	const last = sights.at(-1);
	const violations = [
		...recording.requests
			.filter((request) => !answered.has(request))
			.map((request) => at(request.index, 1, "the log holds no answer to it")),
		...sights.flatMap((sight) => [...sameView(sight), ...everyMessage(sight), ...wholePairs(sight)]),
		...sights.flatMap((sight, index) => growth(sights[index - 1], sight, recording.restarts)),
		...(last === undefined ? [] : originalsComeBack(last)),
	];
	return { sights, violations };
}

function at(request: number, invariant: Violation["invariant"], what: string): Violation {
	return { invariant, request, what };
}

/** Invariant 1: what was sent is what the kernel makes of the log, message by message. */
function sameView({ request, expected }: Sight): readonly Violation[] {
	const { messages } = request.body;
	const index = firstDifference(messages, expected);
	if (index === undefined) return [];
	return [at(request.index, 1, `message ${index}, the log makes another one: ${contrast(messages, expected, index)}`)];
}

/** The index of the first message that differs; undefined if the lists are the same. */
function firstDifference(left: readonly WireMessage[], right: readonly WireMessage[]): number | undefined {
	const common = commonLength(left, right);
	return common === left.length && common === right.length ? undefined : common;
}

function commonLength(left: readonly WireMessage[], right: readonly WireMessage[]): number {
	const index = left.findIndex((message, index) => JSON.stringify(message) !== JSON.stringify(right[index]));
	return index < 0 ? left.length : index;
}

/** Two texts from shortly before the place where they part. */
function contrast(before: readonly WireMessage[], after: readonly WireMessage[], index: number): string {
	const [left = "(nothing)", right = "(nothing)"] = [JSON.stringify(before[index]), JSON.stringify(after[index])];
	let start = 0;
	while (start < left.length && left[start] === right[start]) start++;
	const shown = (text: string) => text.slice(Math.max(0, start - 40), start + 80);
	return `${shown(left)} | ${shown(right)}`;
}

/** Invariants 2 and 5: a request extends the one before it, as far back as the commits between them allow. */
function growth(previous: Sight | undefined, sight: Sight, restarts: readonly number[]): readonly Violation[] {
	const leaf = previous?.path.at(-1);
	if (previous === undefined || leaf === undefined) return [];
	const { index } = sight.request;
	const invariant = restarts.includes(index) ? 5 : 2;
	if (sight.path[previous.path.length - 1] !== leaf) return [at(index, invariant, "its branch is another one")];
	const least = firstTouched(previous, sight);
	const common = commonLength(previous.stable, sight.stable);
	if (common >= least) return [];
	const what = `message ${common} changed, those before ${least} of ${previous.stable.length} must not`;
	return [at(index, invariant, `${what}: ${contrast(previous.stable, sight.stable, common)}`)];
}

/** The index in the earlier request of the first message that what was logged since may change. */
function firstTouched(previous: Sight, sight: Sight): number {
	const fresh = sight.path.slice(previous.path.length);
	if (fresh.some((entry) => entry.type === "compaction")) return 1;
	const spans = sight.operations
		.slice(previous.operations.length)
		.flatMap((logged) => touchedSpans(logged, sight.operations));
	for (const entry of fresh) {
		const ordinal = entry.type === "context_edit" ? sight.ordinals.get(entry.targetId) : undefined;
		if (ordinal !== undefined) spans.push({ from: ordinal, to: ordinal });
	}
	const index = previous.places.findIndex((place) => place.spans.some((span) => overlaps(spans, span)));
	return index < 0 ? previous.stable.length : index;
}

/** What a commit folds, restores or cuts; what a fold hides and filters comes after what it folds. */
function touchedSpans({ operation }: LoggedOperation, all: readonly LoggedOperation[]): readonly Span[] {
	switch (operation.kind) {
		case "fold":
			return operation.blocks.flatMap((block) => block.spans);
		case "truncate":
			return operation.reductions.map(({ ordinal }) => ({ from: ordinal, to: ordinal }));
		case "unfold":
			return all
				.flatMap((each) => (each.operation.kind === "fold" ? each.operation.blocks : []))
				.filter((block) => block.number === operation.block)
				.flatMap((block) => block.spans);
		case "undo":
		case "redo":
			return all.flatMap((each) => touchedSpans(each, []));
		case "pin":
		case "unpin":
		case "nudge":
			return [];
	}
}

function overlaps(spans: readonly Span[], other: Span): boolean {
	return spans.some((span) => span.from <= other.to && other.from <= span.to);
}

/**
 * Invariant 3: each message that Pi has to send is there, in Pi's order, or in exactly one block, or hidden by a
 * recorded rule, or left out by Pi; and what is there says what the log says.
 */
function everyMessage(sight: Sight): readonly Violation[] {
	const found: string[] = [...placement(sight)];
	const hidden = hiddenOrdinals(sight);
	const blocks = sight.places.filter((place) => place.kind === "block");
	const shown = new Set(sight.places.flatMap((place) => (place.kind === "message" ? firstOf(place) : [])));
	for (const { ordinal, wire } of sight.host) {
		const ways = Number(shown.has(ordinal)) + blocks.filter((block) => isIn(block.spans, ordinal)).length;
		if (ways === 1) continue;
		if (ways > 1) found.push(`${messageRef(ordinal)} is there ${ways} times`);
		else if (!hidden.has(ordinal) && wire.length > 0) found.push(`${messageRef(ordinal)} is lost`);
	}
	return [...found, ...contents(sight)].map((what) => at(sight.request.index, 3, what));
}

/** What stands on the wire without a source, twice, or out of order. */
function placement({ places, host }: Sight): readonly string[] {
	const found: string[] = [];
	let last = -1;
	for (const [index, place] of places.entries()) {
		if (place.kind === "unknown") found.push(`message ${index} comes from nowhere in the log`);
		if (place.kind !== "message" && place.kind !== "block") continue;
		const position = host.findIndex(({ ordinal }) => isIn(place.spans, ordinal));
		if (position < 0) found.push(`message ${index} stands for nothing that Pi sends`);
		else if (position <= last) found.push(`message ${index} is out of order`);
		last = Math.max(last, position);
	}
	return found;
}

function firstOf(place: WirePlace): number {
	return place.spans[0]?.from ?? 0;
}

/** The ordinals of units that a commit recorded as hidden: an assistant message and its results. */
function hiddenOrdinals({ operations, host }: Sight): ReadonlySet<number> {
	const begins = new Set(
		operations
			.flatMap(({ operation }) =>
				"reductions" in operation ? operation.reductions.filter(({ rule }) => rule === "hide") : [],
			)
			.map(({ ordinal }) => ordinal),
	);
	const hidden = new Set<number>();
	let isHidden = false;
	for (const { ordinal, message } of host) {
		isHidden = begins.has(ordinal) || (isHidden && message.role === "toolResult");
		if (isHidden) hidden.add(ordinal);
	}
	return hidden;
}

/**
 * Messages on the wire that say neither what the log says nor what a commit recorded: texts without the tag, and images in
 * their order.
 */
function contents({ places, stable, host, branch }: Sight): readonly string[] {
	const byOrdinal = new Map(host.map((each) => [each.ordinal, each]));
	const images: string[] = [];
	const found = places.flatMap((place, index) => {
		const source = place.kind === "message" ? byOrdinal.get(firstOf(place)) : undefined;
		const message = stable[index];
		if (source === undefined || message === undefined) return [];
		const { ordinal } = source;
		const rules = rulesFor(branch, ordinal);
		const isReplaced = rules.some((rule) => rule === "supersededReads" || rule === "repeatedCalls");
		if (!isReplaced) images.push(...parts(messageFromPi(source.message)).filter(isImage).map(urlOf));
		if (message.role === "assistant" || (rules.includes("truncate") && !isReplaced)) return [];
		const isRight = isReplaced ? isMarker(message, ordinal) : saysTheSame(message, source);
		return isRight ? [] : [`${messageRef(ordinal)} says something else than the log`];
	});
	const sent = stable.flatMap(imageUrls);
	return JSON.stringify(sent) === JSON.stringify(images) ? found : [...found, "images are missing or out of order"];
}

/** What commits recorded of a message; nothing of the rules of content where the host edited it. */
function rulesFor(branch: Branch, ordinal: number): readonly string[] {
	const record = branch.message(ordinal);
	return record === undefined ? [] : reductionsOf(branch, record).map(({ rule }) => rule);
}

/** True if a message says only where it can be seen. */
function isMarker(sent: WireMessage, ordinal: number): boolean {
	const [text = "", ...others] = untagged(sent).texts;
	return others.length === 0 && /^\[left out: [^\n]*\]$/.test(text) && text.includes(`"${messageRef(ordinal)}"`);
}

function saysTheSame(sent: WireMessage, { message }: HostMessage): boolean {
	const texts = parts(messageFromPi(message))
		.filter(isText)
		.map((part) => defuse(part.text));
	const isResult = message.role === "toolResult";
	const logged = sanitizeSurrogates(isResult ? texts.join("\n") : texts.filter((text) => text !== "").join("\u0000"));
	if (logged.trim() === "") return true;
	return (
		untagged(sent)
			.texts.filter((text) => text !== "")
			.join("\u0000") === logged
	);
}

function urlOf({ mimeType, data }: { readonly mimeType: string; readonly data: string }): string {
	return `data:${mimeType};base64,${data}`;
}

function imageUrls({ content }: WireMessage): readonly string[] {
	if (!Array.isArray(content)) return [];
	return content.flatMap((part) => (part?.type === "image_url" ? [String(part.image_url?.url)] : []));
}

/** Invariant 4: calls have their results right after them, no result is without a call, no message is empty. */
function wholePairs({ request }: Sight): readonly Violation[] {
	const { messages } = request.body;
	const found: string[] = [];
	let open: string[] = [];
	for (const [index, message] of messages.entries()) {
		if (message.role === "tool") {
			const id = String(message.tool_call_id);
			if (open.includes(id)) open.splice(open.indexOf(id), 1);
			else found.push(`message ${index} is a result without a call`);
			continue;
		}
		if (open.length > 0) found.push(`the calls before message ${index} miss results: ${open.join(", ")}`);
		open = callIds(message);
		if (open.length === 0 && isBlank(message)) found.push(`message ${index} is empty`);
	}
	if (open.length > 0) found.push(`the last calls have no results: ${open.join(", ")}`);
	if (!messages.some((message) => message.role === "user")) found.push("there is no user message");
	return found.map((what) => at(request.index, 4, what));
}

function callIds({ tool_calls: calls }: WireMessage): string[] {
	return Array.isArray(calls) ? calls.map((call) => String(call?.id)) : [];
}

function isBlank(message: WireMessage): boolean {
	const texts = untagged(message).ordinal === undefined ? untagged(message).texts : ["tagged"];
	return imageUrls(message).length === 0 && texts.every((text) => text.trim() === "");
}

/** Invariant 3, the way back: the pages of every block hold each covered message, byte for byte and in order. */
export function originalsComeBack({ request, branch, path, ordinals }: Sight): readonly Violation[] {
	const byOrdinal = new Map(path.map((entry) => [ordinals.get(entry.id), entry]));
	return [...branch.state.blocks.values()].flatMap((block) => {
		const held = allPages(branch, `b${block.number}`);
		const place = { index: 0, offset: 0 };
		const lost = block.spans
			.flatMap((span) => Array.from({ length: span.to - span.from + 1 }, (_, step) => span.from + step))
			.filter((ordinal) => !partsOf(byOrdinal.get(ordinal)).every((part) => advance(held, place, part)));
		if (lost.length === 0) return [];
		return [at(request.index, 3, `decompress b${block.number} does not give back ${lost.map(messageRef).join(", ")}`)];
	});
}

/** All pages of a block in one, without their headings. */
function allPages(branch: Branch, id: string): readonly Part[] {
	const originals = findOriginals(branch, id);
	if ("code" in originals) return [];
	const joined: Part[] = [];
	for (let number = 1, count = 1; number <= count; number++) {
		const page = pageOf(originals, number);
		if ("code" in page) return [];
		count = page.pages;
		for (const [index, part] of page.parts.entries()) {
			const last = joined.at(-1);
			const shown = index === 0 && isText(part) ? { ...part, text: part.text.replace(headingPattern, "") } : part;
			if (last === undefined || !isText(last) || !isText(shown) || index > 0) joined.push(shown);
			else joined[joined.length - 1] = { ...last, text: last.text + shown.text };
		}
	}
	return joined;
}

/** The first line of a page; a text that is cut goes on right behind it. */
const headingPattern = /^\[[^\]\n]*page \d+ of \d+[^\]\n]*\]\n?/;

/** What of an entry has to come back. */
function partsOf(entry: SessionEntry | undefined): readonly Part[] {
	const message = entry && entryMessage(entryFromPi(entry));
	return message === undefined ? [] : parts(message);
}

/** Moves a place in `held` behind the next occurrence of a part; false if there is none. */
function advance(held: readonly Part[], place: { index: number; offset: number }, part: Part): boolean {
	const wanted = wantedText(part);
	for (let { index, offset } = place; index < held.length; index++, offset = 0) {
		const holder = held[index];
		const text = holder !== undefined && isText(holder) ? holder.text : JSON.stringify(holder);
		const found = text.indexOf(wanted, offset);
		if (found < 0) continue;
		Object.assign(place, { index, offset: found + wanted.length });
		return true;
	}
	return false;
}

function wantedText(part: Part): string {
	if (isText(part)) return part.text;
	if (isThinking(part)) return part.thinking;
	return JSON.stringify(isToolCall(part) ? part.arguments : part);
}
