import {
	type Context,
	defaultSettings,
	type Fit,
	Meter,
	type ModelTraits,
	outgoingItems,
	type Part,
	planAnchor,
	planFit,
	planRules,
	project,
	type Settings,
	toMessages,
	type View,
} from "../../kernel/index.ts";
import { foldableRanges } from "../../kernel/pipeline/recommend.ts";
import { messageRef } from "../../kernel/ref.ts";
import { piecesOf } from "../../kernel/unit.ts";
import { choose } from "./choose.ts";
import { Log, range, summaryOf } from "./log.ts";
import { sentByHost } from "./request.ts";

/** What can happen in a session that is hard on its window, with how often it does. */
const weights = { user: 4, answer: 2, work: 8, custom: 1, fold: 2, unfold: 1, pin: 1, switch: 1, anchor: 1 } as const;

export type HardStepKind = keyof typeof weights;

export const hardKinds = (Object.keys(weights) as HardStepKind[]).flatMap((kind) =>
	Array<HardStepKind>(weights[kind]).fill(kind),
);

/** One thing that happens; the numbers choose its form. `isAsked`: a request is made before it. */
export interface HardStep {
	readonly kind: HardStepKind;
	readonly form: number;
	readonly size: number;
	readonly isAsked: boolean;
}

export interface HardScript {
	readonly steps: readonly HardStep[];
	readonly strategy: "hybrid" | "rules";
	readonly windowTokens: number;
	/** Whether the provider reports what it counted, and how it counts. */
	readonly perToken: number | undefined;
}

/** A request as it is sent after everything was done to make it fit. */
export interface HardRequest {
	readonly context: Context;
	readonly view: View;
	readonly limitTokens: number;
	/** What was found before the last commit. */
	readonly found: Fit["kind"];
}

export const windows = [8_000, 12_000, 20_000, 32_000, 64_000, 128_000, 200_000];
const sizes = [10, 10, 60, 60, 300, 1_500, 6_000, 30_000, 200_000];
const tools = ["read", "bash", "write", "keep", "edit"];
const image: Part = { type: "image", data: "aW1hZ2U=", mimeType: "image/png" };

/** A session in which the model cares for nothing, and each request is made to fit as the adapter does it. */
export class HardSession {
	readonly log = new Log();
	readonly meter = new Meter();
	readonly settings: Settings;
	readonly #script: HardScript;
	#model: ModelTraits;
	#reportedTokens: number | undefined;

	constructor(script: HardScript) {
		this.#script = script;
		this.settings = { ...defaultSettings, strategy: script.strategy, protectedTools: ["keep"] };
		this.#model = this.#modelOf(script.windowTokens);
		this.log.message({ role: "system", content: textOf(300, "rule") });
		this.log.user("task");
	}

