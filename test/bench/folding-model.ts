import { estimateTokens } from "../../kernel/meter/estimate.ts";
import { parseRef } from "../../kernel/ref.ts";
import type { RecordedRequest, Reply, ScriptedCall } from "../support/provider.ts";
import { untagged } from "../support/recording.ts";
import { blocksIn, textsOf } from "../support/wire.ts";

/** The prompts that the model's story takes, one for each process of Pi but the first, which takes two. */
export const storyPrompts = [
	"Go on with the work.",
	"Look something up.",
	"Next step, please.",
	"And the last step.",
] as const;

/** The file in the project that the model reads. */
export const storyFile = { name: "notes.txt", text: "one note per line\n".repeat(40) };

/** The share of the first request that folding goes down to. */
export const goalShare = 1 / 5;

/** A model that folds what it is offered until a fifth is left, works on, opens blocks, folds blocks, and works on. */
export function foldingModel(): (request: RecordedRequest) => Reply {
	const story = tell();
	story.next();
	return (request) => {
		const told = story.next(request);
		return told.done ? { text: "There is nothing left to do." } : told.value;
	};
}

/** The model measures what is on the wire, the check the view, so it folds a little further than it has to. */
const margin = 0.9;

type Story<Result> = Generator<Reply, Result, RecordedRequest>;

function* tell(): Story<void> {
	yield* fold(yield {});
	yield calls(call("read", { path: storyFile.name }), call("bash", { command: "echo one; echo two >&2" }));
	const question = yield { text: "This step is done." };
	const pages = yield* openPages(question, blocksIn(question).at(-1));
	yield* foldBlocks(yield* openInView(pages, blocksIn(pages).at(1)));
	yield calls(call("bash", { command: "exit 3" }));
	const next = yield { text: "Found it." };
	yield* openInView(next, blocksIn(next).at(0));
	yield calls(call("read", { path: storyFile.name }));
	yield { text: "That was the next step." };
	const last = yield calls(call("bash", { command: "seq 1 2000" }));
	const ranges = offeredIn(yield calls(call("acp_status", { view: "ranges" })));
	if (ranges.length > 0) yield* foldBlocks(yield calls(compress(last, ranges)));
	yield { text: "That was the last step." };
}

/** Folds some of the offered ranges at a time, oldest first, until the goal is reached or nothing more is offered. */
function* fold(first: RecordedRequest): Story<void> {
	const goalTokens = sizeOf(first) * goalShare * margin;
	const asked = new Set<string>();
	const fresh = (request: RecordedRequest) => offeredIn(request).filter((range) => !asked.has(range.startId));
	let request = first;
	while (sizeOf(request) > goalTokens) {
		if (fresh(request).length === 0) request = yield calls(call("acp_status", { view: "ranges", limit: 500 }));
		const ranges = fresh(request).slice(0, 3);
		if (ranges.length === 0) return;
		for (const range of ranges) asked.add(range.startId);
		request = yield calls(compress(request, ranges));
	}
}

/** Reads all pages of a block. */
function* openPages(request: RecordedRequest, id: string | undefined): Story<RecordedRequest> {
	if (id === undefined) return request;
	let answer = yield calls(call("decompress", { id }));
	for (let page = 2; lastText(answer).includes(`next: page ${page}`); page++) {
		answer = yield calls(call("decompress", { id, page }));
	}
	return answer;
}

/** Puts a block's content back in its place. */
function* openInView(request: RecordedRequest, id: string | undefined): Story<RecordedRequest> {
	return id === undefined ? request : yield calls(call("decompress", { id, to: "view" }));
}

/** Folds all blocks in view, and what lies between them, into one of a higher tier. */
function* foldBlocks(request: RecordedRequest): Story<void> {
	const blocks = blocksIn(request);
	const [startId, endId] = [blocks[0], blocks.at(-1)];
	if (startId !== undefined && endId !== undefined) yield calls(compress(request, [{ startId, endId }]));
}

interface Offer {
	readonly startId: string;
	readonly endId: string;
}

const offerPatterns = [
	/startId (m\d+), endId (m\d+)/g,
	/(?<=^|: |, )(m\d+)(?:-(m\d+))?(?= \(\d|, \d+ messages)/gm,
] as const;

/** The ranges offered at the end of a request: by the nudge, by acp_status, or by the answer to a compress call. */
function offeredIn(request: RecordedRequest): readonly Offer[] {
	const text = lastText(request);
	const offers = offerPatterns.flatMap((pattern) => [...text.matchAll(pattern)]);
	return offers.map(([, startId = "", endId = startId]) => ({ startId, endId }));
}

function lastText({ body }: RecordedRequest): string {
	const last = body.messages.at(-1);
	return last === undefined || last.role === "assistant" ? "" : textsOf(last).join("\n");
}

function compress(request: RecordedRequest, ranges: readonly Offer[]): ScriptedCall {
	const content = ranges.map((range, index) => ({
		...range,
		summary: summaryOf(request, range),
		topic: `part ${index + 1}`,
	}));
	return call("compress", { content });
}

/** Some forty words, evenly spread over the tagged messages of a range, or over the blocks in view. */
function summaryOf({ body }: RecordedRequest, { startId, endId }: Offer): string {
	const messages = body.messages.map(untagged);
	// After a compaction by Pi the order of the messages is not that of their refs.
	const [first, last] = [startId, endId].map((id) => {
		const ref = parseRef(id);
		return messages.findIndex(({ ordinal }) => ref?.kind === "message" && ordinal === ref.number);
	});
	const inside = messages.filter(({ ordinal }, index) =>
		first === undefined || last === undefined || first < 0 || last < 0
			? ordinal === undefined
			: index >= first && index <= last,
	);
	const texts = inside.flatMap((message) => message.texts);
	const words = texts.join(" ").match(/[\p{L}\p{N}_]{4,20}/gu) ?? [];
	const step = Math.max(1, Math.floor(words.length / 40));
	return `Done here: ${words
		.filter((_, index) => index % step === 0)
		.slice(0, 40)
		.join(" ")}`;
}

/** Estimated tokens of what is sent. */
function sizeOf({ body }: RecordedRequest): number {
	return body.messages.reduce((sum, message) => sum + estimateTokens(JSON.stringify(message)), 0);
}

function calls(...toolCalls: ScriptedCall[]): Reply {
	return { toolCalls };
}

function call(name: string, args: Record<string, unknown>): ScriptedCall {
	return { name, arguments: args };
}
