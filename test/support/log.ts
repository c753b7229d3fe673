import {
	type Branch,
	blockMessageType,
	blockRef,
	type Context,
	defaultSettings,
	type Entry,
	type FoldPlan,
	foldText,
	type Message,
	mark,
	type Operation,
	operationEntryType,
	outgoingItems,
	type Part,
	planFold,
	project,
	type RangeRequest,
	replayCall,
	type Settings,
	standingView,
	Timeline,
	textOf,
	toMessages,
	toolCalls,
	uncalibrated,
	type View,
	type Window,
} from "../../kernel/index.ts";
import { isThinking, parts } from "../../kernel/message.ts";
import { branchItems, sentMessage } from "../../kernel/sent.ts";

export { blockMessageType };

/** A call of a tool, as `log.assistant` takes it. */
export interface Call {
	readonly name: string;
	readonly id?: string;
	readonly arguments?: Readonly<Record<string, unknown>>;
}

/** A window large enough that nothing is nudged or cut. */
export const wideWindow: Window = { limitTokens: 1_000_000, usableTokens: 900_000, source: "model" };

/** A window so small that nudges are due all the time. */
export const narrowWindow: Window = { limitTokens: 2_000, usableTokens: 1_500, source: "model" };

/** What the words of an answer need of a context. */
export const wideContext = { window: wideWindow, calibration: uncalibrated };

/** Settings under which only the last user message and the call itself are protected. */
export const bareSettings: Settings = { ...defaultSettings, preserveRecentMessages: 0, preserveRecentTokens: 0 };

/**
 * A summary as a model could write it: one of a word or two, or of made-up `words`, goes on with what most ranges of these
 * tests are about.
 */
export function said(summary: string): string {
	if (summary.trim() === "" || (summary.length >= 50 && !/^\S+\d \S+\d /.test(summary))) return summary;
	return `${summary} Each question had its answer: files were read, an edit or a write came of the task, bash was run.`;
}

/** A summary of the messages from one ordinal to another, in words of theirs. */
export function summaryOf(branch: Branch, from: number, to: number): string {
	const texts = branch.messages(Math.min(from, to), Math.max(from, to)).flatMap((record) => {
		const message = sentMessage(branch, record);
		if (message === undefined) return [];
		const thoughts = parts(message).flatMap((part) => (isThinking(part) ? part.thinking : []));
		return [textOf(message).slice(0, 40), ...thoughts, ...toolCalls(message).map((call) => call.name)];
	});
	const words = new Set(texts.flatMap((text) => text.match(/[\p{L}\p{N}_]+/gu) ?? []));
	return `What was done there, as far as a few words of it can tell: ${[...words].slice(0, 40).join(" ")}`;
}

/** A range of a compress call; of one message if no end is given. */
export function range(startId: string, endId = startId, summary = "What was found.", topic?: string): RangeRequest {
	return { startId, endId, summary: said(summary), ...(topic === undefined ? {} : { topic }) };
}

/** A view in short: `m5` for a message, `b1` for a block, the role for a foreign message. */
export function shown(view: View): readonly string[] {
	return view.items.map((item) => {
		if (item.kind === "block") return blockRef(item.block.number);
		return item.kind === "entry" ? `m${item.record.ordinal}` : item.message.role;
	});
}

/** A context for stages, everything on and nothing due unless told otherwise. */
export function contextOf(branch: Branch, over: Partial<Context> = {}): Context {
	return {
		branch,
		settings: defaultSettings,
		...wideContext,
		isActive: true,
		takesImages: true,
		isAlternating: false,
		...over,
	};
}

/** A session log built entry by entry. Each method appends to the current leaf and returns the new entry's id. */
export class Log {
	readonly entries = new Map<string, Entry>();
	leafId: string | null = null;
	#clock = 1_700_000_000_000;
	#calls = 0;
	readonly timeline = new Timeline(replayCall);

	/** The branch at the leaf, or at any other entry. */
	branch(leafId: string | null = this.leafId): Branch {
		return this.timeline.branch(leafId, (id) => this.entries.get(id));
	}

	user(text: string | readonly Part[]): string {
		return this.message({ role: "user", content: text });
	}

	/** An assistant message with text and calls. */
	assistant(text: string, calls: readonly Call[] = [], over: Partial<Message> & { thinking?: string } = {}): string {
		const { thinking, ...rest } = over;
		const content: Part[] = [
			...(thinking === undefined ? [] : [{ type: "thinking" as const, thinking }]),
			...(text === "" ? [] : [{ type: "text" as const, text }]),
			...calls.map((call) => ({
				type: "toolCall" as const,
				id: call.id ?? `call_${++this.#calls}`,
				name: call.name,
				arguments: call.arguments ?? {},
			})),
		];
		return this.message({ role: "assistant", content, stopReason: calls.length > 0 ? "toolUse" : "stop", ...rest });
	}

