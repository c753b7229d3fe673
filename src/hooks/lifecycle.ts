import type { ExtensionContext, TurnEndEvent } from "@earendil-works/pi-coding-agent";
import { mark, type Operation, operationEntryType } from "../../kernel/index.ts";
import type { Moment, Sessions } from "../session.ts";

/** Opens the session: its settings are read, and what is wrong with them is said. */
export function onSessionStart(sessions: Sessions, ctx: ExtensionContext): void {
	const moment = sessions.at(ctx);
	const { session, host, branch } = moment;
	sayWarnings(sessions, moment);
	session.log.info("session", { id: host.sessionId, messages: branch.lastOrdinal, blocks: branch.state.blocks.size });
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
	const shown = session.shownNudge;
	session.shownNudge = undefined;
	// A fold in the same turn is the newer base: growth counts from the size after it.
	const isOvertaken = shown?.commitId !== moment.branch.state.commit?.entryId;
	if (shown === undefined || isOvertaken || event.outcome !== "completed") return undefined;
	const operation: Operation = { kind: "nudge", sizeTokens: shown.sizeTokens };
	session.log.info("nudge", { sizeTokens: shown.sizeTokens });
	const draft = { type: "custom" as const, customType: operationEntryType, data: mark(operation) };
	return { entries: [...event.entries, draft] };
}

/** Waits for what is still to be written. */
export async function onSessionShutdown(sessions: Sessions, ctx: ExtensionContext): Promise<void> {
	const moment = sessions.at(ctx);
	await sessions.saveSidecar(moment);
	await moment.session.log.flush();
}
