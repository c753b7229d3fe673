import type {
	AgentBeforeSettleEvent,
	AgentEndEvent,
	ExtensionAPI,
	ExtensionContext,
	MessageEndEvent,
	TurnEndEvent,
	TurnStartEvent,
} from "@earendil-works/pi-coding-agent";
import {
	anchorDetails,
	mark,
	type Operation,
	operationEntryType,
	planAnchor,
	type View,
	viewReading,
} from "../../kernel/index.ts";
import type { Throttle } from "../guards/throttle.ts";
import type { Moment, Sessions } from "../session.ts";
import { showStatusLine } from "../ui/status-line.ts";
import { guard } from "./guard.ts";
import { sayWindow } from "./model.ts";
import { lastAnswer, onBeforeSettle } from "./settle.ts";

/** Is told of each request what it shows. */
export type OnShown = (moment: Moment, view: View) => void;

/**
 * Registers what is done at the end of a turn and before a run settles. Where somebody listens to one of these, Pi copies and
 * projects the whole branch, once and again for each listener: so we listen to the end of a turn only if there may be
 * something to write, and to settling only after an answer that failed.
 */
export function registerBoundaries(pi: ExtensionAPI, sessions: Sessions, throttle: Throttle): OnShown {
	const guarded = guard(sessions);
	const endTurn = guarded("turn_end", (event: TurnEndEvent, ctx) => onTurnEnd(sessions, event, ctx));
	const retry = guarded("throttle", (event: AgentBeforeSettleEvent, ctx) => throttle.onBeforeSettle(event, ctx));
	const settle = guarded("settle", (event: AgentBeforeSettleEvent, ctx) => onBeforeSettle(sessions, event, ctx));
	const answered = guarded("answered", (_event: TurnStartEvent | AgentEndEvent, ctx) => onAnswered(sessions, ctx));

	const listenToTurnEnd = once((stop) =>
		pi.on("turn_end", (event, ctx) => {
			stop();
			return endTurn(event, ctx);
		}),
	);
	const listenToSettling = once((stop) =>
		pi.on("agent_before_settle", async (event, ctx) => {
			stop();
			return (await retry(event, ctx)) ?? settle(event, ctx);
		}),
	);
	pi.on(
		"message_end",
		guarded("throttle", ({ message }: MessageEndEvent, ctx) => {
			const isDone = message.role === "assistant" && message.stopReason !== "error" && message.stopReason !== "aborted";
			if (isDone) throttle.reset(ctx);
		}),
	);
	pi.on("turn_start", answered);
	pi.on("agent_end", answered);
	pi.on(
		"agent_end",
		guarded("settle", (_event: AgentEndEvent, ctx) => {
			// The answer as the log has it: extensions after us may have made an error of it.
			if (lastAnswer(sessions.at(ctx))?.message?.stopReason === "error") listenToSettling();
		}),
	);
	return (moment, view) => {
		try {
			const mayWrite = view.nudge !== undefined || dueAnchor(sessions, moment, view, approachShare) !== undefined;
			if (mayWrite) listenToTurnEnd();
		} catch (error) {
			// The view is made, and must not be lost for an anchor.
			sessions.report("turn_end", error);
		}
	};
}

/** Registers a listener that ends itself, unless the last one still listens; it listens for good where it cannot be ended. */
function once(register: (stop: () => void) => (() => void) | undefined): () => void {
	let end: (() => void) | undefined;
	let isListening = false;
	return () => {
		if (isListening) return;
		end = register(() => {
			end?.();
			isListening = end === undefined;
		});
		isListening = true;
	};
}

/** Brings up to date what shows or keeps the session, once a turn is in the log. */
function onAnswered(sessions: Sessions, ctx: ExtensionContext): void {
	const moment = sessions.at(ctx);
	void sessions.saveSidecar(moment);
	sayWindow(sessions, moment);
	showStatusLine(sessions, moment);
}

/** Records a nudge that reached the model, and writes an anchor if one is worth it. */
function onTurnEnd(sessions: Sessions, event: TurnEndEvent, ctx: ExtensionContext) {
	const moment = sessions.at(ctx);
	const shown = moment.session.shownNudge;
	moment.session.shownNudge = undefined;
	if (event.outcome !== "completed") return undefined;
	const drafts = [...nudgeDraft(moment, shown), ...anchorDraft(sessions, moment)];
	return drafts.length === 0 ? undefined : { entries: [...event.entries, ...drafts] };
}

function nudgeDraft({ session, branch }: Moment, shown: Moment["session"]["shownNudge"]) {
	if (shown === undefined) return [];
	const { voice } = shown;
	const isFolded = shown.commitId !== branch.state.commit?.entryId;
	// A fold in the same turn is the newer base: growth counts from the size after it. Alarms are counted all the same.
	if (isFolded && voice !== "emergency") return [];
	const sizeTokens = (isFolded ? branch.state.baseTokens : undefined) ?? shown.sizeTokens;
	const operation: Operation = { kind: "nudge", sizeTokens, voice };
	session.log.info("nudge", { sizeTokens, voice });
	return [{ type: "custom" as const, customType: operationEntryType, data: mark(operation) }];
}

/** Messages that an anchor is worth writing for: Pi's work for a request grows with them. */
const anchorMessages = 400;

/** What an anchor has to stand for, in sizes of itself: so all anchors together stay a small part of the log. */
const anchorRatio = 8;

/** Pi's threshold is near from this share of it on. */
const nearShare = 0.9;

/** From this share on it could come near within one turn. */
const approachShare = 0.5;

/** An anchor, once the leading blocks stand for many messages or Pi would soon compact by itself. */
function anchorDraft(sessions: Sessions, moment: Moment) {
	const anchor = dueAnchor(sessions, moment, sessions.view(moment), nearShare);
	if (anchor === undefined) return [];
	moment.session.log.info("anchor", { messages: anchor.messages });
	const { summary, firstKeptId } = anchor;
	return [{ type: "compaction" as const, summary, firstKeptEntryId: firstKeptId, details: anchorDetails }];
}

function dueAnchor(sessions: Sessions, { branch, context, mayFold }: Moment, view: View, thresholdShare: number) {
	const anchor = mayFold && branch.state.tops.length > 0 ? planAnchor(branch, view) : undefined;
	if (anchor === undefined) return undefined;
	if (anchor.messages >= anchorMessages && anchor.replacedTokens >= anchorRatio * anchor.sizeTokens) return anchor;
	const { calibration, window } = context;
	const thresholdTokens = window.limitTokens - sessions.reserveTokens();
	return viewReading(view, calibration).sizeTokens >= thresholdTokens * thresholdShare ? anchor : undefined;
}
