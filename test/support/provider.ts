import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";

/** A message as it stands on the wire; which further fields it has depends on the API. */
export interface WireMessage {
	role: string;
	content?: unknown;
	[field: string]: unknown;
}

/** A parsed request body, reduced to what all supported APIs share. */
export interface RequestBody {
	model: string;
	messages: WireMessage[];
	[field: string]: unknown;
}

/** One request the provider answered: `raw` holds the exact bytes as text, `index` counts from 0. */
export interface RecordedRequest {
	index: number;
	path: string;
	headers: IncomingHttpHeaders;
	raw: string;
	body: RequestBody;
}

/** A scripted call; `arguments` given as a string go out verbatim, so damaged JSON can be scripted too. */
export interface ScriptedCall {
	name: string;
	arguments: Record<string, unknown> | string;
	id?: string;
}

/** Reported usage; `promptTokens` includes `cachedTokens` on every API. */
export interface ScriptedUsage {
	promptTokens?: number;
	completionTokens?: number;
	cachedTokens?: number;
}

/** Why the scripted model stopped, in the words of chat-completions; translated for other APIs. */
export type FinishReason = "stop" | "length" | "tool_calls" | "content_filter";

/**
 * What the scripted model answers. `usage: null` reports no usage; `status` or `error` answer with an HTTP error
 * (status 400 if only `error` is given; an empty `error` has no body); `cut` breaks the stream off after the content,
 * without a finish reason.
 */
export interface Reply {
	text?: string;
	reasoning?: string;
	toolCalls?: ScriptedCall[];
	usage?: ScriptedUsage | null;
	finishReason?: FinishReason;
	delayMs?: number;
	status?: number;
	error?: string;
	cut?: boolean;
}

/** Replies by order of request, the last one repeating, or a function that decides for each request. */
export type Script = readonly Reply[] | ((request: RecordedRequest) => Reply | Promise<Reply>);

/** A running loopback provider; `url` has no path and no trailing slash. */
export interface Provider {
	url: string;
	requests: RecordedRequest[];
	/** Stops the server; rejects with the first error that the script threw. */
	close(): Promise<void>;
}

/** One API's way to write a reply: the frames up to the content's end, those that finish it, and an error's body. */
interface Dialect {
	content(reply: Reply, request: RecordedRequest): string[];
	ending(reply: Reply, request: RecordedRequest): string[];
	errorBody(message: string, status: number): unknown;
}

/**
 * Starts a model provider on 127.0.0.1 that speaks chat-completions (`…/chat/completions`) and the Anthropic
 * messages API (`…/messages`) as event streams and records every request.
 */
export async function startProvider(script: Script = [{ text: "ok" }]): Promise<Provider> {
	const requests: RecordedRequest[] = [];
	const failures: unknown[] = [];
	const closing = new AbortController();

	async function exchange(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
		const raw = await readText(incoming);
		const path = new URL(incoming.url ?? "/", "http://loopback").pathname;
		const dialect = dialectFor(path);
		const body = parseBody(raw);
		if (dialect === undefined || body === undefined) {
			sendJson(response, 404, { error: { message: `nothing scripted at ${path}` } });
			return;
		}
		const request = { index: requests.length, path, headers: incoming.headers, raw, body };
		requests.push(request);
		const reply = await scriptedReply(script, request).catch((error: unknown): Reply => {
			failures.push(error);
			return { status: 400, error: `The test's script threw: ${String(error)}` };
		});
		await sleep(reply.delayMs ?? 0, undefined, { signal: closing.signal });
		if (!response.destroyed) send(response, dialect, reply, request);
	}

	const server = createServer((incoming, response) => {
		response.shouldKeepAlive = false;
		exchange(incoming, response).catch((error: unknown) => {
			if (!closing.signal.aborted) failures.push(error);
			response.destroy();
		});
	});
	await new Promise<void>((resolve, reject) => {
		server.once("error", reject);
		server.listen(0, "127.0.0.1", resolve);
	});
	const { port } = server.address() as AddressInfo;
	return {
		url: `http://127.0.0.1:${port}`,
		requests,
		async close() {
			closing.abort();
			server.closeAllConnections();
			await new Promise((resolve) => server.close(resolve));
			if (failures.length > 0) throw failures[0];
		},
	};
}

