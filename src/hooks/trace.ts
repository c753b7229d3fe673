import { type View, viewReading } from "../../kernel/index.ts";
import type { Moment } from "../session.ts";

/** A line in the log for each request: what the meter says of it, and why there is a nudge on it or not. */
export function traceRequest({ session, branch, context, owner }: Moment, view: View): void {
	const { window, calibration } = context;
	const { decision } = view;
	session.log.info("context", {
		...viewReading(view, calibration),
		usableTokens: window.usableTokens,
		source: window.source,
		blocks: branch.state.tops.length,
		owner: owner === "ours" ? undefined : owner,
		nudge: view.nudge?.voice ?? "none",
		why: decision?.reason,
		unfoldedTokens: decision?.unfoldedTokens,
		offeredTokens: decision?.offeredTokens,
		grownTokens: decision?.grownTokens,
		dueTokens: decision && Math.round(decision.dueTokens),
	});
}
