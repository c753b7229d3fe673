import type { AgentToolResult, ExtensionToolContext } from "@earendil-works/pi-coding-agent";
import { type Marked, type Page, type Problem, problemText, type Range } from "../../kernel/index.ts";
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

/**
 * Runs a tool's work on the moment of the call. A call that was aborted or comes while we stand down is refused, and
 * whatever is thrown becomes a refusal and a line in the log.
 */
export async function run(
	sessions: Sessions,
	scope: string,
	ctx: ExtensionToolContext,
	signal: AbortSignal | undefined,
	work: (moment: Moment) => Answer | Promise<Answer>,
): Promise<Answer> {
	try {
		const moment = sessions.at(ctx);
		if (signal?.aborted) return refuse({ code: "aborted" });
		if (!moment.mayFold) return refuse({ code: "standingDown", reason: standingDownReason(moment) });
		const result = await work(moment);
		const [first] = result.content;
		if (result.isError) moment.session.log.info(scope, { refused: first?.type === "text" ? first.text : "" });
		return result;
	} catch (error) {
		sessions.report(scope, error);
		return refusal("Something went wrong inside the extension; nothing changed. Go on with your task.");
	}
}

function standingDownReason({ config, standsDown }: Moment): string {
	return config.enabled
		? `Context folding is off here: ${standsDown}.`
		: "Context folding is switched off in acp.json.";
}
