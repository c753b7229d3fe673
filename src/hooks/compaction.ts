import type { ExtensionContext, SessionBeforeCompactEvent } from "@earendil-works/pi-coding-agent";
import {
	anchorDetails,
	type Fit,
	formatTokens,
	planAnchor,
	planFit,
	planHandover,
	planWhole,
	viewReading,
} from "../../kernel/index.ts";
import type { Moment, Sessions } from "../session.ts";

/** What Pi does with a compaction: takes ours, or makes none. */
export type CompactionAnswer =
	| { readonly cancel: true }
	| {
			readonly compaction: {
				summary: string;
				firstKeptEntryId: string;
				tokensBefore: number;
				details: typeof anchorDetails;
			};
	  };

/**
 * Answers Pi's compaction with an anchor, so that Pi deals with the small session and the view keeps its bytes. What has to
 * be folded first is folded by rules. Undefined leaves the compaction to Pi, where we stand down.
 */
export function onSessionBeforeCompact(
	sessions: Sessions,
	event: SessionBeforeCompactEvent,
	ctx: ExtensionContext,
): CompactionAnswer | undefined {
	const moment = sessions.at(ctx);
	if (!moment.mayFold) return undefined;
	const answer = answerTo(sessions, event, ctx, moment);
	moment.session.log.info("compaction", { reason: event.reason, cancelled: "cancel" in answer });
	return answer;
}

function answerTo(
	sessions: Sessions,
	event: SessionBeforeCompactEvent,
	ctx: ExtensionContext,
	moment: Moment,
): CompactionAnswer {
	switch (event.reason) {
		case "threshold":
			return onThreshold(sessions, event, ctx, moment);
		case "overflow":
			return onOverflow(sessions, event, ctx, moment);
		case "manual":
			return onManual(sessions, event, ctx, moment);
	}
}

/** Where Pi would compact at less than this share of what a request may take, on the smallest windows, it is not followed. */
const leastShare = 0.7;

/** Pi's threshold is near the end of the usable window, or far before it where the window is small. */
function onThreshold(
	sessions: Sessions,
	event: SessionBeforeCompactEvent,
	ctx: ExtensionContext,
	moment: Moment,
): CompactionAnswer {
	const anchored = anchor(sessions, event, moment);
	if (anchored !== undefined) return anchored;
	const { window, settings, calibration } = moment.context;
	if (settings.strategy === "model") {
		const { sizeTokens } = viewReading(sessions.view(moment), calibration);
		if (sizeTokens < moment.emergencyTokens * leastShare) return { cancel: true };
		const step = Math.floor(sizeTokens / settings.compress.stepTokens);
		const text = `pi-billion-context: the context holds ${formatTokens(sizeTokens)} tokens; folding it is left to the model (strategy "model").`;
		sessions.notice(moment, text, "warning", `threshold ${step}`);
		return { cancel: true };
	}
	const thresholdTokens = window.limitTokens - event.preparation.settings.reserveTokens;
	const limitTokens = Math.min(moment.emergencyTokens, Math.max(thresholdTokens, moment.emergencyTokens * leastShare));
	const fitted = makeFit(sessions, ctx, moment, limitTokens, false);
	return anchor(sessions, event, fitted.moment) ?? { cancel: true };
}

/** The refused request taught the window; what is sent next fits it. */
function onOverflow(
	sessions: Sessions,
	event: SessionBeforeCompactEvent,
	ctx: ExtensionContext,
	moment: Moment,
): CompactionAnswer {
	const fitted = makeFit(sessions, ctx, moment, moment.emergencyTokens);
	const anchored = anchor(sessions, event, fitted.moment);
	if (anchored !== undefined) return anchored;
	const [first] = event.branchEntries.filter((entry) => entry.type === "message");
	// Nothing to anchor, but the next request is smaller: Pi asks again only if it gets a compaction.
	return fitted.kind === "tooLarge" || first === undefined
		? { cancel: true }
		: compaction(event, "(The whole conversation follows.)", first.id);
}

function onManual(
	sessions: Sessions,
	event: SessionBeforeCompactEvent,
	ctx: ExtensionContext,
	moment: Moment,
): CompactionAnswer {
	const view = sessions.view(moment);
	if (moment.session.isHandingOver) {
		const handover = planHandover(view, moment.context);
		return handover === undefined ? { cancel: true } : compaction(event, handover.summary, handover.firstKeptId);
	}
	const operation = planWhole(view, moment.context, event.customInstructions);
	const after = operation === undefined ? moment : sessions.commit(ctx, operation);
	const anchored = anchor(sessions, event, after);
	if (anchored !== undefined) return anchored;
	sessions.notice(moment, "pi-billion-context: there is nothing to fold but recent messages, which stay.", "info");
	return { cancel: true };
}

/** Folds by rules what is over a limit; the moment after that, and what was found. */
function makeFit(
	sessions: Sessions,
	ctx: ExtensionContext,
	moment: Moment,
	limitTokens: number,
	isLastResort = true,
): { readonly kind: Fit["kind"]; readonly moment: Moment } {
	const found = planFit(sessions.view(moment), moment.context, limitTokens, isLastResort);
	const operation = found.kind === "fits" ? undefined : found.operation;
	return { kind: found.kind, moment: operation === undefined ? moment : sessions.commit(ctx, operation) };
}

function anchor(sessions: Sessions, event: SessionBeforeCompactEvent, moment: Moment): CompactionAnswer | undefined {
	const planned = planAnchor(moment.branch, sessions.view(moment));
	return planned && compaction(event, planned.summary, planned.firstKeptId);
}

function compaction(event: SessionBeforeCompactEvent, summary: string, firstKeptId: string | null): CompactionAnswer {
	const { tokensBefore } = event.preparation;
	return { compaction: { summary, firstKeptEntryId: firstKeptId ?? "", tokensBefore, details: anchorDetails } };
}
