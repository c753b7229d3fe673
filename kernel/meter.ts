import { estimateImageTokens, estimateTokens } from "./estimate.ts";
import { isImage, isText, isThinking, isToolCall, type Message, type Part, parts } from "./message.ts";

/** What a tag costs; o200k counts 7 to 9. */
export const tagTokens = 8;

/** What the frame of a message costs on the wire, role and separators. */
const frameTokens = 4;

/** Estimated tokens of a message as it is sent. */
export function messageTokens(message: Message): number {
	if (message.role === "system") return frameTokens + estimateTokens(JSON.stringify(message));
	return parts(message).reduce((sum, part) => sum + partTokens(part), frameTokens);
}

function partTokens(part: Part): number {
	if (isText(part)) return estimateTokens(part.text);
	if (isThinking(part)) return estimateTokens(part.thinking);
	if (isToolCall(part)) return estimateTokens(part.name) + estimateTokens(JSON.stringify(part.arguments) ?? "");
	if (isImage(part)) return estimateImageTokens(part);
	return estimateTokens(JSON.stringify(part));
}

/** The window of a model in tokens, and what of it a request may fill. */
export interface Window {
	readonly limitTokens: number;
	/** The limit less what is kept free for the answer. */
	readonly usableTokens: number;
}

/** Stands in where no window is known: small enough to be safe, large enough not to fold at once. */
const defaultLimitTokens = 128_000;

/**
 * The window of a request. `declaredTokens` is what the model declares (0 or absent: unknown), `overrideTokens` what
 * the user set; the answer's share is its maximum, at most `headroomMax` of the window.
 */
export function windowOf(of: {
	readonly declaredTokens?: number | undefined;
	readonly overrideTokens?: number | undefined;
	readonly answerMaxTokens?: number | undefined;
	readonly headroomMax: number;
}): Window {
	const limitTokens = of.overrideTokens || of.declaredTokens || defaultLimitTokens;
	const headroomTokens = Math.min(of.answerMaxTokens || Number.POSITIVE_INFINITY, limitTokens * of.headroomMax);
	return { limitTokens, usableTokens: Math.floor(limitTokens - headroomTokens) };
}
