import type { ContextWithSystemEvent, ExtensionContext } from "@earendil-works/pi-coding-agent";
import {
	blockMessageType,
	outgoingItems,
	planCollapse,
	planFit,
	planRules,
	project,
	sizeText,
	toMessages,
	type View,
	viewReading,
} from "../../kernel/index.ts";
import type { Moment, Sessions } from "../session.ts";
import { outgoing } from "../transcript/to-pi.ts";
import { showStatusLine } from "../ui/status-line.ts";
import type { OnShown } from "./boundary.ts";
import { traceRequest } from "./trace.ts";

/** A view, and the moment whose state it shows. */
interface Seen {
	readonly moment: Moment;
	readonly view: View;
}

/** Turns Pi's outgoing messages into the view. Undefined leaves them alone: another copy of us has made the view. */
export function onContext(sessions: Sessions, event: ContextWithSystemEvent, ctx: ExtensionContext, onShown: OnShown) {
	const moment = sessions.at(ctx);
	if (moment.owner === "another extension's" && event.messages.some(isBlockMessage)) return undefined;
	const list = outgoing(event.messages);
	const see = (moment: Moment): Seen => {
		const { branch, context } = moment;
		return { moment, view: project(outgoingItems(branch, list.messages, context.takesImages), context) };
	};
	const whole = collapse(sessions, ctx, see(moment), see);
	const { moment: fitted, view } = makeFit(sessions, ctx, foldByRules(sessions, ctx, whole, see), see);
	showStatusLine(sessions, fitted, view);
	traceRequest(fitted, view);
	sayFull(sessions, fitted, view);
	const { nudge, decision } = view;
	fitted.session.decision = decision;
	fitted.session.shownNudge = nudge && { ...nudge, commitId: fitted.branch.state.commit?.entryId };
	onShown(fitted, view);
	return { messages: list.toPi(toMessages(withOwnCopies(view), fitted.context)) };
}

/** What stands behind an anchor comes from the log itself, where handlers after ours must not reach it. */
function withOwnCopies(view: View): View {
	const items = view.items.map((item) =>
		item.kind === "entry" && item.message === item.record.message
			? { ...item, message: structuredClone(item.message) }
			: item,
	);
	return { ...view, items };
}

/** Shortens an answer that ran into repetition, before it is sent for the first time. */
function collapse(sessions: Sessions, ctx: ExtensionContext, seen: Seen, see: (moment: Moment) => Seen): Seen {
	const { mayFold, config, session } = seen.moment;
	const operation = mayFold && config.degenerationGuard ? planCollapse(seen.view) : undefined;
	if (operation === undefined) return seen;
	session.log.warn("degeneration", { ordinal: seen.moment.branch.lastOrdinal });
	return see(sessions.commit(ctx, operation));
}

/** Folds older turns where rules fold alone, and enough have gathered. */
function foldByRules(sessions: Sessions, ctx: ExtensionContext, seen: Seen, see: (moment: Moment) => Seen): Seen {
	const { moment, view } = seen;
	const operation = moment.foldsByRules ? planRules(view, moment.context) : undefined;
	if (operation === undefined) return seen;
	moment.session.log.info("rules", { sizeTokens: operation.kind === "fold" ? operation.sizeTokens : undefined });
	return see(sessions.commit(ctx, operation));
}

/** Folds and cuts what would not fit, and says so where not even that helps. */
function makeFit(sessions: Sessions, ctx: ExtensionContext, seen: Seen, see: (moment: Moment) => Seen): Seen {
	const { moment, view } = seen;
	if (!moment.mayFold) return seen;
	const found = planFit(view, moment.context, moment.emergencyTokens);
	if (found.kind === "fits") return seen;
	moment.session.log.warn("fit", { kind: found.kind, limitTokens: moment.emergencyTokens });
	if (found.kind === "tooLarge") {
		const text =
			"pi-billion-context: the system prompt, the tools and the last message alone do not fit the window; nothing is cut, and the provider will refuse. Send less, or choose a model with a larger window.";
		sessions.notice(moment, text, "warning", `too large ${moment.branch.lastOrdinal}`);
		// The model will not read it.
		return { moment, view: { ...view, nudge: undefined } };
	}
	return found.operation === undefined ? seen : see(sessions.commit(ctx, found.operation));
}

/** Tells the user, once for each step of growth, where the window gets full and the model has nothing to fold. */
function sayFull(sessions: Sessions, moment: Moment, view: View): void {
	const { decision } = view;
	const { calibration, window } = moment.context;
	if (decision?.reason !== "nothing" || decision.voice === "soft") return;
	const { fullTokens, pace } = decision;
	const text = `pi-billion-context: the context holds ${sizeText(viewReading(view, calibration), window)}, and nothing in it can be folded now. A new session, or a model with a larger window, has room.`;
	sessions.notice(moment, text, "warning", `full ${Math.floor(fullTokens / pace.stepTokens)}`);
}

function isBlockMessage(message: ContextWithSystemEvent["messages"][number]): boolean {
	return message.role === "custom" && message.customType === blockMessageType;
}
