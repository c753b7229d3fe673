import { describe, expect, it } from "vitest";
import { prune } from "../../../kernel/pipeline/prune.ts";
import { sync } from "../../../kernel/pipeline/sync.ts";
import { branchItems } from "../../../kernel/sent.ts";
import { type View, viewOf } from "../../../kernel/view.ts";
import { bareSettings, contextOf, Log, range, shown, words } from "../../support/log.ts";

function synced(log: Log): View {
	const branch = log.branch();
	return sync(viewOf(branchItems(branch)), contextOf(branch));
}

function folded(): Log {
	const log = new Log();
	log.user("task");
	log.step("read", { path: "a" }, words(900));
	log.message({ role: "system", content: "new rules" });
	log.step("read", { path: "b" }, words(900));
	log.user("go on");
	log.compress([range("m2", "m5", "Both.")], bareSettings);
	return log;
}

describe("the stage prune", () => {
	it("puts a block in the place of its messages; system messages inside stay where they are", () => {
		const log = folded();
		const view = synced(log);
		expect(shown(view)).toEqual(["m1", "m2", "m3", "system", "m4", "m5", "m6", "m7", "m8"]);
		const pruned = prune(view, contextOf(log.branch()));
		expect(shown(pruned)).toEqual(["m1", "b1", "system", "m6", "m7", "m8"]);
		expect(pruned.items[1]?.message.content).toBe(log.branch().state.blocks.get(1)?.text);
	});

	it("leaves a view without standing blocks as it is", () => {
		const log = folded();
		const view = { ...synced(log), standing: new Set<never>() };
		expect(prune(view, contextOf(log.branch()))).toBe(view);
	});

	it("hides nothing for a block that does not stand beside one that does", () => {
		const log = new Log();
		log.user("task");
		for (const name of ["a", "b"]) log.step("read", { path: name }, words(900, name));
		log.user("go on");
		log.compress([range("m2", "m3", "First."), range("m4", "m5", "Second.")], bareSettings);
		const view = synced(log);
		const [first] = view.standing;
		const standing = new Set(first === undefined ? [] : [first]);
		expect(shown(prune({ ...view, standing }, contextOf(log.branch()))).slice(0, 4)).toEqual(["m1", "b1", "m4", "m5"]);
	});
});
