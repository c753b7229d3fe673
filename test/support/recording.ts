import { convertMessages } from "@earendil-works/pi-ai/api/openai-completions";
import { normalizeContext } from "@earendil-works/pi-ai/utils/transcript";
import {
	buildSessionProjection,
	convertToLlm,
	parseSessionEntries,
	type SessionEntry,
	type SessionProjection,
} from "@earendil-works/pi-coding-agent";
import type { Span } from "../../kernel/block.ts";
import {
	type Branch,
	defaultSettings,
	isAnchorDetails,
	Meter,
	type ModelTraits,
	type Operation,
	operationEntryType,
	outgoingItems,
	project,
	replayCall,
	Timeline,
	toMessages,
	type View,
} from "../../kernel/index.ts";
import { readMarked } from "../../kernel/operation.ts";
import { parseRefRange } from "../../kernel/ref.ts";
import { entryFromPi } from "../../src/transcript/from-pi.ts";
import { outgoing } from "../../src/transcript/to-pi.ts";
import { PROVIDER_NAME } from "./home.ts";
import type { RecordedRequest, WireMessage } from "./provider.ts";
import { textsOf } from "./wire.ts";

/** A session log of Pi's present format, the header apart. */
export interface SessionLog {
	readonly entries: SessionEntry[];
	readonly byId: Map<string, SessionEntry>;
}

/** What runs of Pi on one session left behind: its log, and what the chat-completions provider was sent. */
export interface Recording {
	readonly log: SessionLog;
	readonly requests: readonly RecordedRequest[];
	/** Indexes of the first request of each later process. */
	readonly restarts: readonly number[];
	readonly modelId: string;
	readonly model: ModelTraits;
}

/** A message that Pi sends by its own rules, and the entry it comes from. */
export interface HostMessage {
	readonly entryId: string;
	readonly ordinal: number;
	readonly message: PiMessage;
	/** What Pi's own conversion makes of it alone: nothing if Pi leaves it out. */
	readonly wire: readonly WireMessage[];
}

/** What a message on the wire is: `images` belong to the tool result before them, a `placeholder` is Pi's own result. */
export interface WirePlace {
	readonly kind: "system" | "block" | "message" | "images" | "placeholder" | "unknown";
	/** Ordinals of what it shows or stands for. */
	readonly spans: readonly Span[];
}

/** A recorded request beside the log as it stood when the request was made. */
export interface Sight {
	readonly request: RecordedRequest;
	/** The entries from the root to the leaf. */
	readonly path: readonly SessionEntry[];
	readonly ordinals: ReadonlyMap<string, number>;
	readonly operations: readonly LoggedOperation[];
	readonly host: readonly HostMessage[];
	readonly branch: Branch;
	readonly view: View;
	/** What the kernel makes of the log, as it goes on the wire. */
	readonly expected: readonly WireMessage[];
	/** What was sent, without the volatile tail, and what each of it is. */
	readonly stable: readonly WireMessage[];
	readonly places: readonly WirePlace[];
}

/** An operation and the entry that records it. */
export interface LoggedOperation {
	readonly entryId: string;
	readonly operation: Operation;
}

export type PiMessage = SessionProjection["messages"][number];

/** Reads a log that Pi has opened at least once, so that its entries have ids; undefined if it is no session log. */
export function readSessionLog(text: string): SessionLog | undefined {
	const [header, ...rest] = parseSessionEntries(text);
	if (header?.type !== "session" || typeof header.id !== "string") return undefined;
	const entries = rest.filter((entry) => entry.type !== "session");
	return { entries, byId: new Map(entries.map((entry) => [entry.id, entry])) };
}

/** Puts each request that was answered beside its branch, in the order they were made. */
export function sightsOf(recording: Recording): readonly Sight[] {
	const leaves = leavesOf(recording.log);
	return recording.requests.flatMap((request) => {
		const leafId = leaves.get(request.index);
		return leafId === undefined ? [] : [sightOf(recording, request, leafId)];
	});
}

