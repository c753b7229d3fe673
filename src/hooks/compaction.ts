import type { ExtensionContext, SessionBeforeCompactEvent } from "@earendil-works/pi-coding-agent";
import type { Sessions } from "../session.ts";

/** Cancels the compaction Pi starts at a threshold: it measures the raw log, not the view. All others are Pi's. */
export function onSessionBeforeCompact(sessions: Sessions, event: SessionBeforeCompactEvent, ctx: ExtensionContext) {
	const { session, context } = sessions.at(ctx);
	if (event.reason !== "threshold" || !context.isActive) return undefined;
	session.log.info("compaction", { reason: event.reason, cancelled: true });
	return { cancel: true };
}
