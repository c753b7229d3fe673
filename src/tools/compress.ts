import { defineTool } from "@earendil-works/pi-coding-agent";
import { foldText, mark, meteredRanges, planFold, readCompressArguments, type Words } from "../../kernel/index.ts";
import type { Sessions } from "../session.ts";
import { compressRenderers } from "../ui/renderers.ts";
import { answer, refusal, refuse, run } from "./answer.ts";
import { compressParameters } from "./compress-parameters.ts";

/** Folds ranges. Changes nothing itself: the operation in its result's `details` holds once the log shows it. */
export function compressTool(sessions: Sessions, words: Words) {
	return defineTool({
		name: "compress",
		label: "Compress",
		description: words["tools.compress"] || "compress",
		parameters: compressParameters(words),
		exposure: "model-only",
		...compressRenderers,
		executionMode: "sequential",
		execute: (toolCallId, params, signal, _onUpdate, ctx) =>
			run(sessions, "compress", { toolCallId, params }, ctx, signal, (moment) => {
				const { branch, context, session } = moment;
				const view = sessions.view(moment);
				const call = branch.callUnit(toolCallId);
				const request = readCompressArguments(params);
				if ("problem" in request) {
					const { foldable } = planFold(branch, view, context.settings, [], call);
					const metered = meteredRanges(foldable, context.calibration);
					return refuse({ code: "arguments", reason: request.problem }, metered);
				}
				const plan = planFold(branch, view, context.settings, request.ranges, call);
				const text = foldText(plan, context, request.lost);
				if (plan.operation === undefined) return refusal(text);
				const [beforeTokens, afterTokens] = [plan.before.sizeTokens, plan.after.sizeTokens];
				session.log.info("compress", { ranges: request.ranges.length, beforeTokens, afterTokens });
				return answer(text, mark(plan.operation));
			}),
	});
}
