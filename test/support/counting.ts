import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { said } from "./log.ts";
import type { RecordedRequest, Reply, RequestBody, WireMessage } from "./provider.ts";
import { textOf, textsOf } from "./wire.ts";

/** How a counting provider differs from one that counts as o200k does, reports each request and takes all of them. */
export interface Counting {
	/** What it counts for one token of o200k. */
	factor?: number;
	/** What it tells of its count, by the request's index and the refusals before; `count` if left out. */
	reports?: (index: number, refusals: number) => "count" | "zero" | "nothing";
	/** Its window in its own tokens; larger requests are refused. */
	windowTokens?: number;
	/** Whose words a refusal has. OpenAI adds the room for the answer to the request, the others do not. */
	words?: Words;
}

/** OpenAI's words on chat-completions, its words on Responses, which name no figures, and Anthropic's. */
type Words = "OpenAI" | "OpenAI Responses" | "Anthropic";

/** What an image counts, whatever its length in base64. */
const imageTokens = 1_600;

/** What separates a message from the next one. */
const frameTokens = 4;

/** A script whose replies report what the request counts, most of it as cached, and which refuses what is beyond its window. */
export function counting(
	script: (request: RecordedRequest) => Reply | Promise<Reply>,
	{ factor = 1, reports = () => "count", windowTokens = Number.POSITIVE_INFINITY, words = "OpenAI" }: Counting,
): (request: RecordedRequest) => Promise<Reply> {
	let refusals = 0;
	return async (request) => {
		const promptTokens = Math.round(factor * countRequest(request.body));
		const answerTokens = words === "OpenAI" ? answerRoom(request) : 0;
		if (promptTokens + answerTokens > windowTokens) {
			refusals++;
			return { error: refusal(words, promptTokens, answerTokens, windowTokens) };
		}
		const reply = await script(request);
		const report = reports(request.index, refusals);
		if (report === "nothing") return { usage: null, ...reply };
		const cachedTokens = Math.floor(promptTokens * 0.9);
		const usage = report === "zero" ? { promptTokens: 0, completionTokens: 0 } : { promptTokens, cachedTokens };
		return { usage, ...reply };
	};
}

/** The room a request asks for the answer. */
export function answerRoom({ body }: RecordedRequest): number {
	return Number(body.max_completion_tokens ?? body.max_tokens ?? 0);
}

/** o200k tokens of everything in a request that a model reads; images count by the piece. */
export function countRequest({ messages, system, tools }: RequestBody): number {
	const declared = tools === undefined ? 0 : countText(JSON.stringify(tools));
	return declared + countValue(system) + messages.reduce((sum, message) => sum + countMessage(message), 0);
}

/** A request without its nudge and the last result: what was in view when the model made the call. */
function beforeLastResult({ body }: RecordedRequest): RequestBody {
	const last = body.messages.findLastIndex(isResult);
	return { ...body, messages: body.messages.slice(0, last) };
}

/** A request without its nudge. */
export function withoutNudge({ body }: RecordedRequest): RequestBody {
	const isKept = (part: unknown) => !textOf({ role: "user", content: [part] }).startsWith(nudgeStart);
	const messages = body.messages.flatMap((message, index) => {
		if (index < body.messages.length - 1) return message;
		if (typeof message.content === "string") return message.content.startsWith(nudgeStart) ? [] : message;
		const content = Array.isArray(message.content) ? message.content.filter(isKept) : [];
		return content.length === 0 ? [] : { ...message, content };
	});
	return { ...body, messages };
}

const nudgeStart = "[acp] The context holds";

/** What an answer of `acp_status` says of the view. */
export interface Figures {
	readonly sizeTokens: number;
	/** What the size may be off by: what is stated, else a percent; and half of the last digit shown. */
	readonly errorTokens: number;
	readonly isErrorStated: boolean;
	readonly wholeTokens: number;
	/** What a provider like o200k counts for the view that the answer speaks of. */
	readonly countedTokens: number;
}

/** The answers of `acp_status` among the last results of requests. */
export function figuresIn(requests: readonly RecordedRequest[]): readonly Figures[] {
	return requests.flatMap((request) => {
		const text = resultText(request.body.messages.findLast(isResult));
		const figures = text.startsWith("The view holds") ? readFigures(text) : undefined;
		return figures === undefined ? [] : { ...figures, countedTokens: countRequest(beforeLastResult(request)) };
	});
}

/** The first size of a view that a text states, in whatever words: of a window, or more than fits. */
export function readFigures(text: string): Omit<Figures, "countedTokens"> | undefined {
	const figures = /holds ([\d.]+[KM]?)(?: \(±([\d.]+[KM]?)\))?(?: tokens, more than the| of) ([\d.]+[KM]?)/.exec(text);
	if (figures === null) return undefined;
	const [, size = "", error, whole = ""] = figures;
	const sizeTokens = readTokens(size);
	const stated = error === undefined ? sizeTokens * 0.01 : readTokens(error) + roundingOf(error);
	return {
		sizeTokens,
		errorTokens: stated + roundingOf(size),
		isErrorStated: error !== undefined,
		wholeTokens: readTokens(whole),
	};
}

