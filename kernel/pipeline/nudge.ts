import type { Settings } from "../settings.ts";
import { type Context, type Stage, type View, viewTokens } from "../view.ts";
import { nudgeText } from "../wording.ts";

/** Windows of this size and more get the settings as they are; smaller ones get their share of them. */
const fullWindowTokens = 128_000;

/** Adds the nudge if one is due. */
export const nudge: Stage = (view, context) => {
	if (!context.isActive || !isDue(view, context)) return view;
	const sizeTokens = viewTokens(view);
	return { ...view, nudge: { text: nudgeText(view.foldable, sizeTokens, context.window), sizeTokens } };
};

/** Due if something can be folded, the unfolded part is large, and the view grew a step since the last nudge or commit. */
function isDue(view: View, { branch, settings, window }: Context): boolean {
	if (view.foldable.length === 0) return false;
	const { keepTokens, stepTokens } = pace(settings, window.limitTokens);
	if (unfoldedTokens(view) - keepTokens < stepTokens) return false;
	const { baseTokens } = branch.state;
	return baseTokens === undefined || viewTokens(view) - baseTokens >= stepTokens;
}

function unfoldedTokens(view: View): number {
	return view.items.reduce((sum, item) => sum + (item.kind === "entry" ? item.sizeTokens : 0), 0);
}

function pace({ compress }: Settings, limitTokens: number) {
	const share = Math.min(1, limitTokens / fullWindowTokens);
	return { keepTokens: compress.keepTokens * share, stepTokens: compress.stepTokens * share };
}