	/** The result of a call; of the nth call of the last assistant message if no id is given. */
	result(text: string | readonly Part[], over: Partial<Message> & { call?: number } = {}): string {
		const { call = 0, ...rest } = over;
		const made = [...this.entries.values()].findLast(
			(entry) => entry.kind === "message" && entry.message.role === "assistant",
		);
		const calls =
			made?.kind === "message" && typeof made.message.content !== "string"
				? made.message.content.filter((part) => part.type === "toolCall")
				: [];
		const found = calls[call];
		const named =
			found !== undefined && "id" in found && "name" in found
				? { toolCallId: String(found.id), toolName: String(found.name) }
				: {};
		const content = typeof text === "string" ? [{ type: "text" as const, text }] : text;
		return this.message({ role: "toolResult", content, isError: false, ...named, ...rest });
	}

	/** One step of work: a call of a tool and its result. */
	step(name: string, args: Readonly<Record<string, unknown>>, output: string): void {
		this.assistant("", [{ name, arguments: args }]);
		this.result(output);
	}

	message(message: Omit<Message, "timestamp"> & { readonly timestamp?: number }, omitted = false): string {
		const timestampMs = message.timestamp ?? this.#clock + 1_000;
		return this.append({ kind: "message", message: { timestamp: timestampMs, ...message }, omitted });
	}

	/** A summary by the host that keeps everything from `firstKeptId` on. */
	compaction(summary: string, firstKeptId: string | null): string {
		return this.append({
			kind: "compaction",
			firstKeptId,
			message: { role: "custom", content: summary, timestamp: this.#clock + 1_000 },
		});
	}

	branchSummary(summary: string): string {
		return this.append({
			kind: "branchSummary",
			message: { role: "custom", content: summary, timestamp: this.#clock + 1_000 },
		});
	}

	/** A later edit of an entry; null leaves it out. */
	edit(targetId: string, replacement: { content: string | readonly Part[] } | null): string {
		return this.append({ kind: "edit", targetId, replacement });
	}

	/** An anchor, as the host writes the draft of one; it keeps everything from `firstKeptId` on. */
	anchor(summary: string, firstKeptId: string | null, rules?: string): string {
		const timestamp = this.#clock + 1_000;
		const shownAs = { role: "custom", content: summary, timestamp };
		const system = rules === undefined ? {} : { system: { role: "system", content: rules, timestamp } };
		return this.append({ kind: "anchor", firstKeptId, shownAs, ...system });
	}

	operation(op: Operation): string {
		return this.append({ kind: "custom", customType: operationEntryType, data: mark(op) });
	}

	other(): string {
		return this.append({ kind: "other" });
	}

	append(body: { readonly kind: Entry["kind"] } & Record<string, unknown>): string {
		this.#clock += 1_000;
		const id = `e${this.entries.size + 1}`;
		const entry = { ...body, id, parentId: this.leafId, timestampMs: this.#clock } as Entry;
		this.entries.set(id, entry);
		this.leafId = id;
		return id;
	}

	/** The view a compress call is judged against. */
	view(settings: Settings = defaultSettings): View {
		return standingView(this.branch(), contextOf(this.branch(), { settings }));
	}

	/** What the host would send without us. */
	outgoing(): readonly Message[] {
		return branchItems(this.branch()).map((item) => item.message);
	}

	/** What is sent in its place. */
	sent(over: Partial<Context> = {}): readonly Message[] {
		const branch = this.branch();
		const context = contextOf(branch, over);
		return toMessages(project(outgoingItems(branch, this.outgoing()), context), context);
	}

	/** Judges the nth compress call of the last assistant message and appends its result, changed by `over`. */
	answer(ranges: readonly RangeRequest[], call = 0, over: Partial<Message> = {}): FoldPlan {
		const branch = this.branch();
		const made = branch.messages(1, branch.lastOrdinal).findLast((record) => record.message?.role === "assistant");
		const plan = planFold(branch, this.view(bareSettings), bareSettings, ranges, made);
		const outcome = plan.operation === undefined ? { isError: true } : { details: mark(plan.operation) };
		this.result(foldText(plan, wideContext), { call, ...outcome, ...over });
		return plan;
	}

	/** Plays a compress call: the assistant calls it, it is judged, and its result is appended. */
	compress(ranges: readonly RangeRequest[], settings: Settings = defaultSettings): FoldPlan {
		const id = this.assistant("", [{ name: "compress", arguments: { content: ranges } }]);
		const branch = this.branch();
		const plan = planFold(branch, this.view(settings), settings, ranges, this.timeline.find(id));
		const text = foldText(plan, wideContext);
		if (plan.operation === undefined) this.result(text, { isError: true });
		else this.result(text, { details: mark(plan.operation) });
		return plan;
	}
}

/** Text of about so many tokens, different for each seed. */
export function words(sizeTokens: number, seed = "w"): string {
	return Array.from({ length: Math.ceil(sizeTokens / 2) }, (_, index) => `${seed}${index % 97}`).join(" ");
}
