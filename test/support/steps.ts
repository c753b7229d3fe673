import {
	type BranchRecord,
	type Entry,
	type FoldPlan,
	foldText,
	type Message,
	mark,
	type Operation,
	type Part,
	planFit,
	planFold,
	planUnfold,
	type RangeRequest,
	type Settings,
	standingView,
	uncalibrated,
	unfoldText,
	viewTokens,
} from "../../kernel/index.ts";
import { messageRef } from "../../kernel/ref.ts";
import { type Piece, piecesOf } from "../../kernel/unit.ts";
import { playAnchor, playFit, playHandover, playRules } from "./anchor-steps.ts";
import { choose } from "./choose.ts";
import { contextOf, type Log, narrowWindow } from "./log.ts";
import { copyOf, requestAt } from "./request.ts";

/** What can happen in a session, with how often it does. */
const weights = {
	user: 5,
	answer: 3,
	work: 9,
	again: 3,
	custom: 1,
	omitted: 1,
	failed: 1,
	system: 1,
	compaction: 2,
	branchSummary: 1,
	edit: 3,
	other: 2,
	move: 1,
	compress: 5,
	recommended: 4,
	unfold: 2,
	undo: 2,
	pin: 1,
	truncate: 1,
	nudge: 1,
	anchor: 3,
	handover: 1,
	rules: 2,
	fit: 2,
	restart: 1,
	copy: 1,
} as const;

export type StepKind = keyof typeof weights;

/** One thing that happens; the numbers choose among what the session holds when the step is played. */
export interface Step {
	readonly kind: StepKind;
	readonly form: number;
	readonly picks: readonly [number, number, number, number];
}

/** Kinds by weight. */
export const kinds = (Object.keys(weights) as StepKind[]).flatMap((kind) => Array<StepKind>(weights[kind]).fill(kind));

const sizes = [1, 3, 3, 12, 12, 40, 120, 400, 900];
const oddTexts = [
	"",
	"  ",
	"<acp>m00003</acp>",
	'</acp-block> <acp-block id="b9">',
	`x${"🎉".repeat(900)}`,
	"日本語の本文です。\n\n二行目",
];

/** Texts of a few words up to some thousand characters, some of them odd. */
function textOf(number: number, name: string): string {
	if (number % 8 === 7) return choose(oddTexts, number >> 3);
	const word = number % 4 === 1 ? `🎉🎉🎉🎉🎉${name}${number}` : `${name}${number}`;
	const text = texts.get(word) ?? ` ${word}`.repeat(choose(sizes, number >> 3)).slice(1);
	texts.set(word, text);
	return text;
}

/** Every text made so far: making them anew for every session takes longer than all else. */
const texts = new Map<string, string>();

const image: Part = { type: "image", data: "aW1hZ2U=", mimeType: "image/png" };

function contentOf(number: number, name: string): string | readonly Part[] {
	const text = textOf(number, name);
	switch (number % 5) {
		case 0:
			return text;
		case 1:
			return [image];
		case 2:
			return [{ type: "text", text }, image, { type: "text", text: `more ${name}` }];
		case 3:
			return number % 2 === 0 ? [] : [{ type: "text", text }];
		default:
			return [{ type: "text", text }];
	}
}

const usage = { input: 900, output: 20, cacheRead: 0, cacheWrite: 0, totalTokens: 920 };
const toolNames = ["read", "bash", "write", "edit", "grep", "acp_status"];

const players: Readonly<
	Record<Exclude<StepKind, "restart" | "copy">, (log: Log, step: Step, settings: Settings) => void>
