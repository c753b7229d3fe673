import type { ToolResultEvent } from "@earendil-works/pi-coding-agent";

/** What a tool returned: texts and images. */
export type Content = ToolResultEvent["content"];

/** The content with a line for the model at the end of its last text. */
export function withNote(content: Content, note: string): Content {
	const at = content.findLastIndex((part) => part.type === "text");
	const last = content[at];
	if (last?.type !== "text") return [...content, { type: "text", text: note }];
	return content.with(at, { ...last, text: last.text === "" ? note : `${last.text}\n\n${note}` });
}
