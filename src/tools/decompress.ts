import { tmpdir } from "node:os";
import { defineTool } from "@earendil-works/pi-coding-agent";
import { Type } from "typebox";
import {
	fileText,
	findOriginals,
	mark,
	type Originals,
	pageOf,
	planUnfold,
	unfoldText,
	type Words,
} from "../../kernel/index.ts";
import type { Moment, Sessions } from "../session.ts";
import { writePrivate } from "../store/private-file.ts";
import { decompressRenderers } from "../ui/renderers.ts";
import { type Answer, answer, answerParts, refuse, run } from "./answer.ts";
import { meaning } from "./meaning.ts";

const parametersOf = (words: Words) =>
	Type.Object({
		id: Type.String(meaning(words, "id")),
		page: Type.Optional(Type.Integer({ minimum: 1, ...meaning(words, "page") })),
		to: Type.Optional(Type.Enum(["inline", "file", "view"], meaning(words, "to"))),
	});

/** Shows originals, writes them to a file, or puts a block's content back into the view. */
export function decompressTool(sessions: Sessions, words: Words) {
	return defineTool({
		name: "decompress",
		label: "Decompress",
		description: words["tools.decompress"] || "decompress",
		parameters: parametersOf(words),
		exposure: "model-only",
		...decompressRenderers,
		executionMode: "sequential",
		execute: (toolCallId, params, signal, _onUpdate, ctx) =>
			run(sessions, "decompress", { toolCallId, params }, ctx, signal, (moment) => {
				if (params.to === "view") return unfold(sessions, moment, params.id);
				const originals = findOriginals(moment.branch, params.id, moment.session.archive.of(moment.host));
				if ("code" in originals) return refuse(originals);
				if (params.to === "file") return writeOriginals(moment, originals);
				const page = pageOf(originals, params.page ?? 1);
				return "code" in page ? refuse(page) : answerParts(page.parts);
			}),
	});
}

function unfold(sessions: Sessions, moment: Moment, id: string): Answer {
	const { branch, context } = moment;
	const plan = planUnfold(branch, sessions.view(moment), id);
	if ("code" in plan) return refuse(plan);
	return answer(unfoldText(plan, context), mark(plan.operation));
}

async function writeOriginals({ session }: Moment, originals: Originals): Promise<Answer> {
	try {
		const path = await writePrivate("acp-originals-", originals.title, fileText(originals));
		return answer(`${originals.title}: ${originals.records.length} messages are in ${path}`);
	} catch (error) {
		const reason = error instanceof Error ? error.message : String(error);
		session.log.warn("decompress", { reason });
		return refuse({ code: "unwritable", path: tmpdir(), reason });
	}
}