	#modelOf(windowTokens: number): ModelTraits {
		const key = `p/m${windowTokens}`;
		const traits = { answerMaxTokens: 8_192, countsAnswer: true, takesImages: true, needsAlternation: false };
		return { key, windowTokens, ...traits };
	}

	/** What the hook does with a request. */
	request(): HardRequest {
		let seen = this.#see();
		const rules = this.settings.strategy === "rules" ? planRules(seen.view, seen.context) : undefined;
		if (rules !== undefined) this.log.operation(rules);
		if (rules !== undefined) seen = this.#see();
		const limitTokens = Math.floor(seen.context.window.usableTokens * this.settings.compress.emergencyThresholdPercent);
		const found = planFit(seen.view, seen.context, limitTokens);
		if (found.kind !== "fits" && found.operation !== undefined) {
			this.log.operation(found.operation);
			seen = this.#see();
		}
		const { perToken } = this.#script;
		const estimate = seen.view.items.reduce((sum, item) => sum + item.sizeTokens, 2_000);
		this.#reportedTokens = perToken === undefined ? undefined : Math.round(estimate * perToken);
		return { ...seen, limitTokens, found: found.kind };
	}

	#see(): { readonly context: Context; readonly view: View } {
		const { log, settings } = this;
		const branch = log.branch();
		const context = this.meter.context(branch, { model: this.#model, settings, isActive: true });
		const outgoing = sentByHost({ log, leafId: log.leafId }).map((each) => each.message);
		return { context, view: project(outgoingItems(branch, outgoing), context) };
	}

	messages({ view, context }: HardRequest) {
		return toMessages({ ...view, nudge: undefined }, context);
	}

	play({ kind, form, size }: HardStep): void {
		const { log } = this;
		const text = textOf(choose(sizes, size), `${kind}${form % 7}`);
		switch (kind) {
			case "user":
				log.user(text);
				return;
			case "answer":
				this.#assistant(text, [], form);
				return;
			case "work":
				this.#work(text, form);
				return;
			case "custom":
				log.message({ role: "custom", content: text });
				return;
			case "fold":
				this.#fold(form, size);
				return;
			case "unfold": {
				const { tops } = log.branch().state;
				if (tops.length === 0) return;
				if (form % 3 === 0) log.operation({ kind: "undo", sizeTokens: 1 });
				else log.operation({ kind: "unfold", block: choose(tops, size).number, sizeTokens: 1 });
				return;
			}
			case "pin": {
				const record = log.branch().message(1 + (form % Math.max(1, log.branch().lastOrdinal)));
				const unit = record?.unit;
				if (unit !== undefined) {
					log.operation({ kind: "pin", message: { id: unit.entry.id, ordinal: unit.ordinal } });
				}
				return;
			}
			case "switch":
				this.#model = this.#modelOf(choose(windows, form));
				return;
			case "anchor": {
				const { view, context } = this.#see();
				const anchor = planAnchor(context.branch, view);
				if (anchor !== undefined) log.anchor(anchor.summary, anchor.firstKeptId, "rules so far");
			}
		}
	}

	#assistant(text: string, calls: Parameters<Log["assistant"]>[1], form: number): void {
		const count = this.#reportedTokens;
		const usage = count === undefined ? {} : { usage: { ...noUsage, input: count, output: 9, totalTokens: count + 9 } };
		const [provider, model] = this.#model.key?.split("/") ?? [];
		const id = this.log.assistant(text, calls, { ...usage, ...(provider && model ? { provider, model } : {}) });
		const entry = this.log.entries.get(id);
		if (form % 3 !== 0 || entry?.kind !== "message" || typeof entry.message.content === "string") return;
		const thinking = { type: "thinking", thinking: "hm", thinkingSignature: "signed" };
		this.log.entries.set(id, {
			...entry,
			message: { ...entry.message, content: [thinking, ...entry.message.content] },
		});
	}

	/** Work with a large argument of one text or of many short ones, a large result, an image, or no result at all. */
	#work(text: string, form: number): void {
		const isArgument = form % 5 === 1;
		const words = form % 2 === 0 ? text : text.split(" ");
		const name = choose(tools, form >> 2);
		const calls = Array.from({ length: 1 + (form % 4 === 3 ? 2 : 0) }, () => ({
			name,
			arguments: { path: `src/${form % 5}.ts`, ...(isArgument ? { content: words } : {}) },
		}));
		this.#assistant(form % 6 === 0 ? "looking" : "", calls, form);
		for (const call of calls.keys()) {
			if (form % 16 === 5) return;
			const output = form % 16 === 6 ? "" : isArgument ? "done" : text;
			const content = form % 16 === 7 ? Array<Part>(20).fill(image) : output;
			this.log.result(content, { call, isError: form % 16 === 8 });
		}
	}

	/** The model folds the oldest range there is, now and then with a summary that is hardly shorter. */
	#fold(form: number, size: number): void {
		const { view, context } = this.#see();
		const [oldest] = foldableRanges(piecesOf(view.items), this.settings, context.branch);
		if (oldest === undefined) return;
		const more = textOf(form % 3 === 0 ? choose(sizes, size) : 60, "sum");
		const summary = `${summaryOf(context.branch, oldest.from, oldest.to)}\n${more}`;
		this.log.compress([range(messageRef(oldest.from), messageRef(oldest.to), summary)], this.settings);
	}
}

const noUsage = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 0 };

const texts = new Map<string, string>();

/** A text of about so many tokens; making large ones anew takes long. */
function textOf(sizeTokens: number, word: string): string {
	const key = `${sizeTokens} ${word}`;
	const text = texts.get(key) ?? ` ${word}`.repeat(Math.ceil(sizeTokens / 2)).slice(1);
	texts.set(key, text);
	return text;
}
