import type { Window } from "./meter/window.ts";
import type { CompressSettings, Settings } from "./settings.ts";

/** Windows of this size and more get the settings as they are; smaller ones get their share of them. */
export const fullWindowTokens = 128_000;

/** How eagerly the model is asked to fold. */
export type PaceName = "thrifty" | "balanced" | "relaxed";

/** `compress.keepTokens` and `compress.stepTokens` for each pace, on windows of 128K and more. */
export const paces: Readonly<Record<PaceName, Pick<CompressSettings, "keepTokens" | "stepTokens">>> = {
	thrifty: { keepTokens: 15_000, stepTokens: 22_000 },
	balanced: { keepTokens: 15_000, stepTokens: 30_000 },
	relaxed: { keepTokens: 20_000, stepTokens: 50_000 },
};

/** The sizes at which a model is asked to fold, in the provider's tokens. */
export interface Pace {
	readonly keepTokens: number;
	readonly stepTokens: number;
	/** Sizes of the whole view from which on the tone changes. */
	readonly pressureTokens: number;
	readonly emergencyTokens: number;
}

/** Shares of the usable window. At `guaranteeShare` of it a request is made to fit without the model. */
const pressureShare = 0.75;
const emergencyShare = 0.9;
const guaranteeShare = 0.95;

/**
 * The pace for a window. `fitTokens` is what a request may take before it is made to fit; where that is less than usual, the
 * tone changes as much earlier.
 */
export function paceOf({ compress }: Settings, window: Window, fitTokens = Number.POSITIVE_INFINITY): Pace {
	const share = Math.min(1, window.limitTokens / fullWindowTokens);
	const wholeTokens = Math.min(window.usableTokens, fitTokens / guaranteeShare);
	return {
		keepTokens: compress.keepTokens * share,
		stepTokens: compress.stepTokens * share,
		pressureTokens: wholeTokens * pressureShare,
		emergencyTokens: wholeTokens * emergencyShare,
	};
}
