/** The window of a model in tokens, and what of it a request may fill. */
export interface Window {
	readonly limitTokens: number;
	/** The limit less what is kept free for the answer. */
	readonly usableTokens: number;
	/**
	 * Where the limit comes from: the user's settings; a refusal for size; failures of large requests that may have been
	 * refusals for size; a request larger than what the model declares that succeeded; the model; nowhere.
	 */
	readonly source: "settings" | "overflow" | "failures" | "success" | "model" | "default";
}

/** What bears on the window, the strongest first. Absent or 0: unknown. */
export interface WindowFacts {
	/** What the user set. */
	readonly overrideTokens?: number | undefined;
	/** What an overflow taught. */
	readonly learned?: { readonly limitTokens: number; readonly source: "overflow" | "failures" } | undefined;
	/** What the model declares. */
	readonly declaredTokens?: number | undefined;
	/** The largest request that the model took. */
	readonly largestTokens?: number | undefined;
	/** The most tokens the model answers with. */
	readonly answerMaxTokens?: number | undefined;
	/** False for providers that have a limit of its own for the answer. */
	readonly countsAnswer: boolean;
	/** Share of the window kept free for the answer, at most. */
	readonly headroomMax: number;
}

/** Stands in where no window is known: small enough to be safe, large enough not to fold at once. */
const defaultLimitTokens = 128_000;

/** How far beyond the largest success a window is believed to reach where the declared one proved wrong. */
const beyondSuccess = 1.25;

export function windowOf(facts: WindowFacts): Window {
	const { limitTokens, source } = limitOf(facts);
	const answerTokens = facts.countsAnswer ? facts.answerMaxTokens || Number.POSITIVE_INFINITY : 0;
	const headroomTokens = Math.min(answerTokens, limitTokens * facts.headroomMax);
	return { limitTokens, usableTokens: Math.floor(limitTokens - headroomTokens), source };
}

function limitOf(facts: WindowFacts): Pick<Window, "limitTokens" | "source"> {
	const { overrideTokens, learned, declaredTokens, largestTokens = 0 } = facts;
	if (overrideTokens) return { limitTokens: overrideTokens, source: "settings" };
	if (learned !== undefined) return learned;
	const limitTokens = declaredTokens || defaultLimitTokens;
	if (largestTokens > limitTokens) {
		return { limitTokens: Math.ceil(largestTokens * beyondSuccess), source: "success" };
	}
	return { limitTokens, source: declaredTokens ? "model" : "default" };
}
