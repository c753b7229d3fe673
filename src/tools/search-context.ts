import { defineTool } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";
import { parameterDescriptions as say, search, searchText, toolDescriptions } from "../../kernel/index.ts";
import type { Sessions } from "../session.ts";
import { searchContextRenderers } from "../ui/renderers.ts";
import { answer, refuse, run } from "./answer.ts";

const defaultLimit = 8;

const parameters = Type.Object({
	query: Type.String({ description: say.query }),
	limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50, description: say.limit })),
});

/** Finds text in blocks and folded messages of the session. */
export function searchContextTool(sessions: Sessions) {
	return defineTool({
		name: "search_context",
		label: "Search context",
		description: toolDescriptions.search_context,
		parameters,
		exposure: "model-only",
		...searchContextRenderers,
		execute: (_toolCallId, params, signal, _onUpdate, ctx) =>
			run(sessions, "search_context", ctx, signal, ({ branch, host, session }) => {
				if (params.query.trim() === "") return refuse({ code: "emptyQuery" });
				return answer(searchText(search(branch, params.query, params.limit ?? defaultLimit, session.archive.of(host))));
			}),
	});
}
