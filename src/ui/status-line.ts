import { formatTokens, type View, viewReading } from "../../kernel/index.ts";
import type { Moment, Sessions } from "../session.ts";

/** Shows in the footer how full the context is, in the figures of `/acp`; nothing while we stand down. */
export function showStatusLine(sessions: Sessions, moment: Moment, view?: View): void {
	const { host, config, context } = moment;
	if (!host.hasUI) return;
	const isShown = config.ui.statusLine && context.isActive;
	host.setStatus(isShown ? statusLine(moment, view ?? sessions.view(moment)) : undefined);
}

function statusLine({ context: { calibration, window } }: Moment, view: View): string {
	const { sizeTokens } = viewReading(view, calibration);
	const blocks = view.items.filter((item) => item.kind === "block").length;
	const folded = blocks === 0 ? "" : `, ${blocks} ${blocks === 1 ? "block" : "blocks"}`;
	return `acp ${formatTokens(sizeTokens)}/${formatTokens(window.usableTokens)}${folded}`;
}
