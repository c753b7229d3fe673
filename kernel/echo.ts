import { mapStrings } from "./reduce.ts";

/** Tags as we write them, with the line break before them; nothing a user would write by accident. */
const echoPattern = /\n?<acp>m\d{5,}<\/acp>/g;
const lastEchoes = /(?:\s*<acp>m\d{5,}<\/acp>)+\s*$/;

/** True if a text holds a tag. */
export function hasEcho(text: string): boolean {
	return text.search(echoPattern) >= 0;
}

/** The text of an answer without the tags that the model put at its end, as it saw them at the end of other messages. */
export function withoutLastEcho(text: string): string {
	return text.replace(lastEchoes, "");
}

/** A value with all tags taken out of its strings; the same value if there were none. */
export function withoutEchoes(value: unknown): unknown {
	return mapStrings(value, (text) => text.replace(echoPattern, ""));
}
