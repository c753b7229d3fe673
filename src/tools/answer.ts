import type { AgentToolResult, ExtensionToolContext } from "@earendil-works/pi-coding-agent";
import {
	type Marked,
	type Page,
	type Problem,
	problemText,
	type Range,
	refusedAgainText,
	refusedBefore,
	type StatusView,
	statusOf,
	statusText,
	toolCalls,
} from "../../kernel/index.ts";
import type { Moment, Sessions } from "../session.ts";

/** What our tools return. `details` hold the operation of a call that is one. */
export type Answer = AgentToolResult<Marked | undefined>;

export function answer(text: string, details?: Marked): Answer {
	return { content: [{ type: "text", text }], details };
}

/** A page of text and images. */
export function answerParts(parts: Page["parts"]): Answer {
	return { content: [...parts], details: undefined };
}

export function refusal(text: string): Answer {
	return { content: [{ type: "text", text }], details: undefined, isError: true };
}

export function refuse(problem: Problem, foldable?: readonly Range[]): Answer {
	return refusal(problemText(problem, foldable));
}

/** The list that shows what a call can be about. */
const possibleViews: Readonly<Record<string, StatusView>> = { compress: "ranges", decompress: "blocks" };
const possibleLimit = 8;

/**
 * Runs the work of the tool `name` on the moment of the call. A call that was aborted or comes while we stand down is
 * refused, what is refused again is answered ever more firmly, and whatever is thrown becomes a refusal and a line in the log.
 */
export async function run(
	sessions: Sessions,
	name: string,
	call: { readonly toolCallId: string; readonly params: unknown },
	ctx: ExtensionToolContext,
	signal: AbortSignal | undefined,
	work: (moment: Moment) => Answer | Promise<Answer>,
): Promise<Answer> {
	try {
		const moment = sessions.at(ctx);
		if (signal?.aborted) return refuse({ code: "aborted" });
		if (!moment.mayFold) return refuse({ code: "standingDown", reason: standingDownReason(moment) });
		const result = await work(moment);
		return result.isError ? refusedAgain(sessions, moment, { name, ...call }, result) : result;
	} catch (error) {
		sessions.report(name, error);
		return refusal("Something went wrong inside the extension; nothing changed. Go on with your task.");
	}
}

function refusedAgain(
	sessions: Sessions,
	moment: Moment,
	{ name, toolCallId, params }: { readonly name: string; readonly toolCallId: string; readonly params: unknown },
	result: Answer,
): Answer {
	const [first] = result.content;
	// Pi hands out arguments that it made fit the parameters; the log has them as they came.
	const { message } = moment.branch.callUnit(toolCallId) ?? {};
	const args = message && toolCalls(message).find((call) => call.id === toolCallId)?.arguments;
	const refused = first?.type === "text" ? first.text : "";
	const before = refusedBefore(moment.branch, name, args ?? params);
	moment.session.log.info(name, { refused, before: before || undefined });
	if (before === 0) return result;
	const show = possibleViews[name];
	const possible =
		show === undefined ? "" : statusText(statusOf(sessions.view(moment), moment.context), show, possibleLimit);
	return { ...result, ...refusal(refusedAgainText(refused, before, possible)) };
}

function standingDownReason({ config, standsDown }: Moment): string {
	return config.enabled
		? `Context folding is off here: ${standsDown}.`
		: "Context folding is switched off in acp.json.";
}
