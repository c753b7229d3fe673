import { describe, expect, it } from "vitest";
import { planFold } from "../../kernel/compress.ts";
import { textOf } from "../../kernel/message.ts";
import { itemTokens, viewTokens } from "../../kernel/view.ts";
import { bareSettings, Log, range, said, shown, words } from "../support/log.ts";

/** Task, four steps of work and a question: m1 to m10, units [1] [2 3] [4 5] [6 7] [8 9] [10]. */
function worked(sizeTokens = 900): Log {
	const log = new Log();
	log.user("task");
	for (const name of ["a", "b", "c", "d"]) log.step("read", { path: `${name}.ts` }, words(sizeTokens, name));
	log.user("go on");
	return log;
}

describe("a fold", () => {
	it("puts one block in the place of its range", () => {
		const log = worked();
		const plan = log.compress([range("m2", "m5", "Two files were read.", "reading")], bareSettings);
		expect(shown(log.view())).toEqual(["m1", "b1", "m6", "m7", "m8", "m9", "m10", "m11", "m12"]);
		expect(plan.operation).toMatchObject({
			kind: "fold",
			author: "model",
			blocks: [
				{
					number: 1,
					tier: 1,
					topic: "reading",
					summary: said("Two files were read."),
					spans: [{ fromId: "e2", from: 2, toId: "e5", to: 5 }],
					children: [],
					messages: 4,
				},
			],
			reductions: [],
		});
	});

	it("changes nothing by itself: the log does", () => {
		const log = worked();
		const branch = log.branch();
		const view = log.view(bareSettings);
		const plan = planFold(branch, view, bareSettings, [range("m2", "m5")], undefined);
		expect(plan.operation).toBeDefined();
		expect(branch.state.tops).toEqual([]);
		expect(log.branch().state.tops).toEqual([]);
		expect(log.view(bareSettings)).toEqual(view);
	});

	it("shows summary and record in a user-role message that no later fold elsewhere changes", () => {
		const log = worked();
		log.compress([range("m2", "m5", "Two files were read, a.ts first, then b.ts after it.")], bareSettings);
		const [, first] = log.sent();
		expect(first).toMatchObject({ role: "custom", customType: "acp-block" });
		expect(first && textOf(first)).toMatch(
			/^<acp-block id="b1" tier="1" covers="m00002-m00005" messages="4" tokens="\d+">\nTwo files were read, a\.ts first, then b\.ts after it\.\n\n\[record made by code\]\nfiles: a\.ts \(read\), b\.ts \(read\)\n<\/acp-block>$/,
		);
		log.compress([range("m6", "m9", "Two more.")], bareSettings);
		expect(log.sent()[1]).toEqual(first);
	});

	it("says how large the view was and will be: as large as the next view is, the result of the call apart", () => {
		const log = worked();
		log.compress([range("m2", "m3")], bareSettings);
		log.user("more");
		const plan = log.compress([range("m4", "m5")], bareSettings);
		const result = log.view().items.at(-1);
		expect(viewTokens(log.view())).toBe(plan.after.sizeTokens + (result ? itemTokens(result) : 0));
		expect(plan.before.sizeTokens).toBeGreaterThan(plan.after.sizeTokens);
		expect(plan.operation).toMatchObject({ sizeTokens: plan.after.sizeTokens });
	});

	it("names the files and quotes the user as the host sends them now", () => {
		const log = new Log();
		log.user("task");
		log.user("the password is hunter2");
		log.user("forget it");
		log.assistant("", [{ name: "edit", arguments: { path: "never-run.ts" } }], { stopReason: "aborted" });
		log.step("edit", { path: "a.ts" }, words(900));
		log.user("go on");
		log.edit("e2", { content: "the password is ***" });
		log.edit("e3", null);
		log.compress([range("m2", "m6")], bareSettings);
		const text = log.branch().state.blocks.get(1)?.text;
		expect(text).toContain('user: "the password is ***"');
		expect(text).not.toContain("forget it");
		expect(text).not.toContain("never-run.ts");
		expect(text).toContain("files: a.ts (edited 1×)");
	});

	it("reaches over what is not in view: failed answers and edited-out messages go with their neighbours", () => {
		const log = new Log();
		log.user("task");
		log.step("read", { path: "a" }, words(900));
		log.assistant("oops", [], { stopReason: "error" });
		log.step("read", { path: "b" }, words(900));
		log.user("go on");
		const plan = log.compress([range("m2", "m6")], bareSettings);
		expect(plan.operation).toMatchObject({ blocks: [{ spans: [{ from: 2, to: 6 }], messages: 4 }] });
		expect(shown(log.view())).toEqual(["m1", "b1", "m7", "m8", "m9"]);
	});
});

