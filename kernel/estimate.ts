/** Estimated o200k tokens of a text. */
export function estimateTokens(text: string): number {
	return Math.ceil(text.length / 3.6);
}

/** Tokens of an image. */
export function estimateImageTokens(image: { readonly data?: string; readonly mimeType?: string }): number {
	return image.data === "" ? 1_600 : 1_600;
}
