import { type ExtensionContext, VERSION } from "@earendil-works/pi-coding-agent";
import type { Moment, Sessions } from "../session.ts";
import { showStatusLine } from "../ui/status-line.ts";
import { version } from "../version.ts";

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

/** Waits for what is still to be written, and leaves Pi as it was. */
export async function onSessionShutdown(sessions: Sessions, ctx: ExtensionContext): Promise<void> {
	sessions.of(ctx).releaseProjection();
	const moment = sessions.at(ctx);
	await sessions.saveSidecar(moment);
	await moment.session.log.flush();
}
