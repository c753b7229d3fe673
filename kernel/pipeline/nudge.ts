import { decide } from "../decision.ts";
import { type Stage, viewReading, viewTokens } from "../view.ts";
import { nudgeText } from "../wording.ts";

/** Adds the nudge if one is due, and why it is or is not. */
export const nudge: Stage = (view, context) => {
	const decision = decide(view, context);
	if (!decision.isDue) return { ...view, decision };
	const { voice, offer } = decision;
	const reading = viewReading(view, context.calibration);
	const text = nudgeText(voice, offer, reading, context.window, context.settings.words);
	return { ...view, decision, nudge: { text, sizeTokens: viewTokens(view), voice } };
};