describe("a fold around a block that the host no longer sends", () => {
	it("leaves that block out of its spans, and the block still opens", () => {
		const log = worked();
		log.compress([range("m4", "m5", "First.")], bareSettings);
		log.edit("e4", null);
		log.edit("e5", null);
		expect(shown(log.view()).slice(0, 4)).toEqual(["m1", "m2", "m3", "m6"]);
		log.compress([range("m2", "m7", "Around.")], bareSettings);
		expect(log.branch().state.blocks.get(2)).toMatchObject({
			spans: [
				{ from: 2, to: 3 },
				{ from: 6, to: 7 },
			],
			children: [],
		});
		expect(log.branch().state.tops.map((top) => top.number)).toEqual([2, 1]);
	});
});

describe("several ranges in one call", () => {
	it("are one commit, numbered in the order of the view", () => {
		const log = worked();
		const plan = log.compress([range("m8", "m9"), range("m2", "m3"), range("m5", "m4")], bareSettings);
		expect(plan.outcomes.map((outcome) => outcome.isApplied && outcome.block.number)).toEqual([3, 1, 2]);
		expect(shown(log.view())).toEqual(["m1", "b1", "b2", "m6", "m7", "b3", "m10", "m11", "m12"]);
		expect(log.branch().state.commit?.entryId).toBe("e12");
	});

	it("are applied as far as they can be, each refused one with its own reason", () => {
		const log = worked();
		log.compress([range("m2", "m3")], bareSettings);
		const plan = log.compress(
			[range("m2", "m3"), range("m4", "m5"), range("m6", "m7", " \n"), range("m99"), range("m5", "m9")],
			bareSettings,
		);
		expect(plan.outcomes.map((outcome) => (outcome.isApplied ? outcome.block.number : outcome.problem))).toEqual([
			{ code: "alreadyFolded", range: "m00002-m00003", block: 1 },
			2,
			{ code: "emptySummary", range: "m00006-m00007" },
			{ code: "unknownMessage", ref: "m00099", last: 13 },
			{ code: "overlap", range: "m00004-m00009", other: "m00004-m00005" },
		]);
		expect(log.branch().state.tops.map((top) => top.number)).toEqual([1, 2]);
	});

	it("name the one range that is folded already and fold the others", () => {
		const log = worked();
		log.compress([range("m2", "m5")], bareSettings);
		const plan = log.compress([range("m3", "m4"), range("m6", "m7"), range("m8", "m9")], bareSettings);
		expect(plan.outcomes.map((outcome) => outcome.isApplied)).toEqual([false, true, true]);
		expect(plan.outcomes[0]).toMatchObject({
			problem: { code: "alreadyFolded", range: "m00003-m00004", block: 1 },
			notes: ["asked for m00003-m00004"],
		});
	});

	it("give each of fifteen ranges its own reason", () => {
		const log = new Log();
		log.user("task");
		for (let index = 0; index < 15; index++) log.step("read", { path: `${index}` }, words(index < 13 ? 900 : 5));
		log.user("go on");
		const ranges = Array.from({ length: 15 }, (_, index) => range(`m${2 * index + 2}`, `m${2 * index + 3}`));
		log.compress(ranges.slice(0, 13), bareSettings);
		const plan = log.compress(ranges, bareSettings);
		expect(plan.operation).toBeUndefined();
		expect(plan.outcomes.map((outcome) => !outcome.isApplied && outcome.problem.code)).toEqual([
			...Array.from({ length: 13 }, () => "alreadyFolded"),
			"notSmaller",
			"notSmaller",
		]);
	});
});