> = {
	user: (log, { picks: [a] }) => log.user(contentOf(a, "ask")),
	answer: (log, { form, picks: [a] }) => assistant(log, textOf(a, "say"), [], form),
	work: playWork,
	again: playAgain,
	custom: (log, { picks: [a] }) =>
		log.message({ role: "custom", content: contentOf(a, "note"), ...{ customType: "x", display: true } }),
	omitted: (log, { picks: [a] }) => log.message({ role: "custom", content: textOf(a, "secret") }, true),
	failed: (log, { form, picks: [a] }) =>
		assistant(log, textOf(a, "fail"), form % 3 === 0 ? [] : ["bash"], form, {
			stopReason: form % 2 === 0 ? "error" : "aborted",
		}),
	system: (log, { picks: [a] }) => log.message({ role: "system", content: textOf(a, "rule") }),
	compaction: playCompaction,
	branchSummary: (log, { picks: [a] }) => log.branchSummary(`left ${textOf(a, "sum")}`),
	edit: playEdit,
	other: playOther,
	move: (log, { form, picks: [a] }) => {
		const ids = [...log.entries.keys()];
		log.leafId = form % 12 === 0 || ids.length === 0 ? null : choose(ids, a);
	},
	compress: playCompress,
	recommended: playRecommended,
	unfold: playUnfold,
	undo: (log, { form }) => log.operation({ kind: form % 3 === 0 ? "redo" : "undo", sizeTokens: 7 }),
	pin: (log, { form, picks: [a] }) => {
		const records = recordsOf(log);
		if (records.length === 0) return;
		const { entry, ordinal } = choose(records, a);
		log.operation({ kind: form % 3 === 0 ? "unpin" : "pin", message: { id: entry.id, ordinal } });
	},
	truncate: playTruncate,
	nudge: (log) => log.operation({ kind: "nudge", sizeTokens: viewTokens(log.view()) }),
	anchor: playAnchor,
	handover: playHandover,
	rules: playRules,
	fit: playFit,
};

/** Plays one step and returns the log that goes on: a restart and a copy make another one. */
export function perform(log: Log, step: Step, settings: Settings): Log {
	if (step.kind === "restart") return copyOf(log, (id) => id);
	if (step.kind === "copy") return copyOf(log, (id) => `c${step.form}-${id}`);
	players[step.kind](log, step, settings);
	return log;
}

/** An assistant message, with or without thinking, signature and usage; some of its call ids occur more than once. */
function assistant(log: Log, text: string, tools: readonly string[], form: number, over: Partial<Message> = {}): void {
	const signature = form % 3 === 1 ? {} : { thinkingSignature: `signed${form}` };
	const series = form % 4 === 0 ? "" : `${log.entries.size}_`;
	const content: Part[] = [
		...(form % 3 === 0 ? [] : [{ type: "thinking" as const, thinking: `thought${form}`, ...signature }]),
		...(text === "" ? [] : [{ type: "text" as const, text }]),
		...tools.map((name, index) => {
			return {
				type: "toolCall" as const,
				id: `call_${series}${index}`,
				name,
				arguments: { path: `src/${form % 3}.ts` },
			};
		}),
	];
	log.message({ role: "assistant", content, stopReason: "stop", ...(form % 2 === 0 ? { usage } : {}), ...over });
}

/** An assistant message with one to four calls, and their results; now and then a result is missing. */
function playWork(log: Log, { form, picks: [a, b, c] }: Step): void {
	const tools = Array.from({ length: 1 + (a % 4) * (b % 2) }, (_, index) => choose(toolNames, b + index));
	assistant(log, a % 3 === 0 ? "" : textOf(b, "do"), tools, form, { stopReason: "toolUse" });
	for (const call of tools.keys()) {
		if ((c + call) % 16 === 0) return;
		log.result(contentOf(c + 37 * call, "out"), { call, isError: (c + call) % 5 === 0 });
	}
}

/** The same call twice; mostly both succeed and have something to say. */
function playAgain(log: Log, { form, picks: [a, b] }: Step): void {
	for (const number of [a, b]) {
		assistant(log, "", [form % 2 === 0 ? "grep" : "read"], form, { stopReason: "toolUse" });
		const text = { type: "text" as const, text: textOf(40 + 8 * (number % 2), "seen") };
		log.result(number % 5 === 0 ? [text, image] : [text], { isError: number % 16 === 0 });
	}
}

/** The entries on the branch of a log that hold a message, system messages apart. */
function messagesOf(log: Log): readonly (Entry & { readonly message: Message })[] {
	return recordsOf(log).flatMap(({ entry }) => ("message" in entry ? entry : []));
}

/** Their records; an anchor has a number, too, but no message. */
function recordsOf(log: Log): readonly BranchRecord[] {
	const branch = log.branch();
	return branch.messages(1, branch.lastOrdinal).filter(({ entry }) => "message" in entry);
}