async function readText(incoming: IncomingMessage): Promise<string> {
	const chunks: Buffer[] = [];
	for await (const chunk of incoming) chunks.push(chunk as Buffer);
	return Buffer.concat(chunks).toString("utf8");
}

function parseBody(raw: string): RequestBody | undefined {
	if (!raw.startsWith("{")) return undefined;
	const body: Partial<RequestBody> = JSON.parse(raw);
	return Array.isArray(body.messages) && typeof body.model === "string" ? (body as RequestBody) : undefined;
}

async function scriptedReply(script: Script, request: RecordedRequest): Promise<Reply> {
	if (typeof script === "function") return script(request);
	const reply = script[Math.min(request.index, script.length - 1)];
	if (reply === undefined) throw new RangeError("The script holds no reply.");
	return reply;
}

function send(response: ServerResponse, dialect: Dialect, reply: Reply, request: RecordedRequest): void {
	if (reply.status !== undefined || reply.error !== undefined) {
		const status = reply.status ?? 400;
		if (reply.error === "") response.writeHead(status).end();
		else sendJson(response, status, dialect.errorBody(reply.error ?? `scripted status ${status}`, status));
		return;
	}
	response.writeHead(200, { "content-type": "text/event-stream" });
	const content = dialect.content(reply, request).join("");
	if (reply.cut) response.write(content, () => response.destroy());
	else response.end(content + dialect.ending(reply, request).join(""));
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
	response.writeHead(status, { "content-type": "application/json" });
	response.end(JSON.stringify(body));
}

function dialectFor(path: string): Dialect | undefined {
	if (path.endsWith("/chat/completions")) return chatCompletions;
	if (path.endsWith("/messages")) return anthropicMessages;
	return undefined;
}

const chatCompletions: Dialect = {
	content(reply, request) {
		const deltas: unknown[] = [{ role: "assistant", content: "" }];
		for (const piece of pieces(reply.reasoning)) deltas.push({ reasoning_content: piece });
		for (const piece of pieces(reply.text)) deltas.push({ content: piece });
		for (const [index, call] of calls(reply, request).entries()) {
			const opening = { index, id: call.id, type: "function", function: { name: call.name, arguments: "" } };
			deltas.push({ tool_calls: [opening] });
			for (const piece of pieces(call.json)) deltas.push({ tool_calls: [{ index, function: { arguments: piece } }] });
		}
		return deltas.map((delta) => chunk(request, { choices: [{ index: 0, delta, finish_reason: null }] }));
	},
	ending(reply, request) {
		const frames = [chunk(request, { choices: [{ index: 0, delta: {}, finish_reason: finishReason(reply) }] })];
		const usage = reportedUsage(reply, request);
		if (usage !== undefined) frames.push(chunk(request, { choices: [], usage: chatUsage(usage) }));
		frames.push("data: [DONE]\n\n");
		return frames;
	},
	errorBody: (message, status) => ({ error: { message, type: errorType(status), code: null } }),
};

function chunk(request: RecordedRequest, fields: object): string {
	const envelope = { id: `chatcmpl-${request.index}`, object: "chat.completion.chunk", created: 1 };
	return `data: ${JSON.stringify({ ...envelope, model: request.body.model, ...fields })}\n\n`;
}

function chatUsage(usage: Required<ScriptedUsage>): unknown {
	return {
		prompt_tokens: usage.promptTokens,
		completion_tokens: usage.completionTokens,
		total_tokens: usage.promptTokens + usage.completionTokens,
		prompt_tokens_details: { cached_tokens: usage.cachedTokens },
	};
}