/** The leaf at which each request was made: the parent of its answer, whose id the provider takes from the request. */
function leavesOf(log: SessionLog): ReadonlyMap<number, string> {
	const leaves = new Map<number, string>();
	for (const entry of log.entries) {
		if (entry.type !== "message" || entry.message.role !== "assistant" || entry.parentId === null) continue;
		const [, index] = /^chatcmpl-(\d+)$/.exec(entry.message.responseId ?? "") ?? [];
		if (index !== undefined) leaves.set(Number(index), entry.parentId);
	}
	return leaves;
}

/** What Pi would send if no anchor of ours kept it short: what is behind one has to be in the view as if it were not there. */
function projectionWithoutAnchors(log: SessionLog, leafId: string): SessionProjection {
	const entries = log.entries.map((entry): SessionEntry => {
		if (entry.type !== "compaction" || !isAnchorDetails(entry.details)) return entry;
		const { id, parentId, timestamp } = entry;
		return { type: "custom", customType: "anchor", id, parentId, timestamp };
	});
	return buildSessionProjection(entries, leafId, new Map(entries.map((entry) => [entry.id, entry])));
}

function sightOf({ log, model, modelId }: Recording, request: RecordedRequest, leafId: string): Sight {
	const path = pathTo(log, leafId);
	const ordinals = ordinalsOf(path);
	const projection = buildSessionProjection(log.entries, leafId, log.byId);
	const host = projectionWithoutAnchors(log, leafId).entries.flatMap(({ sourceEntry, messages }) => {
		const ordinal = ordinals.get(sourceEntry.id);
		return ordinal === undefined
			? []
			: messages.map((message) => ({ entryId: sourceEntry.id, ordinal, message, wire: onWire([message], modelId) }));
	});
	const branch = new Timeline(replayCall).branch(leafId, (id) => {
		const entry = log.byId.get(id);
		return entry && entryFromPi(entry);
	});
	const list = outgoing(projection.messages);
	const context = new Meter().context(branch, { model, settings: defaultSettings, isActive: true });
	const view = project(outgoingItems(branch, list.messages), context);
	const { messages } = request.body;
	const stable = view.nudge === undefined ? messages : messages.slice(0, -1);
	const operations = operationsOn(path);
	return {
		request,
		path,
		ordinals,
		operations,
		host,
		branch,
		view,
		expected: onWire(list.toPi(toMessages(view, context)), modelId),
		stable,
		places: placesOf(stable, host),
	};
}

function pathTo(log: SessionLog, leafId: string): readonly SessionEntry[] {
	const path: SessionEntry[] = [];
	for (let entry = log.byId.get(leafId); entry; entry = log.byId.get(entry.parentId ?? "")) path.push(entry);
	return path.reverse();
}

/** The ordinals of a path's entries, counted by type as the contract says. */
function ordinalsOf(path: readonly SessionEntry[]): ReadonlyMap<string, number> {
	const counted = path.filter((entry) =>
		entry.type === "message"
			? entry.message.role !== "system"
			: ["custom_message", "compaction", "branch_summary"].includes(entry.type),
	);
	return new Map(counted.map((entry, index) => [entry.id, index + 1]));
}

/** The operations recorded on a path: with our mark in results of our tools, and in custom entries of ours. */
function operationsOn(path: readonly SessionEntry[]): readonly LoggedOperation[] {
	return path.flatMap((entry) => {
		const operation = readMarked(markedIn(entry));
		return operation === undefined ? [] : [{ entryId: entry.id, operation }];
	});
}

function markedIn(entry: SessionEntry): unknown {
	if (entry.type === "custom") return entry.customType === operationEntryType ? entry.data : undefined;
	if (entry.type !== "message" || entry.message.role !== "toolResult" || entry.message.isError) return undefined;
	return ["compress", "decompress"].includes(entry.message.toolName) ? entry.message.details : undefined;
}

