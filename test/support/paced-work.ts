import { expect } from "vitest";
import { uncalibrated } from "../../kernel/index.ts";
import type { Calibration } from "../../kernel/meter/calibration.ts";
import { estimateTokens } from "../../kernel/meter/estimate.ts";
import type { Window } from "../../kernel/meter/window.ts";
import { advise } from "../../kernel/pipeline/index.ts";
import { type Context, estimateOf, type View } from "../../kernel/view.ts";
import { bareSettings, contextOf, Log } from "./log.ts";

/** A small pace, so that sessions stay short: a nudge at 4K beyond 2K, pressure at 75K, emergency at 90K. */
export const settings = {
	...bareSettings,
	compress: { ...bareSettings.compress, keepTokens: 2_000, stepTokens: 4_000 },
};
export const window: Window = { limitTokens: 128_000, usableTokens: 100_000, source: "model" };

/** Prose of which each sentence is like the other. */
export const sentence = "The parser reads one line after the other until it meets the end. ";
export const sentenceTokens = estimateTokens(sentence.repeat(100)) / 100;

/** A step of work of about so many tokens. */
export function work(log: Log, sizeTokens: number, name = "read"): void {
	const text = sentence.repeat(Math.round(sizeTokens / sentenceTokens));
	log.step(name, { path: `src/parser${log.entries.size}.ts` }, `${log.entries.size} ${text}`);
}

/** A task and a step of so many tokens after it. */
export function worked(sizeTokens: number): Log {
	const log = new Log();
	log.user("task");
	work(log, sizeTokens);
	return log;
}

/** A meter whose figure for a view is the estimate, give or take half a percent. */
function exactly(view: View): Calibration {
	const estimate = estimateOf(view);
	return { ...uncalibrated, anchor: { estimate, reportedTokens: estimate.sizeTokens, isForeign: false } };
}

/** What is decided of the next request. */
export function decided(log: Log, over: Partial<Context> = {}) {
	const view = log.view(settings);
	const context = contextOf(log.branch(), { settings, window, calibration: exactly(view), ...over });
	return advise(view, context).decision ?? expect.unreachable();
}
