import { type Estimate, type Fit, type Sample, unfitted } from "./fit.ts";

/** What is known of how the model in use counts, at one point of a branch. */
export interface Calibration {
	readonly fit: Fit;
	/** The last report that still says something of the present size; undefined where no provider reported any. */
	readonly anchor: Anchor | undefined;
}

/** A report to measure from. */
export interface Anchor extends Sample {
	/** True if another model reported it: it counts in its own way. */
	readonly isForeign: boolean;
}

/** A size in the provider's tokens. The true one is within `errorTokens` of it, as far as that is known. */
export interface Reading {
	readonly sizeTokens: number;
	readonly errorTokens: number;
}

export const uncalibrated: Calibration = { fit: unfitted, anchor: undefined };

/** The least error of a whole view beside a report: what another request of the same size was seen to differ by. */
const leastErrorShare = 0.005;

/** The least share by which what was added to or taken from an anchor may be off: kinds of text differ. */
const changeErrorShare = 0.15;

/** Provider's tokens of a part of a view, such as a range or a block: no report says anything of it alone. */
export function meteredTokens({ fit }: Calibration, { sizeTokens, messages }: Estimate): number {
	return Math.round(fit.perToken * sizeTokens + fit.perMessage * messages);
}

/**
 * The size of a whole view: what the provider reported last, and the estimated difference to the view it reported it for.
 * Where so much changed since that the whole can be told better than the difference, and before the first report, the
 * estimate of the whole alone.
 */
export function readingOf(calibration: Calibration, estimate: Estimate): Reading {
	const { fit, anchor } = calibration;
	const wholeTokens = meteredTokens(calibration, estimate);
	const byWhole = reading(wholeTokens, wholeTokens * Math.max(fit.errorShare, unfitted.errorShare));
	if (anchor === undefined) return byWhole;
	const changeTokens = wholeTokens - meteredTokens(calibration, anchor.estimate);
	const sizeTokens = anchor.reportedTokens + changeTokens;
	const changeShare = Math.max(changeErrorShare, fit.errorShare);
	const foreignTokens = anchor.isForeign ? sizeTokens * unfitted.errorShare : 0;
	const errorTokens = Math.max(Math.abs(changeTokens) * changeShare, foreignTokens, sizeTokens * leastErrorShare);
	// Shares decide: the smaller of two sizes has the smaller error for that reason alone.
	const isCloser = errorTokens * byWhole.sizeTokens <= byWhole.errorTokens * sizeTokens;
	return isCloser ? reading(sizeTokens, errorTokens) : byWhole;
}

function reading(sizeTokens: number, errorTokens: number): Reading {
	return { sizeTokens: Math.max(0, Math.round(sizeTokens)), errorTokens: Math.ceil(Math.max(0, errorTokens)) };
}
