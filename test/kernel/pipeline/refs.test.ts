import { describe, expect, it } from "vitest";
import { refs } from "../../../kernel/pipeline/refs.ts";
import { branchItems } from "../../../kernel/sent.ts";
import { viewOf } from "../../../kernel/view.ts";
import { contextOf, Log } from "../../support/log.ts";

function conversation() {
	const log = new Log();
	log.message({ role: "system", content: "rules" });
	log.user("task");
	log.assistant("sure", [{ name: "read" }]);
	log.result("text");
	const branch = log.branch();
	return { branch, view: viewOf(branchItems(branch)) };
}

describe("the stage refs", () => {
	it("marks user and tool messages, and neither system messages nor assistants", () => {
		const { branch, view } = conversation();
		const marked = refs(view, contextOf(branch)).items.map((item) => item.kind === "entry" && item.isTagged);
		expect(marked).toEqual([false, true, false, true]);
		expect(view.items.some((item) => item.kind === "entry" && item.isTagged)).toBe(false);
	});

	it("marks nothing while compress is not ours or not in the loadout", () => {
		const { branch, view } = conversation();
		expect(refs(view, contextOf(branch, { isActive: false }))).toBe(view);
	});
});
