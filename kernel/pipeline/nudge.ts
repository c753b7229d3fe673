import { meteredTokens } from "../meter/calibration.ts";
import type { Estimate } from "../meter/fit.ts";
import type { Settings } from "../settings.ts";
import { meteredRanges } from "../unit.ts";
import { type Context, type Stage, type View, viewReading, viewTokens } from "../view.ts";
import { nudgeText } from "../wording.ts";

/** Windows of this size and more get the settings as they are; smaller ones get their share of them. */
export const fullWindowTokens = 128_000;

/** Adds the nudge if one is due. */
export const nudge: Stage = (view, context) => {
	if (!context.isActive || !isDue(view, context)) return view;
	const { calibration, window } = context;
	const text = nudgeText(meteredRanges(view.foldable, calibration), viewReading(view, calibration), window);
	return { ...view, nudge: { text, sizeTokens: viewTokens(view) } };
};

/** Due if something can be folded, the unfolded part is large, and the view grew a step since the last nudge or commit. */
function isDue(view: View, { branch, settings, window, calibration }: Context): boolean {
	if (view.foldable.length === 0 || settings.strategy === "rules") return false;
	const { keepTokens, stepTokens } = pace(settings, window.limitTokens);
	if (meteredTokens(calibration, unfolded(view)) - keepTokens < stepTokens) return false;
	const { baseTokens } = branch.state;
	if (baseTokens === undefined) return true;
	// The log keeps estimates: what the calibration learned since then must not look like growth.
	return (viewTokens(view) - baseTokens) * calibration.fit.perToken >= stepTokens;
}

function unfolded(view: View): Estimate {
	const entries = view.items.filter((item) => item.kind === "entry");
	return { sizeTokens: entries.reduce((sum, item) => sum + item.sizeTokens, 0), messages: entries.length };
}

function pace({ compress }: Settings, limitTokens: number) {
	const share = Math.min(1, limitTokens / fullWindowTokens);
	return { keepTokens: compress.keepTokens * share, stepTokens: compress.stepTokens * share };
}
