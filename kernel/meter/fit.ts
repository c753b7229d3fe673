/** Size of something that is or was sent, by the estimator alone. */
export interface Estimate {
	readonly sizeTokens: number;
	readonly messages: number;
}

/** Several sizes as one. */
export function sumOf(estimates: readonly Estimate[]): Estimate {
	return {
		sizeTokens: estimates.reduce((sum, each) => sum + each.sizeTokens, 0),
		messages: estimates.reduce((sum, each) => sum + each.messages, 0),
	};
}

/** What a provider counted for something, beside the estimate of it. */
export interface Sample {
	readonly estimate: Estimate;
	readonly reportedTokens: number;
}

/** How a model counts: tokens are about `perToken` for each estimated one and `perMessage` for each message. */
export interface Fit {
	readonly perToken: number;
	readonly perMessage: number;
	/** Share by which a figure made from an estimate alone may be off. */
	readonly errorShare: number;
}

/** Before the first report. Providers were seen to count up to a third more than o200k, which the estimator follows. */
export const unfitted: Fit = { perToken: 1, perMessage: 0, errorShare: 0.3 };

/** A fit stays within these bounds whatever is reported. */
const perTokenBounds = { least: 0.4, most: 3 };
const perMessageBounds = { least: 0, most: 50 };

/** Spread of the unknown coefficients around the unfitted ones, and of single reports around a fit. */
const perTokenSpread = 0.3;
const perMessageSpread = 20;
const reportSpread = 0.05;

/** The least error that is ever claimed for a figure made from an estimate alone. */
const leastErrorShare = 0.02;

/**
 * Fits the two coefficients to reports by least squares of the relative error. The unfitted ones count as prior knowledge
 * (ridge regression), so that few reports, or many alike, move them little.
 */
export function fitTo(samples: readonly Sample[]): Fit {
	if (samples.length === 0) return unfitted;
	const priorA = (reportSpread / perTokenSpread) ** 2;
	const priorB = (reportSpread / perMessageSpread) ** 2;
	let aa = priorA;
	let ab = 0;
	let bb = priorB;
	let ay = priorA;
	let by = 0;
	for (const { estimate, reportedTokens } of samples) {
		const a = estimate.sizeTokens / reportedTokens;
		const b = estimate.messages / reportedTokens;
		aa += a * a;
		ab += a * b;
		bb += b * b;
		ay += a;
		by += b;
	}
	const perMessage = within((aa * by - ab * ay) / (aa * bb - ab * ab), perMessageBounds);
	const perToken = within((ay - ab * perMessage) / aa, perTokenBounds);
	const errors = samples.map(({ estimate, reportedTokens }) => {
		return (perToken * estimate.sizeTokens + perMessage * estimate.messages) / reportedTokens - 1;
	});
	return { perToken, perMessage, errorShare: errorShareOf(errors) };
}

/** Twice the standard error, more while there are few reports. */
function errorShareOf(errors: readonly number[]): number {
	const spread = Math.sqrt(errors.reduce((sum, error) => sum + error * error, 0) / errors.length);
	return Math.max(leastErrorShare, 2 * spread, unfitted.errorShare / (errors.length + 1));
}

function within(value: number, { least, most }: { readonly least: number; readonly most: number }): number {
	return Math.min(most, Math.max(least, value));
}