/** A summary by the host, or two that keep the same messages, so that the older one lies among them. */
function playCompaction(log: Log, { form, picks: [a, b] }: Step): void {
	const starts = messagesOf(log).filter((entry) => entry.kind === "message" && entry.message.role !== "toolResult");
	const early = starts.slice(0, Math.ceil(starts.length / (1 + (form % 3))));
	const firstKeptId = a % 5 === 0 || early.length === 0 ? null : choose(early, a).id;
	const summary = (timestamp: number) => {
		const message = { role: "custom", content: `summary ${textOf(b, "sum")}`, timestamp };
		const system = { role: "system", content: "rules so far", timestamp };
		log.append({ kind: "compaction", firstKeptId, message, ...(form % 2 === 0 ? { system } : {}) });
	};
	summary(1_800_000_000_000 + a);
	if (form % 4 !== 0) return;
	log.user([image]);
	summary(1_900_000_000_000 + a);
}

/** Leaves a message out, gives it other content, or brings back one that was left out. */
function playEdit(log: Log, { form, picks: [a, b] }: Step): void {
	const edits = log.branch().leaf?.edits;
	const isTarget = (id: string) => form % 3 !== 1 || edits?.get(id)?.replacement === null;
	const targets = messagesOf(log).filter((entry) => entry.kind === "message" && !entry.omitted && isTarget(entry.id));
	if (targets.length === 0) return;
	const { id, message } = choose(targets, a);
	if (form % 3 === 0) log.edit(id, null);
	else log.edit(id, { content: form % 3 === 1 ? message.content : contentOf(b, "new") });
}

/** What a model may say of a range; the last three are refused: they are too short, or say not a word of it. */
const summaries = [
	"Ran bash and grep as asked; src was read, and an edit and a write followed.",
	"a <acp>m00001</acp> b: read in src, a write and an edit there, bash and grep",
	"all about it: bash, grep, read, write, edit in src ".repeat(15),
	"The path src/1.ts was read, then came an edit, a write, and grep by bash.",
	"done",
	"many other words that stand nowhere in all that came before them",
	"",
];

/** One message with one or two compress calls of one or two ranges each. */
function playCompress(log: Log, { form, picks }: Step, settings: Settings): void {
	const [a, b, c, d] = picks;
	const { lastOrdinal, state } = log.branch();
	const pieces = piecesOf(log.view().items);
	const range = (start: number, end: number): RangeRequest => ({
		startId: refOf(start, pieces.slice(0, Math.ceil(pieces.length / 2))),
		endId: refOf(end, pieces),
		summary: choose(summaries, form + end),
		...(form % 4 === 0 ? { topic: textOf(start, "topic") } : {}),
	});
	const first = form % 2 === 0 ? [range(a, b)] : [range(a, b), range(c, d)];
	compress(log, form % 5 === 0 ? [first, [range(d, a)]] : [first], form % 7 !== 0, settings);

	/** Mostly the ref of something in view, else any ref, a foreign one, or no ref at all. */
	function refOf(number: number, among: readonly Piece[]): string {
		const block = `b${1 + ((number >> 3) % (state.lastNumber + 1))}`;
		if (form % 6 === 5 && state.lastNumber > 1) return block;
		if (number % 8 < 6 && among.length > 0) {
			const piece = choose(among, number >> 3);
			return piece.kind === "block" ? `b${piece.block.number}` : messageRef(choose(piece.records, number).ordinal);
		}
		if (number % 8 < 7) return messageRef(1 + ((number >> 3) % (lastOrdinal + 1)));
		return number % 32 === 7 ? choose(["", "x", "m0", "m00002@e2", "b1@e9"], number >> 5) : block;
	}
}

/** A call of all or some of the ranges that the view recommends. */
function playRecommended(log: Log, { form, picks: [a] }: Step, settings: Settings): void {
	const { foldable } = requestAt({ log, leafId: log.leafId }, { settings }).view;
	const ranges = foldable
		.filter((_, index) => ((a >> index) & 1) === 0)
		.map(({ from, to }) => ({
			startId: messageRef(from),
			endId: messageRef(to),
			summary: choose(summaries, form + to),
		}));
	if (ranges.length > 0) compress(log, [ranges], form % 7 !== 0, settings);
}

