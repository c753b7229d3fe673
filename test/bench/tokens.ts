import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { migrateSessionEntries, parseSessionEntries } from "@earendil-works/pi-coding-agent";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import {
	type Branch,
	defaultSettings,
	type Entry,
	estimateOf,
	type Message,
	Meter,
	readingOf,
	replayCall,
	standingView,
	Timeline,
	toMessages,
	uncalibrated,
} from "../../kernel/index.ts";
import { isText, isThinking, isToolCall, parts } from "../../kernel/message.ts";
import { estimateTokens } from "../../kernel/meter/estimate.ts";
import { modelKey } from "../../kernel/meter/evidence.ts";
import { reportedTokens } from "../../kernel/meter/usage.ts";
import { entryFromPi } from "../../src/transcript/from-pi.ts";
import { textKinds } from "../support/texts.ts";
import { BadInput, readLog } from "./check-log.ts";

const usage = "Usage: npm run bench:tokens -- --log FILE";

/** Requests of a model with a report before the meter counts as calibrated for it. */
const warmUpRequests = 20;

/** What the meter has to reach: the mean and the median of its errors; what the estimator has to, for each kind of text. */
const biasGoal = 0.03;
const medianGoal = 0.1;
const kindGoal = 0.1;

/** How one way of counting did: errors are shares of what the provider counted. */
export interface Score {
	readonly name: string;
	readonly bias: number;
	readonly median: number;
	readonly p95: number;
	readonly largest: number;
	/** Share of the requests that were further off than stated; undefined for a way that states no error. */
	readonly outside: number | undefined;
}

export interface Measured {
	readonly scores: readonly Score[];
	readonly warmUp: number;
	readonly measured: number;
}

/** The mean error on one kind of text, as a share of what o200k counts. */
export interface KindScore {
	readonly name: string;
	readonly estimator: number;
	readonly quarter: number;
}

/** What one way of counting says of a request. `errorTokens` is undefined where none is stated. */
interface Saying {
	readonly name: string;
	readonly sizeTokens: number;
	readonly errorTokens: number | undefined;
}

/** What a way of counting was off by in one request. */
interface Miss {
	readonly error: number;
	readonly isOutside: boolean | undefined;
}

/** Plays the branch of a log call by call: before each answer every way of counting sizes the request, then the answer tells. */
export function measure(entries: readonly Entry[]): Measured {
	const byId = new Map(entries.map((entry) => [entry.id, entry]));
	const branch = new Timeline(replayCall).branch(entries.at(-1)?.id ?? null, (id) => byId.get(id));
	const meter = new Meter();
	const count = counter();
	const seen = new Map<string, number>();
	const misses = new Map<string, Miss[]>();
	let [warmUp, measured] = [0, 0];
	for (const { record, key, tokens } of reportsOf(branch)) {
		const before = seen.get(key) ?? 0;
		seen.set(key, before + 1);
		if (before < warmUpRequests) {
			warmUp += 1;
			continue;
		}
		measured += 1;
		for (const { name, sizeTokens, errorTokens } of sayingsOf(branch.before(record), meter, key, count)) {
			const isOutside = errorTokens === undefined ? undefined : Math.abs(sizeTokens - tokens) > errorTokens;
			const miss = { error: sizeTokens / tokens - 1, isOutside };
			misses.set(name, [...(misses.get(name) ?? []), miss]);
		}
	}
	return { scores: [...misses].map(scoreOf), warmUp, measured };
}

/** The answers with a report of a provider, and the model that gave each. */
function reportsOf(branch: Branch) {
	return Array.from({ length: branch.length }, (_, depth) => branch.at(depth)).flatMap((record) => {
		const { message } = record ?? {};
		const [key, tokens] = message === undefined ? [] : [modelKey(message), reportedTokens(message)];
		return record === undefined || key === undefined || tokens === undefined ? [] : { record, key, tokens };
	});
}

function sayingsOf(branch: Branch, meter: Meter, key: string, count: (message: Message) => Counted): readonly Saying[] {
	const model = { key, countsAnswer: true, takesImages: true, needsAlternation: false };
	const context = meter.context(branch, { model, settings: defaultSettings, isActive: false });
	const { calibration } = context;
	const view = standingView(branch, context);
	const estimate = estimateOf(view);
	const counted = toMessages(view, context).map(count);
	const exactly = (name: string, sizeTokens: number) => ({ name, sizeTokens, errorTokens: undefined });
	return [
		{ name: "meter", ...readingOf(calibration, estimate) },
		{ name: "fit alone", ...readingOf({ ...calibration, anchor: undefined }, estimate) },
		{ name: "estimate alone", ...readingOf(uncalibrated, estimate) },
		exactly(
			"o200k",
			counted.reduce((sum, each) => sum + each.o200k, 0),
		),
		exactly("chars/4", Math.ceil(counted.reduce((sum, each) => sum + each.chars, 0) / 4)),
	];
}

interface Counted {
	readonly o200k: number;
	readonly chars: number;
}

/** Counts the text of a message as it goes on the wire, content and calls, once for each message; images count for nothing. */
function counter(): (message: Message) => Counted {
	const known = new WeakMap<Message, Counted>();
	return (message) => {
		const found = known.get(message);
		if (found !== undefined) return found;
		const text = parts(message).map(wireText).join("\n");
		const counted = { o200k: countTokens(text), chars: text.length };
		known.set(message, counted);
		return counted;
	};
}

