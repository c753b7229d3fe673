import { describe, expect, it } from "vitest";
import { isEmpty, type Part } from "../../../kernel/message.ts";
import { messageTokens } from "../../../kernel/meter/size.ts";
import { filter } from "../../../kernel/pipeline/filter.ts";
import { branchItems } from "../../../kernel/sent.ts";
import { foreignItem, viewOf } from "../../../kernel/view.ts";
import { contextOf, Log } from "../../support/log.ts";

const image: Part = { type: "image", data: "aGk=", mimeType: "image/png" };

describe("the stage filter", () => {
	it("gives an empty tool result a text, so that no provider refuses it", () => {
		for (const content of ["", " \n", [], [{ type: "text", text: "" }]] as const) {
			const log = new Log();
			log.assistant("", [{ name: "bash" }]);
			log.result(content);
			const branch = log.branch();
			const view = filter(viewOf(branchItems(branch)), contextOf(branch));
			const result = view.items[1] ?? expect.unreachable();
			expect(isEmpty(result.message)).toBe(false);
			expect(result.message).toMatchObject({ role: "toolResult", toolName: "bash", isError: false });
			expect(result.sizeTokens).toBe(messageTokens(result.message));
		}
	});

	it("gives an empty message of the user a text, unless it gets a tag", () => {
		const log = new Log();
		log.user([]);
		const branch = log.branch();
		const [item] = branchItems(branch);
		if (item?.kind !== "entry") throw new Error("there is no item");
		const shown = (each: typeof item) => filter(viewOf([each]), contextOf(branch)).items[0]?.message.content;
		expect(shown(item)).toEqual([{ type: "text", text: "(empty)" }]);
		expect(shown({ ...item, isTagged: true })).toEqual([]);
	});

	it("leaves everything else the object it was", () => {
		const log = new Log();
		log.assistant("", [{ name: "bash" }]);
		log.result([image]);
		log.step("bash", {}, "output");
		const branch = log.branch();
		const items = [...branchItems(branch), foreignItem({ role: "toolResult", content: "", timestamp: 1 })];
		const filtered = filter(viewOf(items), contextOf(branch)).items;
		expect(filtered.every((item, index) => item === items[index])).toBe(true);
	});
});
