import type { AgentBeforeSettleEvent, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { type BranchRecord, failureOf, planFit } from "../../kernel/index.ts";
import type { Moment, Sessions } from "../session.ts";

/**
 * Makes one more request where Pi gives up on a request that was too large: it taught the window, and what is sent next
 * fits it. Once for each user message; the failed answer leaves the context as Pi's own recovery has it.
 */
export function onBeforeSettle(sessions: Sessions, event: AgentBeforeSettleEvent, ctx: ExtensionContext) {
	const moment = sessions.at(ctx);
	const { session, branch, mayFold, context, emergencyTokens } = moment;
	const failed = lastAnswer(moment);
	if (event.outcome !== "error" || failed === undefined || !mayFold || !isTooLarge(moment, failed)) return undefined;
	const asked = branch.messages(1, failed.ordinal).findLast((record) => record.message?.role === "user")?.entry.id;
	if (asked === undefined || session.continuedAfter === asked) return undefined;
	session.continuedAfter = asked;
	const { kind } = planFit(sessions.view(moment), context, emergencyTokens);
	session.log.warn("overflow", { continues: kind !== "tooLarge" });
	if (kind === "tooLarge") return undefined;
	return continueWithout(event, failed);
}

/** One more request, from which a failed answer is left out as Pi's own recovery leaves it out. */
export function continueWithout(event: AgentBeforeSettleEvent, failed: BranchRecord) {
	const omission = { type: "context_edit" as const, targetId: failed.entry.id, replacement: null };
	return { entries: [...event.entries, omission], continue: true };
}

/** Lets a run that ended in a refusal for size fail for whoever started it, too. */
export function onSettled(sessions: Sessions, ctx: ExtensionContext): void {
	const moment = sessions.at(ctx);
	const failed = lastAnswer(moment);
	if (!moment.mayFold || failed === undefined || !isTooLarge(moment, failed)) return;
	const reason = failed.message?.errorMessage ?? "";
	moment.session.log.error("overflow", { reason });
	moment.host.notify(
		`pi-billion-context: the provider refused the request for its size, and no smaller one could be made. ${reason}`,
		"error",
	);
	if (moment.host.isOneShot) process.exitCode = 1;
}

/** The last answer on the branch, if nothing of the conversation came after it. */
export function lastAnswer({ branch }: Moment): BranchRecord | undefined {
	const last = branch.message(branch.lastOrdinal);
	return last?.message?.role === "assistant" ? last : undefined;
}

/** True if an answer failed because its request was too large, or may have been, as far as the window tells. */
function isTooLarge({ context }: Moment, { message }: BranchRecord): boolean {
	if (message?.stopReason !== "error") return false;
	const failure = failureOf(message.errorMessage ?? "");
	return failure?.kind === "overflow" || (failure?.kind === "suspect" && context.window.source === "failures");
}