function wireText(part: ReturnType<typeof parts>[number]): string {
	if (isText(part)) return part.text;
	if (isThinking(part)) return part.thinking;
	return isToolCall(part) ? `${part.name} ${JSON.stringify(part.arguments)}` : "";
}

function scoreOf([name, misses]: readonly [string, readonly Miss[]]): Score {
	const errors = misses.map(({ error }) => error);
	const sizes = errors.map(Math.abs).toSorted((a, b) => a - b);
	const at = (share: number) => sizes[Math.ceil(share * sizes.length) - 1] ?? 0;
	const stated = misses.flatMap(({ isOutside }) => isOutside ?? []);
	const outside = stated.length === 0 ? undefined : stated.filter(Boolean).length / stated.length;
	return { name, bias: mean(errors), median: at(0.5), p95: at(0.95), largest: at(1), outside };
}

function mean(values: readonly number[]): number {
	return values.reduce((sum, value) => sum + value, 0) / values.length;
}

/** The mean error of the estimator and of a quarter of the characters, for each kind of text. */
export function measureKinds(): readonly KindScore[] {
	return textKinds().map(({ name, texts }) => {
		const errors = (size: (text: string) => number) => mean(texts.map((text) => size(text) / countTokens(text) - 1));
		return { name, estimator: errors(estimateTokens), quarter: errors((text) => Math.ceil(text.length / 4)) };
	});
}

/** The goals that were missed, in words. */
function missedGoals({ scores }: Measured, kinds: readonly KindScore[]): readonly string[] {
	const meter = scores.find(({ name }) => name === "meter");
	const isUnbiased = meter !== undefined && Math.abs(meter.bias) <= biasGoal;
	const isClose = meter !== undefined && meter.median <= medianGoal;
	return [
		...(isUnbiased ? [] : [`the bias of the meter is more than ${percent(biasGoal, 0)}`]),
		...(isClose ? [] : [`the median error of the meter is more than ${percent(medianGoal, 0)}`]),
		...kinds
			.filter(({ estimator }) => Math.abs(estimator) > kindGoal)
			.map(({ name }) => `the estimator is more than ${percent(kindGoal, 0)} off for ${name}`),
	];
}

function readEntries(path: string): readonly Entry[] {
	const { header, lines } = readLog(path);
	const entries = parseSessionEntries([JSON.stringify(header), ...lines].join("\n"));
	migrateSessionEntries(entries);
	return entries.flatMap((entry) => (entry.type === "session" ? [] : entryFromPi(entry)));
}

/** The command line: 0 if the goals are met, 1 if not, 2 for bad input. */
export function main(args: readonly string[], print: (text: string) => void): number {
	try {
		const path = readArguments(args);
		const measured = measure(readEntries(path));
		if (measured.measured === 0) {
			throw new BadInput(
				`${path} holds ${measured.warmUp} requests with a provider's usage; the meter is measured from the ${warmUpRequests + 1}st of a model on.`,
			);
		}
		const kinds = measureKinds();
		const missed = missedGoals(measured, kinds);
		print(report(measured, kinds, missed));
		return missed.length === 0 ? 0 : 1;
	} catch (error) {
		if (!(error instanceof BadInput)) throw error;
		print(`${error.message}\n${usage}`);
		return 2;
	}
}

function readArguments(args: readonly string[]): string {
	try {
		const { log } = parseArgs({ args: [...args], options: { log: { type: "string" } } }).values;
		if (log !== undefined) return log;
	} catch (error) {
		throw new BadInput(error instanceof Error ? error.message : String(error));
	}
	throw new BadInput("No session log is given.");
}

function report(
	{ scores, warmUp, measured }: Measured,
	kinds: readonly KindScore[],
	missed: readonly string[],
): string {
	const ways = scores.map(({ name, bias, median, p95, largest, outside }) => [
		...[name, signed(bias), percent(median), percent(p95), percent(largest)],
		outside === undefined ? "-" : percent(outside),
	]);
	return [
		`${measured} requests measured against the usage their provider reported; ${warmUp} before them, the first ${warmUpRequests} of each model, served as warm-up.`,
		"The estimate alone, o200k and chars/4 know nothing of a system prompt or of tools that the log does not hold.",
		"",
		...table(
			["way of counting", "bias", "median error", "95th percentile", "largest", "outside the stated error"],
			ways,
		),
		"",
		"Kinds of text, mean error against o200k:",
		"",
		...table(
			["kind", "estimator", "chars/4"],
			kinds.map(({ name, estimator, quarter }) => [name, signed(estimator), signed(quarter)]),
		),
		"",
		missed.length === 0
			? `Goals met: bias within ${percent(biasGoal, 0)}, median error within ${percent(medianGoal, 0)}, each kind within ${percent(kindGoal, 0)}.`
			: `Goals missed: ${missed.join("; ")}.`,
	].join("\n");
}

/** Rows in columns: the first one to the left, the others to the right. */
function table(head: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
	const widths = head.map((name, column) => Math.max(name.length, ...rows.map((row) => row[column]?.length ?? 0)));
	return [head, ...rows].map((row) =>
		row.map((cell, column) => (column === 0 ? cell.padEnd : cell.padStart).call(cell, widths[column] ?? 0)).join("  "),
	);
}

function percent(share: number, digits = 2): string {
	return `${(100 * share).toFixed(digits)} %`;
}

function signed(share: number): string {
	return `${share < 0 ? "" : "+"}${percent(share)}`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
	process.exitCode = main(process.argv.slice(2), (text) => process.stdout.write(`${text}\n`));
}
