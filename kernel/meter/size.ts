import { isImage, isText, isThinking, isToolCall, type Message, type Part, parts } from "../message.ts";
import { estimateImageTokens, estimateTokens } from "./estimate.ts";

/** What a tag costs; o200k counts 7 to 9. */
export const tagTokens = 8;

/** What the frame of a message costs on the wire, role and separators. */
const frameTokens = 4;

/** What stands in place of an image for a model that takes none. */
const placeholderTokens = 10;

/** Estimated tokens of a message as it is sent to a model that takes images. */
export function messageTokens(message: Message): number {
	if (message.role === "system") return frameTokens + estimateTokens(JSON.stringify(message));
	return parts(message).reduce((sum, part) => sum + partTokens(part), frameTokens);
}

/** Estimated tokens of a message that is nothing but a text. */
export function textTokens(text: string): number {
	return frameTokens + estimateTokens(text);
}

/** How much less of a message a model gets that takes no images: each is replaced by a line. */
export function imageTokens(message: Message): number {
	if (typeof message.content === "string") return 0;
	return message.content
		.filter(isImage)
		.reduce((sum, image) => sum + Math.max(0, estimateImageTokens(image) - placeholderTokens), 0);
}

function partTokens(part: Part): number {
	if (isText(part)) return estimateTokens(part.text);
	if (isThinking(part)) return estimateTokens(part.thinking);
	if (isToolCall(part)) return estimateTokens(part.name) + estimateTokens(JSON.stringify(part.arguments) ?? "");
	if (isImage(part)) return estimateImageTokens(part);
	return estimateTokens(JSON.stringify(part));
}