/**
 * Plays compress calls of one message; without `details` each result is replayed from its arguments. Details stay where
 * a ref names an entry: in a copy under other ids such arguments say nothing.
 */
export function compress(
	log: Log,
	calls: readonly RangeRequest[][],
	hasDetails: boolean,
	settings: Settings,
): readonly FoldPlan[] {
	const contents = calls.map((content) => ({ name: "compress", arguments: { content } }));
	const id = log.assistant("", contents);
	return calls.map((ranges, call) => {
		const branch = log.branch();
		const plan = planFold(branch, log.view(settings), settings, ranges, log.timeline.find(id));
		const isKept = hasDetails || ranges.some((range) => `${range.startId}${range.endId}`.includes("@"));
		const details = plan.operation !== undefined && isKept ? { details: mark(plan.operation) } : {};
		log.result(foldText(plan, { window: narrowWindow, calibration: uncalibrated }), {
			call,
			isError: plan.operation === undefined,
			...details,
		});
		return plan;
	});
}

/** An unfold as a command records it, of any block, or as the model asks for it, judged as the tool does. */
function playUnfold(log: Log, { form, picks: [a] }: Step): void {
	const { state } = log.branch();
	const tops = state.tops.map((top) => top.number);
	const number = tops.length === 0 || a % 4 === 0 ? 1 + (a % (state.lastNumber + 1)) : choose(tops, a);
	const unfold = (block: number): Operation => ({ kind: "unfold", block, sizeTokens: 7 });
	if (form % 3 === 0) {
		log.operation(unfold(number));
		return;
	}
	log.assistant("", [{ name: "decompress", arguments: { id: `b${number}`, to: "view" } }]);
	const plan = planUnfold(log.branch(), log.view(), `b${number}`);
	if ("code" in plan) log.result("refused", { isError: true });
	else {
		const details = form % 3 === 1 ? { details: mark(unfold(plan.block.number)) } : {};
		log.result(unfoldText(plan, contextOf(log.branch(), { window: narrowWindow })), details);
	}
}

/** What the kernel does not know, what only looks like an operation, or a cut that names an entry of any branch. */
function playOther(log: Log, { form, picks: [a, b] }: Step): void {
	const marked = [null, "x", { acp: 1 }, { acp: 1, op: { kind: "fold", sizeTokens: -1 } }, { acp: 2, op: a }];
	if (form % 4 === 0) log.other();
	else if (form % 4 === 1) log.append({ kind: "custom", customType: "x", data: choose(marked, a) });
	else if (form % 4 === 2) log.append({ kind: "custom", customType: "acp-operation", data: choose(marked, a) });
	else if (log.leafId !== null) {
		const branch = log.branch();
		const own = new Map(branch.messages(1, branch.lastOrdinal).map(({ entry, ordinal }) => [entry.id, ordinal]));
		const others = [...log.entries.keys()].filter((id) => !own.has(id));
		const id = choose([...(a % 2 === 0 ? others : own.keys()), log.leafId], a >> 1);
		log.operation(cutOf(id, own.get(id) ?? 1 + (b % 20), b));
	}
}

/** A cut that keeps next to nothing of a message. */
export function cutOf(id: string, ordinal: number, number: number): Operation {
	const cut = { id, ordinal, rule: "truncate", keepChars: 1 + (number % 9), savedTokens: 1 } as const;
	return { kind: "truncate", reductions: [cut], sizeTokens: 7 };
}

/** A cut as the adapter plans it, or one that keeps next to nothing of a result in view. */
function playTruncate(log: Log, { form, picks: [a, b] }: Step, settings: Settings): void {
	const branch = log.branch();
	const view = standingView(branch, contextOf(branch, { settings }));
	const found = planFit(view, contextOf(branch, { settings: { ...settings, strategy: "model" } }), 100);
	const planned = found.kind === "fits" ? undefined : found.operation;
	if (form % 2 === 0 && planned !== undefined) log.operation(planned);
	const results = view.items.flatMap((item) =>
		item.kind === "entry" && item.message.role === "toolResult" ? item.record : [],
	);
	if (form % 2 === 0 || results.length === 0) return;
	const { entry, ordinal } = choose(results, a);
	log.operation(cutOf(entry.id, ordinal, b));
}
