import { type ExtensionContext, type TurnEndEvent, VERSION } from "@earendil-works/pi-coding-agent";
import {
	anchorDetails,
	mark,
	type Operation,
	operationEntryType,
	planAnchor,
	viewReading,
} from "../../kernel/index.ts";
import type { Moment, Sessions } from "../session.ts";
import { showStatusLine } from "../ui/status-line.ts";
import { version } from "../version.ts";
import { sayWindow } from "./model.ts";

/** Opens the session: its settings are read, and what is wrong with them is said. */
export function onSessionStart(sessions: Sessions, ctx: ExtensionContext): void {
	const moment = sessions.at(ctx);
	const { session, host, branch, context, owner } = moment;
	sayWarnings(sessions, moment);
	showStatusLine(sessions, moment);
	session.log.info("session", {
		id: host.sessionId,
		version,
		pi: VERSION,
		model: host.model?.key,
		windowTokens: context.window.limitTokens,
		source: context.window.source,
		owner,
		messages: branch.lastOrdinal,
		blocks: branch.state.blocks.size,
	});
}

/** Says in one notice what is wrong with the settings and was not said yet. */
export function sayWarnings(sessions: Sessions, moment: Moment): void {
	const warnings = moment.session.config.takeWarnings();
	if (warnings.length > 0) sessions.notice(moment, warnings.join("\n"), "warning");
}

/** Records a nudge that reached the model, and brings the sidecar up to date. */
export function onTurnEnd(sessions: Sessions, event: TurnEndEvent, ctx: ExtensionContext) {
	const moment = sessions.at(ctx);
	const { session } = moment;
	void sessions.saveSidecar(moment);
	sayWindow(sessions, moment);
	showStatusLine(sessions, moment);
	const shown = session.shownNudge;
	session.shownNudge = undefined;
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

/** An anchor, once the leading blocks stand for many messages or Pi would soon compact by itself. */
function anchorDraft(sessions: Sessions, moment: Moment) {
	const { branch, context, mayFold, session } = moment;
	if (!mayFold || branch.state.tops.length === 0) return [];
	const view = sessions.view(moment);
	const anchor = planAnchor(branch, view);
	if (anchor === undefined) return [];
	const { calibration, window } = context;
	const { sizeTokens } = viewReading(view, calibration);
	const isNear = sizeTokens >= (window.limitTokens - sessions.reserveTokens()) * nearShare;
	const isWorth = anchor.messages >= anchorMessages && anchor.replacedTokens >= anchorRatio * anchor.sizeTokens;
	if (!isWorth && !isNear) return [];
	session.log.info("anchor", { messages: anchor.messages, isNear });
	const { summary, firstKeptId } = anchor;
	return [{ type: "compaction" as const, summary, firstKeptEntryId: firstKeptId, details: anchorDetails }];
}

/** Of Pi's threshold. */
const nearShare = 0.9;

/** Waits for what is still to be written. */
export async function onSessionShutdown(sessions: Sessions, ctx: ExtensionContext): Promise<void> {
	const moment = sessions.at(ctx);
	await sessions.saveSidecar(moment);
	await moment.session.log.flush();
}
