import { Type } from "typebox";
import type { Words } from "../../kernel/index.ts";
import { meaning } from "./meaning.ts";

/** Stands in the parameters that are ours. It is not enumerable: neither a copy nor JSON has it. */
const ours = Symbol("acp");

/**
 * What compress takes. The first form is the one to use; the others let through what models send instead, for the
 * tolerant reader of arguments. The very object tells whether the active tool of this name is ours.
 */
export function compressParameters(words: Words) {
	const range = {
		type: "object",
		properties: {
			startId: { type: "string", ...meaning(words, "startId") },
			endId: { type: "string", ...meaning(words, "endId") },
			summary: { type: "string", ...meaning(words, "summary") },
			topic: { type: "string", ...meaning(words, "topic") },
		},
		required: ["startId", "endId", "summary"],
	};
	const parameters = Type.Object({
		content: Type.Optional(
			Type.Unsafe<unknown>({
				anyOf: [{ type: "array", items: range }, { type: "array" }, { type: "object" }, { type: "string" }],
				...meaning(words, "content"),
			}),
		),
	});
	return Object.defineProperty(parameters, ours, { value: true });
}

/** True for parameters made here. */
export function isCompressParameters(parameters: object): boolean {
	return ours in parameters;
}