/** A number of tokens as we write it: `950`, `18.9K`, `1.2M`. */
export function readTokens(text: string): number {
	const scale = text.endsWith("K") ? 1_000 : text.endsWith("M") ? 1_000_000 : 1;
	return Number.parseFloat(text) * scale;
}

function roundingOf(text: string): number {
	return text.endsWith("M") ? 50_000 : text.endsWith("K") ? 50 : 0.5;
}

function refusal(words: Words, prompt: number, answer: number, window: number): string {
	if (words === "Anthropic") return `prompt is too long: ${prompt} tokens > ${window} maximum`;
	if (words === "OpenAI Responses") return "Your input exceeds the context window of this model.";
	return (
		`This model's maximum context length is ${window} tokens. However, you requested ${prompt + answer} tokens ` +
		`(${prompt} in the messages, ${answer} in the completion). Please reduce the length of the messages or completion.`
	);
}

function countMessage({ content, tool_calls: calls }: WireMessage): number {
	return frameTokens + countValue(content) + countValue(calls);
}

/** Counts the texts in a value, not the names of its fields nor its ids. */
function countValue(value: unknown): number {
	if (typeof value === "string") return countText(value);
	if (Array.isArray(value)) return value.reduce((sum: number, each) => sum + countValue(each), 0);
	if (typeof value !== "object" || value === null) return 0;
	if ("type" in value && (value.type === "image" || value.type === "image_url")) return imageTokens;
	return Object.entries(value).reduce((sum, [name, each]) => {
		if (unread.has(name)) return sum;
		return sum + (name === "input" ? countText(JSON.stringify(each)) : countValue(each));
	}, 0);
}

const unread: ReadonlySet<string> = new Set(["type", "id", "tool_use_id", "cache_control", "signature"]);

/** Requests repeat what they had before, so each text is counted once. */
function countText(text: string): number {
	const known = counted.get(text);
	if (known !== undefined) return known;
	const tokens = countTokens(text, { disallowedSpecial: new Set() });
	counted.set(text, tokens);
	return tokens;
}

const counted = new Map<string, number>();

/** A tool's result: of chat-completions, or in a user message of Anthropic's. */
function isResult({ role, content }: WireMessage): boolean {
	return role === "tool" || (Array.isArray(content) && content.some((part) => part?.type === "tool_result"));
}

/** The text of a result on either API. */
export function resultText(message: WireMessage | undefined): string {
	if (message === undefined || message.role === "tool" || !Array.isArray(message.content)) return textOf(message);
	return message.content
		.flatMap((part) => (part?.type === "tool_result" ? textOf({ role: "tool", content: part.content }) : []))
		.join("\n");
}

/** The nudge at the end of a request; undefined if it has none. */
export function nudgeOf({ body }: RecordedRequest): string | undefined {
	return textsOf(body.messages.at(-1)).findLast((text) => text.startsWith(nudgeStart));
}

/** The ranges a nudge offers, as `compress` takes them. */
export function offeredIn(nudge: string): readonly { startId: string; endId: string }[] {
	return [...nudge.matchAll(/startId (m\d+), endId (m\d+)/g)].map(([, startId = "", endId = ""]) => ({
		startId,
		endId,
	}));
}

/** What a reading model does beside reading. */
export interface Reading {
	/** The files of the project, in the order they are read. */
	files: readonly string[];
	/** Whether it folds all that a nudge offers, or leaves nudges alone. */
	folds: boolean;
	/** It asks for the status after so many files, and at the end. */
	statusEvery: number;
	/** It reads no further once a request counts so much. */
	untilTokens?: number;
}

/** A model that reads one file a step, asks for the status now and then, and ends. */
export function readingModel({
	files,
	folds,
	statusEvery,
	untilTokens = Number.POSITIVE_INFINITY,
}: Reading): (request: RecordedRequest) => Reply {
	const status: Reply = { toolCalls: [{ name: "acp_status", arguments: {} }] };
	let steps = files.flatMap((path, index): Reply[] => {
		const step = { toolCalls: [{ name: "read", arguments: { path } }] };
		return (index + 1) % statusEvery === 0 ? [step, status] : [step];
	});
	if (steps.at(-1) !== status) steps.push(status);
	return (request) => {
		const nudge = folds ? nudgeOf(request) : undefined;
		if (nudge !== undefined) return foldAll(nudge);
		if (steps.length > 1 && countRequest(request.body) >= untilTokens) steps = [status];
		return steps.shift() ?? { text: "All files are read." };
	};
}

/** A reply that folds all ranges that a nudge offers. */
export function foldAll(nudge: string): Reply {
	const content = offeredIn(nudge).map((range) => ({
		...range,
		summary: said(`What ${range.startId} to ${range.endId} said.`),
	}));
	return { toolCalls: [{ name: "compress", arguments: { content } }] };
}
