import { type Context, defaultSettings, type Message, Meter, type ModelTraits, readingOf } from "../../kernel/index.ts";
import type { Conditions } from "../../kernel/meter/meter.ts";
import { estimateOf } from "../../kernel/view.ts";
import { type Call, Log, words } from "./log.ts";

/** A model with a window of 200,000 tokens. */
export const bigModel: ModelTraits = {
	key: "acme/big",
	windowTokens: 200_000,
	answerMaxTokens: 8_000,
	countsAnswer: true,
	takesImages: true,
	needsAlternation: false,
};

/** An answer of `acme/big` to a request of so many tokens, as the provider counted it; no usage for undefined. */
export function answer(
	log: Log,
	reportedTokens: number | undefined,
	{ text = "ok", calls = [], ...over }: Partial<Message> & { text?: string; calls?: readonly Call[] } = {},
): string {
	const input = reportedTokens ?? 0;
	const usage = { input, output: 5, cacheRead: 0, cacheWrite: 0, totalTokens: input + 5 };
	const reported = reportedTokens === undefined ? {} : { usage };
	return log.assistant(text, calls, { provider: "acme", model: "big", ...reported, ...over });
}

/** A request to `acme/big` that failed. */
export function failure(log: Log, errorMessage: string, over: Partial<Message> = {}): string {
	return log.assistant("", [], { provider: "acme", model: "big", stopReason: "error", errorMessage, ...over });
}

/** The context at the leaf of a log, by a meter that sees it for the first time unless one is given. */
export function contextAt(log: Log, over: Partial<Conditions> = {}, meter = new Meter()): Context {
	return meter.context(log.branch(), { model: bigModel, settings: defaultSettings, isActive: true, ...over });
}

/** The size of the view at the leaf of a log. */
export function sizeAt(log: Log, over: Partial<Conditions> = {}): number {
	const { calibration } = contextAt(log, over);
	return readingOf(calibration, estimateOf(log.view(), calibration)).sizeTokens;
}

/** A prompt of about 28,000 estimated tokens, and the answer of `acme/big` to it. */
export function asked(reportedTokens: number | undefined): Log {
	const log = new Log();
	log.user(words(28_000));
	answer(log, reportedTokens);
	return log;
}
