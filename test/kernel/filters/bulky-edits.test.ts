import { describe, expect, it } from "vitest";
import { begun, foldFirst, shownMessage } from "../../support/filtering.ts";
import { words } from "../../support/log.ts";

const on = { bulkyEdits: true };

function changed(name: string, isError: boolean) {
	const log = begun();
	log.assistant("", [
		{ name, arguments: { path: "a.ts", edits: [{ oldText: "x", newText: words(200) }] } },
		{ name: "bash", arguments: { command: words(200, "long") } },
	]);
	log.result("changed", { isError });
	log.result("fine", { call: 1 });
	return log;
}

describe("the long inputs of an edit or a write", () => {
	it.each(["edit", "write"])("give way to a marker once the %s is done, and those of other calls stay", (name) => {
		const log = changed(name, false);
		expect(foldFirst(log, on)).toEqual(["m4 bulkyEdits"]);
		const newText = '[left out: this change is made; decompress({ id: "m00004" }) shows this input]';
		expect(shownMessage(log, 4)?.content).toMatchObject([
			{ arguments: { path: "a.ts", edits: [{ oldText: "x", newText }] } },
			{ arguments: { command: words(200, "long") } },
		]);
	});

	it("stay where the change failed, where it is none, and unless the rule is switched on", () => {
		expect(foldFirst(changed("edit", true), on)).toEqual([]);
		expect(foldFirst(changed("grep", false), on)).toEqual([]);
		expect(foldFirst(changed("edit", false))).toEqual([]);
	});
});
