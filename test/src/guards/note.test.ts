import { describe, expect, it } from "vitest";
import { withNote } from "../../../src/guards/note.ts";

const image = { type: "image" as const, data: "aGk=", mimeType: "image/png" };
const text = (said: string) => ({ type: "text" as const, text: said });

describe("a note on a result", () => {
	it("is a paragraph at the end of the last text, and leaves everything else where it is", () => {
		const content = [text("one"), text("two"), image];
		expect(withNote(content, "[note]")).toEqual([text("one"), text("two\n\n[note]"), image]);
		expect(content[1]).toEqual(text("two"));
	});

	it("is the text where there is none", () => {
		expect(withNote([image], "[note]")).toEqual([image, text("[note]")]);
		expect(withNote([text("")], "[note]")).toEqual([text("[note]")]);
		expect(withNote([], "[note]")).toEqual([text("[note]")]);
	});
});
