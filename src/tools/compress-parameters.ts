import { Type } from "typebox";
import { parameterDescriptions as say } from "../../kernel/index.ts";

const range = {
	type: "object",
	properties: {
		startId: { type: "string", description: say.startId },
		endId: { type: "string", description: say.endId },
		summary: { type: "string", description: say.summary },
		topic: { type: "string", description: say.topic },
	},
	required: ["startId", "endId", "summary"],
};

/**
 * What compress takes. The first form is the one to use; the others let through what models send instead, for the
 * tolerant reader of arguments. The object's identity tells whether the active tool of this name is ours.
 */
export const compressParameters = Type.Object({
	content: Type.Optional(
		Type.Unsafe<unknown>({
			anyOf: [{ type: "array", items: range }, { type: "array" }, { type: "object" }, { type: "string" }],
			description: say.ranges,
		}),
	),
});
