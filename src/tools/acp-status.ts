import { defineTool } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";
import { askedInRow, isObject, statusAgainText, statusOf, statusText, type Words } from "../../kernel/index.ts";
import type { Moment, Sessions } from "../session.ts";
import { acpStatusRenderers } from "../ui/renderers.ts";
import { answer, run } from "./answer.ts";
import { meaning } from "./meaning.ts";

export const statusViews = ["overview", "blocks", "ranges", "messages"] as const;

const defaultLimit = 20;
const maxLimit = 500;

const parametersOf = (words: Words) =>
	Type.Object({
		view: Type.Optional(Type.Enum(statusViews, meaning(words, "view"))),
		limit: Type.Optional(Type.Integer(meaning(words, "limit"))),
	});

/** Shows how full the context is and what is folded. */
export function acpStatusTool(sessions: Sessions, words: Words) {
	return defineTool({
		name: "acp_status",
		label: "Context status",
		description: words["tools.acp_status"] || "acp_status",
		parameters: parametersOf(words),
		exposure: "model-only",
		...acpStatusRenderers,
		execute: (toolCallId, params, signal, _onUpdate, ctx) =>
			run(sessions, "acp_status", { toolCallId, params }, ctx, signal, (moment) => {
				const view = params.view ?? "overview";
				const before = askedInRow(moment.branch, "acp_status", (args) => viewIn(args) === view);
				const limit = Math.min(Math.max(1, params.limit ?? defaultLimit), maxLimit);
				return answer(statusAgainText(describeStatus(sessions, moment, view, limit), before));
			}),
	});
}

function viewIn(args: unknown): unknown {
	return (isObject(args) && args.view) || "overview";
}

/** The status in words; the tool and the command `/acp` say the same. */
export function describeStatus(
	sessions: Sessions,
	moment: Moment,
	show: (typeof statusViews)[number],
	limit: number,
): string {
	return statusText(statusOf(sessions.view(moment), moment.context), show, limit);
}
