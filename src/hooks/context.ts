import type { ContextWithSystemEvent, ExtensionContext } from "@earendil-works/pi-coding-agent";
import {
	blockMessageType,
	type Operation,
	outgoingItems,
	planTruncation,
	project,
	toMessages,
	type View,
} from "../../kernel/index.ts";
import type { Moment, Sessions } from "../session.ts";
import { outgoing } from "../transcript/to-pi.ts";

/** Turns Pi's outgoing messages into the view. Undefined leaves them alone: another copy of us has made the view. */
export function onContext(sessions: Sessions, event: ContextWithSystemEvent, ctx: ExtensionContext) {
	const moment = sessions.at(ctx);
	if (moment.owner === "another extension's" && event.messages.some(isBlockMessage)) return undefined;
	const list = outgoing(event.messages);
	const see = ({ branch, context }: Moment): View => project(outgoingItems(branch, list.messages), context);

	const whole = see(moment);
	const cut = planCut(moment, whole);
	const fitted = cut === undefined ? moment : sessions.commit(ctx, cut);
	const view = cut === undefined ? whole : see(fitted);
	const { nudge } = view;
	moment.session.shownNudge = nudge && { ...nudge, commitId: fitted.branch.state.commit?.entryId };
	return { messages: list.toPi(toMessages(view, fitted.branch)) };
}

/** The cuts without which the request would pass the emergency line. */
function planCut({ mayFold, config, context }: Moment, view: View): Operation | undefined {
	if (!mayFold) return undefined;
	const limitTokens = context.window.usableTokens * config.compress.emergencyThresholdPercent;
	return planTruncation(view, context, limitTokens);
}

function isBlockMessage(message: ContextWithSystemEvent["messages"][number]): boolean {
	return message.role === "custom" && message.customType === blockMessageType;
}