const ANTHROPIC_STOP: Record<FinishReason, string> = {
	stop: "end_turn",
	length: "max_tokens",
	tool_calls: "tool_use",
	content_filter: "refusal",
};

const anthropicMessages: Dialect = {
	content(reply, request) {
		const usage = reportedUsage(reply, request);
		const message = {
			id: `msg_${request.index}`,
			type: "message",
			role: "assistant",
			model: request.body.model,
			content: [],
			stop_reason: null,
			stop_sequence: null,
			usage: {
				// Anthropic counts what came from the cache apart from the input.
				input_tokens: usage === undefined ? 0 : usage.promptTokens - usage.cachedTokens,
				cache_read_input_tokens: usage?.cachedTokens ?? 0,
				cache_creation_input_tokens: 0,
				output_tokens: 0,
			},
		};
		const blocks = anthropicBlocks(reply, request).flatMap(([block, deltas], index) => [
			event("content_block_start", { index, content_block: block }),
			...deltas.map((delta) => event("content_block_delta", { index, delta })),
			event("content_block_stop", { index }),
		]);
		return [event("message_start", { message }), ...blocks];
	},
	ending(reply, request) {
		const usage = reportedUsage(reply, request);
		const delta = { stop_reason: ANTHROPIC_STOP[finishReason(reply)], stop_sequence: null };
		const reported = usage === undefined ? {} : { usage: { output_tokens: usage.completionTokens } };
		return [event("message_delta", { delta, ...reported }), event("message_stop", {})];
	},
	errorBody: (message, status) => ({ type: "error", error: { type: errorType(status), message } }),
};

function anthropicBlocks(reply: Reply, request: RecordedRequest): [block: object, deltas: object[]][] {
	const blocks: [object, object[]][] = [];
	if (reply.reasoning) {
		const deltas: object[] = pieces(reply.reasoning).map((thinking) => ({ type: "thinking_delta", thinking }));
		deltas.push({ type: "signature_delta", signature: `signature-${request.index}` });
		blocks.push([{ type: "thinking", thinking: "", signature: "" }, deltas]);
	}
	if (reply.text) {
		blocks.push([{ type: "text", text: "" }, pieces(reply.text).map((text) => ({ type: "text_delta", text }))]);
	}
	for (const { id, name, json } of calls(reply, request)) {
		const deltas = pieces(json).map((piece) => ({ type: "input_json_delta", partial_json: piece }));
		blocks.push([{ type: "tool_use", id, name, input: {} }, deltas]);
	}
	return blocks;
}

function event(type: string, fields: object): string {
	return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function errorType(status: number): string {
	if (status === 429) return "rate_limit_error";
	return status >= 500 ? "api_error" : "invalid_request_error";
}

function finishReason(reply: Reply): FinishReason {
	return reply.finishReason ?? (reply.toolCalls?.length ? "tool_calls" : "stop");
}

function calls(reply: Reply, request: RecordedRequest): { id: string; name: string; json: string }[] {
	return (reply.toolCalls ?? []).map((call, index) => ({
		id: call.id ?? `call_${request.index}_${index}`,
		name: call.name,
		json: typeof call.arguments === "string" ? call.arguments : JSON.stringify(call.arguments),
	}));
}

/** Figures default to a quarter of the characters, a cached part to none. */
function reportedUsage(reply: Reply, request: RecordedRequest): Required<ScriptedUsage> | undefined {
	if (reply.usage === null) return undefined;
	const written = calls(reply, request).map((call) => call.json);
	written.push(reply.text ?? "", reply.reasoning ?? "");
	return {
		promptTokens: Math.ceil(request.raw.length / 4),
		completionTokens: Math.ceil(written.join("").length / 4),
		cachedTokens: 0,
		...reply.usage,
	};
}

/** Cuts a text into at most nine deltas, never inside a surrogate pair. */
function pieces(text = ""): string[] {
	const length = Math.max(20, Math.ceil(text.length / 8));
	return text.match(new RegExp(`.{1,${length}}`, "gsu")) ?? [];
}
