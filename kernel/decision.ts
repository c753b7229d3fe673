import { type BlockRun, heaviestRun, isWorthIt } from "./distill.ts";
import { textOf } from "./message.ts";
import { meteredTokens, readingOf } from "./meter/calibration.ts";
import type { Estimate } from "./meter/fit.ts";
import type { Voice } from "./operation.ts";
import { type Pace, paceOf } from "./pace.ts";
import { next } from "./problem.ts";
import { meteredRanges, type Range } from "./unit.ts";
import { type Context, type EntryItem, estimateOf, itemTokens, type View, viewTokens } from "./view.ts";

/** What a nudge offers, in the provider's tokens. */
export interface Offer {
	/** Units that can be folded, oldest first. */
	readonly ranges: readonly Range[];
	/** Blocks to fold into one, if that is what is asked for. */
	readonly run: BlockRun | undefined;
}

/** Why a request is nudged, or not. */
export type Reason =
	| "inactive"
	| "rules"
	| "nothing"
	| "refused"
	| "little"
	| "grown little"
	| "asked enough"
	| "new"
	| "grown"
	| "fuller";

/** Whether a request is nudged, and all that this was decided by, in the provider's tokens. */
export interface Decision {
	readonly isDue: boolean;
	readonly reason: Reason;
	/** How a nudge on this request speaks. */
	readonly voice: Voice;
	readonly pace: Pace;
	/** Size of the view with all that the meter may be wrong by. */
	readonly fullTokens: number;
	readonly offer: Offer;
	readonly offeredTokens: number;
	readonly unfoldedTokens: number;
	/** Growth since the last nudge or commit; undefined if there was none, or the view fell far below it. */
	readonly grownTokens: number | undefined;
	/** Growth that makes a nudge due: a step, or less where folding is cheap. */
	readonly dueTokens: number;
}

/** A turn of the user begins: what came before is done. */
const turnShare = 0.75;

/** The provider's cache has run out: rewriting the view costs nothing more. Caches live five minutes. */
const idleShare = 0.5;
const cacheLifeMs = 300_000;

/** Nudges in the voice of an emergency: so many in a turn of the user, and so much of a step apart. */
const alarmLimit = 3;
const alarmShare = 0.125;

/** Decides by the view and the log alone, so that a restart and a fork decide the same. */
export function decide(view: View, context: Context): Decision {
	const { settings, window, calibration, fitTokens } = context;
	const pace = paceOf(settings, window, fitTokens);
	const { sizeTokens, errorTokens } = readingOf(calibration, estimateOf(view, calibration));
	const fullTokens = sizeTokens + errorTokens;
	const isFull = fullTokens >= pace.pressureTokens;
	const voice = fullTokens >= pace.emergencyTokens ? "emergency" : isFull ? "pressure" : "soft";
	const offer = offerOf(view, context, pace, isFull);
	const figures = {
		voice,
		pace,
		fullTokens,
		offer,
		offeredTokens: sum(offer.ranges) + (offer.run?.sizeTokens ?? 0),
		unfoldedTokens: meteredTokens(calibration, unfolded(view)),
		grownTokens: grown(view, context, pace),
		dueTokens: pace.stepTokens * momentShare(view),
	} as const;
	return { ...figures, ...verdict(view, context, figures) };
}

type Figures = Omit<Decision, "isDue" | "reason">;
type Verdict = Pick<Decision, "isDue" | "reason">;

