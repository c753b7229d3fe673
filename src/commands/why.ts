import { advise, type Decision, formatTokens, type Reason, sizeText, viewReading } from "../../kernel/index.ts";
import type { Moment, Sessions } from "../session.ts";

/** Why the last request of the session asked the model to fold or did not, and how it stands now. */
export function explain(sessions: Sessions, moment: Moment): string {
	const { context, session } = moment;
	const view = sessions.view(moment);
	const { decision } = advise(view, context);
	const last = session.decision === undefined ? "none since the session was opened." : verdict(session.decision);
	const now = decision === undefined ? [] : [`Now: ${verdict(decision)}`, ...figures(decision, moment.config.pace)];
	const size = `The context holds ${sizeText(viewReading(view, context.calibration), context.window)}.`;
	return [`Last request: ${last}`, size, ...now].join("\n");
}

const reasons: Readonly<Record<Reason, string>> = {
	inactive: "compress is not ours, or not offered to the model",
	rules: 'strategy "rules" asks no model to fold',
	nothing: "there is nothing that it could fold",
	refused: "it was just told that nothing can be folded",
	little: "too little is unfolded",
	"grown little": "too little was added since it was asked, or folded, last",
	"asked enough": "it was asked three times since your last message",
	new: "enough is unfolded, and it was not asked before",
	grown: "enough was added since it was asked, or folded, last",
	fuller: "the window is fuller than when it was asked last",
};

function verdict({ isDue, voice, reason, offer }: Decision): string {
	const asked = offer.run === undefined ? "to fold" : "to fold blocks into one";
	return `the model is ${isDue ? `asked ${asked} (${voice})` : "not asked to fold"}: ${reasons[reason]}.`;
}

function figures(
	{ pace, unfoldedTokens, grownTokens, dueTokens, offeredTokens }: Decision,
	name: string,
): readonly string[] {
	const [keep, due, unfolded, offered] = [pace.keepTokens, dueTokens, unfoldedTokens, offeredTokens].map(formatTokens);
	const grown =
		grownTokens === undefined
			? "Nothing was asked or folded before."
			: `Added since it was asked, or folded, last: ${formatTokens(Math.max(0, grownTokens))}.`;
	return [
		`Unfolded: ${unfolded}, of which ${offered} can be folded. ${grown}`,
		`Pace ${name}: it is asked once ${keep} and ${due} more are unfolded, and ${due} were added.`,
		`From ${formatTokens(pace.pressureTokens)} in all the window counts as getting full, from ${formatTokens(pace.emergencyTokens)} as nearly full.`,
	];
}