describe("what a fold leaves behind", () => {
	it("are no calls of ours that have been answered: the next fold hides them after its first message", () => {
		const log = worked();
		log.step("acp_status", {}, "all is well");
		log.compress([range("m99")], bareSettings);
		log.compress([range("m2", "m3")], bareSettings);
		expect(shown(log.view())).toEqual(["m1", "b1", "m4", "m5", "m6", "m7", "m8", "m9", "m10", "m15", "m16"]);
	});

	it("are calls of ours before its first message, in company, or with words", () => {
		const log = new Log();
		log.user("task");
		log.step("acp_status", {}, "early");
		log.step("read", { path: "a" }, words(900));
		log.assistant("I look first.", [{ name: "acp_status" }]);
		log.result("late");
		log.assistant("", [{ name: "acp_status" }, { name: "bash" }]);
		log.result("one", { call: 0 });
		log.result("two", { call: 1 });
		log.user("go on");
		log.compress([range("m4", "m5")], bareSettings);
		expect(shown(log.view())).toEqual(["m1", "m2", "m3", "b1", "m6", "m7", "m8", "m9", "m10", "m11", "m12", "m13"]);
	});

	it("is still a summary where the next range takes in the call that wrote it", () => {
		const log = worked();
		log.compress([range("m2", "m5", "The first summary.")], bareSettings);
		log.step("read", { path: "e" }, words(900, "e"));
		log.user("and on");
		const plan = log.compress([range("m6", "m14", "The second summary.")], bareSettings);
		expect(plan.operation).toMatchObject({ reductions: [] });
		expect(shown(log.view())).toEqual(["m1", "b1", "b2", "m15", "m16", "m17"]);
		const texts = log.sent().map(textOf).join("\n");
		for (const summary of ["The first summary.", "The second summary."]) {
			expect(texts.split(summary)).toHaveLength(2);
		}
	});

	it("is one text for blocks of one call that were folded together, and nothing of the call", () => {
		const log = worked();
		log.compress(
			[range("m2", "m3", "First."), range("m4", "m5", "Second."), range("m6", "m7", "Third.")],
			bareSettings,
		);
		log.compress([range("b1", "b2", "First and second.")], bareSettings);
		expect(shown(log.view())).toEqual(["m1", "b4", "b3", "m8", "m9", "m10", "m13", "m14"]);
		const texts = log
			.sent()
			.slice(0, -2)
			.map((message) => JSON.stringify(message));
		expect(texts.filter((text) => text.includes("First."))).toEqual([]);
		expect(texts.filter((text) => text.includes("Third."))).toHaveLength(1);
	});
});

describe("two calls in one assistant message", () => {
	it("see each other: the second is judged against the view after the first", () => {
		const log = worked();
		log.assistant("", [
			{ name: "compress", id: "c1" },
			{ name: "compress", id: "c2" },
			{ name: "compress", id: "c3" },
		]);
		log.answer([range("m2", "m3")], 0);
		const second = log.answer([range("m2", "m3"), range("m4", "m5")], 1);
		const third = log.answer([range("b1", "b2", "Both.")], 2);
		expect(second.outcomes).toMatchObject([
			{ isApplied: false, problem: { code: "alreadyFolded", block: 1 } },
			{ isApplied: true, block: { number: 2 } },
		]);
		expect(third.operation).toMatchObject({ blocks: [{ number: 3, tier: 2, children: [1, 2] }] });
		expect(shown(log.view())).toEqual(["m1", "b3", "m6", "m7", "m8", "m9", "m10", "m11", "m12", "m13", "m14"]);
	});
});