/** The messages as Pi's own conversion for chat-completions writes them for a model of the loopback provider. */
function onWire(messages: PiMessage[], modelId: string): readonly WireMessage[] {
	const model = {
		provider: PROVIDER_NAME,
		id: modelId,
		api: "openai-completions",
		input: ["text", "image"],
		reasoning: false,
	} as Parameters<typeof convertMessages>[0];
	const compat = { supportsDeveloperRole: false } as Parameters<typeof convertMessages>[2];
	const converted = convertMessages(model, normalizeContext({ messages: convertToLlm(messages) }), compat);
	return JSON.parse(JSON.stringify(converted)) as WireMessage[];
}

/** What Pi's conversion says in front of the images of tool results. */
const imagesText = "Attached image(s) from tool result:";

/** What Pi's conversion puts in for a call that has no result. */
const noResultText = "No result provided";

const tagPattern = /(?:^|\n)<acp>m(\d{5,})<\/acp>$/;
const blockPattern = /^<acp-block id="b\d+" tier="\d+" covers="([^"]*)"/;

/** The texts of a message without its tag, and the ordinal in the tag; none if it has no tag. */
export function untagged(message: WireMessage): { readonly texts: readonly string[]; readonly ordinal?: number } {
	const texts = textsOf(message);
	const [, digits] = tagPattern.exec(texts.at(-1) ?? "") ?? [];
	if (digits === undefined) return { texts };
	return { texts: texts.with(-1, (texts.at(-1) ?? "").replace(tagPattern, "")), ordinal: Number(digits) };
}

/**
 * What each message of a request is, told by its tag or its block's text; assistant messages carry no tag and are found
 * in the log, in order, by what they say and call.
 */
function placesOf(messages: readonly WireMessage[], host: readonly HostMessage[]): readonly WirePlace[] {
	const covered = messages.flatMap((message) => (isPlain(message) ? (blockSpans(message) ?? []) : []));
	let next = 0;
	return messages.map((message): WirePlace => {
		if (message.role === "system") return { kind: "system", spans: [] };
		const found = message.role === "assistant" ? findAssistant(message) : placeOf(message);
		const first = host.findIndex(({ ordinal }) => isIn(found.spans, ordinal));
		if (first >= 0) next = first + 1;
		return found;
	});

	function findAssistant(sent: WireMessage): WirePlace {
		const text = JSON.stringify(sent);
		const index = host.findIndex(
			({ wire, ordinal }, position) =>
				position >= next &&
				wire[0]?.role === "assistant" &&
				!isIn(covered, ordinal) &&
				JSON.stringify(wire[0]) === text,
		);
		const found = host[index];
		return found === undefined ? { kind: "unknown", spans: [] } : { kind: "message", spans: [only(found.ordinal)] };
	}
}

/** True if the message carries no tag. */
function isPlain(message: WireMessage): boolean {
	return untagged(message).ordinal === undefined;
}

function placeOf(message: WireMessage): WirePlace {
	const { texts, ordinal } = untagged(message);
	if (ordinal !== undefined) return { kind: "message", spans: [only(ordinal)] };
	const spans = message.role === "user" ? blockSpans(message) : undefined;
	if (spans !== undefined) return { kind: "block", spans };
	if (message.role === "user" && texts[0] === imagesText) return { kind: "images", spans: [] };
	if (message.role === "tool" && texts[0] === noResultText) return { kind: "placeholder", spans: [] };
	return { kind: "unknown", spans: [] };
}

/** What the block covers whose text a message holds; undefined if it holds none. */
function blockSpans(message: WireMessage): readonly Span[] | undefined {
	const [, covers] = blockPattern.exec(textsOf(message)[0] ?? "") ?? [];
	return covers?.split(" ").flatMap((text) => {
		const range = parseRefRange(text);
		return range === undefined ? [] : { from: range.from.number, to: range.to.number };
	});
}

function only(ordinal: number): Span {
	return { from: ordinal, to: ordinal };
}

/** True if an ordinal lies in one of the spans. */
export function isIn(spans: readonly Span[], ordinal: number): boolean {
	return spans.some((span) => span.from <= ordinal && ordinal <= span.to);
}
