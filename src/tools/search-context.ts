import { defineTool } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";
import { search, searchText, type Words } from "../../kernel/index.ts";
import type { Sessions } from "../session.ts";
import { searchContextRenderers } from "../ui/renderers.ts";
import { answer, refuse, run } from "./answer.ts";
import { meaning } from "./meaning.ts";

const defaultLimit = 8;
const maxLimit = 50;

const parametersOf = (words: Words) =>
	Type.Object({
		query: Type.String(meaning(words, "query")),
		limit: Type.Optional(Type.Integer(meaning(words, "limit"))),
	});

/** Finds text in blocks and folded messages of the session. */
export function searchContextTool(sessions: Sessions, words: Words) {
	return defineTool({
		name: "search_context",
		label: "Search context",
		description: words["tools.search_context"] || "search_context",
		parameters: parametersOf(words),
		exposure: "model-only",
		...searchContextRenderers,
		execute: (toolCallId, params, signal, _onUpdate, ctx) =>
			run(sessions, "search_context", { toolCallId, params }, ctx, signal, ({ branch, host, session }) => {
				if (params.query.trim() === "") return refuse({ code: "emptyQuery" });
				const limit = Math.min(Math.max(1, params.limit ?? defaultLimit), maxLimit);
				return answer(searchText(search(branch, params.query, limit, session.archive.of(host))));
			}),
	});
}
