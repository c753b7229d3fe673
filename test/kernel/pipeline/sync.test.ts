import { describe, expect, it } from "vitest";
import { sync } from "../../../kernel/pipeline/sync.ts";
import { branchItems } from "../../../kernel/sent.ts";
import { foreignItem, viewOf } from "../../../kernel/view.ts";
import { bareSettings, contextOf, Log, range, words } from "../../support/log.ts";

function standing(log: Log): readonly number[] {
	const branch = log.branch();
	const items = [foreignItem({ role: "custom", content: "x", timestamp: 1 }), ...branchItems(branch)];
	return [...sync(viewOf(items), contextOf(branch)).standing].map((block) => block.number);
}

function folded(): Log {
	const log = new Log();
	log.user("task");
	for (const name of ["a", "b"]) log.step("read", { path: name }, words(900, name));
	log.user("go on");
	log.compress([range("m2", "m3", "First."), range("m4", "m5", "Second.")], bareSettings);
	return log;
}

describe("the stage sync", () => {
	it("finds the top-level blocks", () => {
		const log = folded();
		expect(standing(log)).toEqual([1, 2]);
		log.compress([range("b1", "b2", "Both")], bareSettings);
		expect(standing(log)).toEqual([3]);
	});

	it("retires a block none of whose messages is sent any more", () => {
		const log = folded();
		log.compaction("so far", "e5");
		expect(standing(log)).toEqual([2]);
		log.edit("e5", null);
		expect(standing(log)).toEqual([]);
	});
});