function verdict(view: View, { isActive, settings, branch, calibration }: Context, figures: Figures): Verdict {
	const { voice, pace, offeredTokens, grownTokens } = figures;
	if (!isActive) return silent("inactive");
	if (settings.strategy === "rules") return silent("rules");
	if (offeredTokens === 0) return silent("nothing");
	const turn = lastTurn(view);
	if (sinceRefusal(turn) * calibration.fit.perToken < pace.stepTokens) return silent("refused");
	if (voice === "soft") return softly(figures);
	const { state } = branch;
	if (voice === "emergency") {
		const start = turn[0]?.record.ordinal ?? 0;
		const alarms = state.alarms.filter((ordinal) => ordinal >= start).length;
		if (alarms >= alarmLimit) return silent("asked enough");
		if (alarms === 0 || (state.voice !== undefined && state.voice !== voice)) return due("fuller");
		return byGrowth(grownTokens, pace.stepTokens * alarmShare);
	}
	return state.voice === "soft" ? due("fuller") : byGrowth(grownTokens, pace.stepTokens);
}

function softly({ unfoldedTokens, grownTokens, dueTokens, pace, offer }: Figures): Verdict {
	if (offer.run === undefined && unfoldedTokens - pace.keepTokens < dueTokens) return silent("little");
	return byGrowth(grownTokens, dueTokens);
}

function byGrowth(grownTokens: number | undefined, dueTokens: number): Verdict {
	if (grownTokens === undefined) return due("new");
	return grownTokens < dueTokens ? silent("grown little") : due("grown");
}

function silent(reason: Reason): Verdict {
	return { isDue: false, reason };
}

function due(reason: Reason): Verdict {
	return { isDue: true, reason };
}

/** Blocks are offered where they weigh as much as what else can be folded, or nothing else can and the window gets full. */
function offerOf(view: View, context: Context, { stepTokens }: Pace, isFull: boolean): Offer {
	const ranges = meteredRanges(view.foldable, context.calibration);
	const run = heaviestRun(view, context);
	if (run === undefined) return { ranges, run };
	const isMore = isWorthIt(run, stepTokens) && run.sizeTokens >= sum(ranges);
	return { ranges, run: isMore || (isFull && ranges.length === 0) ? run : undefined };
}

function sum(ranges: readonly Range[]): number {
	return ranges.reduce((tokens, range) => tokens + range.sizeTokens, 0);
}

function unfolded(view: View): Estimate {
	const entries = view.items.filter((item) => item.kind === "entry");
	return { sizeTokens: entries.reduce((tokens, item) => tokens + itemTokens(item), 0), messages: entries.length };
}

/**
 * The log keeps estimates: what the calibration learned since then must not look like growth. A view that fell by more than a
 * step was made smaller by somebody else.
 */
function grown(view: View, { branch, calibration }: Context, { stepTokens }: Pace): number | undefined {
	const { baseTokens } = branch.state;
	if (baseTokens === undefined) return undefined;
	const grownTokens = Math.round((viewTokens(view) - baseTokens) * calibration.fit.perToken);
	return grownTokens < -stepTokens ? undefined : grownTokens;
}

/** Where folding is cheap a nudge is due at less than a step. */
function momentShare(view: View): number {
	const last = view.items.at(-1);
	const answer = view.items.findLast((item) => item.message.role === "assistant");
	if (last === undefined || answer === undefined) return 1;
	if (last.message.timestamp - answer.message.timestamp > cacheLifeMs) return idleShare;
	return last.message.role === "user" ? turnShare : 1;
}

/** The messages since the last one of the user, itself included. */
function lastTurn({ items }: View): readonly EntryItem[] {
	const start = items.findLastIndex((item) => item.kind === "entry" && item.message.role === "user");
	return items.slice(Math.max(0, start)).filter((item) => item.kind === "entry");
}

/** Estimated tokens that came after the last call that was refused because nothing could be folded. */
function sinceRefusal(turn: readonly EntryItem[]): number {
	const refused = turn.findLastIndex(({ message }) => {
		const isOurs = message.role === "toolResult" && message.toolName === "compress" && message.isError === true;
		return isOurs && textOf(message).includes(next([]));
	});
	if (refused < 0) return Number.POSITIVE_INFINITY;
	return turn.slice(refused + 1).reduce((tokens, item) => tokens + itemTokens(item), 0);
}
