import { defineTool } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";
import { parameterDescriptions as say, statusOf, statusText, toolDescriptions } from "../../kernel/index.ts";
import type { Moment, Sessions } from "../session.ts";
import { acpStatusRenderers } from "../ui/renderers.ts";
import { answer, run } from "./answer.ts";

export const statusViews = ["overview", "blocks", "ranges", "messages"] as const;

const defaultLimit = 20;

const parameters = Type.Object({
	view: Type.Optional(Type.Enum(statusViews, { description: say.view })),
	limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: say.limit })),
});

/** Shows how full the context is and what is folded. */
export function acpStatusTool(sessions: Sessions) {
	return defineTool({
		name: "acp_status",
		label: "Context status",
		description: toolDescriptions.acp_status,
		parameters,
		exposure: "model-only",
		...acpStatusRenderers,
		execute: (_toolCallId, params, signal, _onUpdate, ctx) =>
			run(sessions, "acp_status", ctx, signal, (moment) =>
				answer(describeStatus(sessions, moment, params.view ?? "overview", params.limit ?? defaultLimit)),
			),
	});
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
