/** The words of a text in lower case; a run of CJK is one word. */
export function termsOf(text: string): readonly string[] {
	return text.toLowerCase().match(/[\p{L}\p{N}_]+/gu) ?? [];
}
