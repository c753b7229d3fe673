import { describe, expect, it } from "vitest";
import { type FoldPlan, planFold, type RangeOutcome } from "../../kernel/compress.ts";
import type { Settings } from "../../kernel/settings.ts";
import { foldText } from "../../kernel/wording.ts";
import { bareSettings, contextOf, Log, range, shown, wideContext, words } from "../support/log.ts";

function only(plan: FoldPlan): RangeOutcome {
	const [outcome] = plan.outcomes;
	return outcome ?? expect.unreachable();
}

function applied(plan: FoldPlan) {
	const outcome = only(plan);
	return outcome.isApplied ? outcome : expect.unreachable(outcome.problem.code);
}

function refused(plan: FoldPlan) {
	const outcome = only(plan);
	return outcome.isApplied ? expect.unreachable("applied") : outcome.problem;
}

describe("a pair of call and result", () => {
	it("is taken whole when a range ends or begins inside it, and the answer names the range used", () => {
		const log = new Log();
		log.user("task");
		log.assistant("", [{ name: "bash" }, { name: "bash" }]);
		log.result(words(900), { call: 0 });
		log.result(words(900), { call: 1 });
		log.user("go on");
		for (const [start, end] of [
			["m1", "m2"],
			["m3", "m3"],
			["m4", "m5"],
		] as const) {
			const copy = new Log();
			for (const entry of log.entries.values()) copy.entries.set(entry.id, entry);
			copy.leafId = log.leafId;
			const plan = copy.compress([range(start, end)], bareSettings);
			const spans = applied(plan).block.spans.map((span) => [span.from, span.to]);
			expect(spans).toEqual([[start === "m1" ? 1 : 2, 4]]);
			expect(foldText(plan, wideContext)).toMatch(/b1 = m0000[12]-m00004 \(.*asked for m0000/);
			expect(shown(copy.view())).toEqual([...(start === "m1" ? [] : ["m1"]), "b1", "m5", "m6", "m7"]);
		}
	});

	it("is taken whole where another message came in between, which stays if it must", () => {
		const log = new Log();
		log.user("task");
		log.assistant("", [{ name: "bash" }]);
		log.user("wait");
		log.result(words(900));
		const plan = log.compress([range("m2", "m4")], bareSettings);
		expect(applied(plan).block.spans).toMatchObject([
			{ from: 2, to: 2 },
			{ from: 4, to: 4 },
		]);
		expect(shown(log.view())).toEqual(["m1", "b1", "m3", "m5", "m6"]);
	});
});

describe("what may not be folded", () => {
	it("is the last user message: it stays at its place", () => {
		const log = new Log();
		log.step("read", { path: "a" }, words(900));
		log.user("the request");
		log.step("read", { path: "b" }, words(900));
		const outcome = applied(log.compress([range("m1", "m5")], bareSettings));
		expect(outcome.stayed).toEqual([{ range: "m00003", reason: "the last user message" }]);
		expect(outcome.block.spans.map((span) => [span.from, span.to])).toEqual([
			[1, 2],
			[4, 5],
		]);
		expect(outcome.block.text).toContain('covers="m00001-m00002 m00004-m00005"');
		expect(shown(log.view())).toEqual(["b1", "m3", "m6", "m7"]);
	});

	it("is the recent zone: the answer says up to where the block goes and what stays", () => {
		const log = new Log();
		log.user("task");
		log.step("read", { path: "a" }, words(900));
		log.user("go on");
		log.assistant("thinking aloud");
		log.assistant("more of it");
		const settings: Settings = { ...bareSettings, preserveRecentMessages: 2 };
		const plan = log.compress([range("m1", "m6")], settings);
		expect(applied(plan).stayed).toEqual([
			{ range: "m00004", reason: "the last user message" },
			{ range: "m00005-m00006", reason: "recent messages" },
		]);
		expect(foldText(plan, wideContext)).toMatch(
			/b1 = m00001-m00003 \(3 messages, .* tokens; m00004 stays: the last user message; m00005-m00006 stays: recent messages\)/,
		);
	});

	it("is a unit with a protected tool: a block around it has several spans, each rightly named", () => {
		const log = new Log();
		log.user("task");
		log.step("read", { path: "a" }, words(500));
		log.step("skill", { name: "x" }, "SKILL TEXT");
		log.step("read", { path: "b" }, words(500));
		log.step("skill", { name: "y" }, "OTHER SKILL");
		log.step("read", { path: "c" }, words(500));
		log.user("go on");
		const settings: Settings = { ...bareSettings, protectedTools: ["skill"] };
		const plan = log.compress([range("m2", "m11")], settings);
		expect(applied(plan).block.spans.map((span) => [span.from, span.to])).toEqual([
			[2, 3],
			[6, 7],
			[10, 11],
		]);
		expect(applied(plan).stayed.map((each) => each.range)).toEqual(["m00004-m00005", "m00008-m00009"]);
		expect(shown(log.view())).toEqual(["m1", "b1", "m4", "m5", "m8", "m9", "m12", "m13", "m14"]);
		expect(JSON.stringify(log.sent())).toContain("SKILL TEXT");
		expect(log.branch().state.blocks.get(1)).toMatchObject({ messages: 6 });
	});

	it("is the call in progress and everything after it", () => {
		const log = new Log();
		log.user("task");
		log.step("read", { path: "a" }, words(900));
		log.user("go on");
		const call = log.assistant(words(900), [{ name: "compress" }, { name: "read" }]);
		log.result(words(900), { call: 1 });
		const branch = log.branch();
		const record = log.timeline.find(call);
		const plan = planFold(branch, log.view(), bareSettings, [range("m1", "m6"), range("m5", "m6")], record);
		expect(applied(plan).stayed).toEqual([
			{ range: "m00004", reason: "the last user message" },
			{ range: "m00005-m00006", reason: "the call in progress" },
		]);
		expect(plan.outcomes[1]).toMatchObject({
			problem: { code: "nothingLeft", reasons: ["m00005-m00006 (the call in progress)"] },
		});
		expect(plan.foldable.every((each) => each.to < 5)).toBe(true);
	});

	it("leaves nothing where it is all of the range, and nothing changes", () => {
		const log = new Log();
		log.user("task");
		log.assistant("a");
		log.assistant("b");
		const settings: Settings = { ...bareSettings, preserveRecentMessages: 5 };
		expect(refused(log.compress([range("m1", "m3")], settings))).toEqual({
			code: "nothingLeft",
			range: "m00001-m00003",
			reasons: ["m00001 (the last user message)", "m00002-m00003 (recent messages)"],
		});
		expect(log.branch().state.commit).toBeUndefined();
	});

	it("leaves nothing new beside a block that stands", () => {
		const log = new Log();
		log.user("task");
		log.step("read", { path: "a" }, words(900));
		log.user("go on");
		log.compress([range("m1", "m3")], bareSettings);
		expect(refused(log.compress([range("m2", "m4")], bareSettings))).toEqual({
			code: "nothingLeft",
			range: "m00001-m00004",
			reasons: ["m00004 (the last user message)", "b1 (already folded)"],
		});
	});
});

describe("a range that is offered", () => {
	it("is accepted at that moment with any summary of a few hundred tokens", () => {
		const log = new Log();
		log.user("task");
		for (let index = 0; index < 6; index++) {
			log.step("read", { path: `${index}.ts` }, words(1_000, `r${index}-`));
			if (index % 2 === 1) log.user(words(40, `u${index}-`));
		}
		log.step("edit", { path: "z.ts" }, words(1_000));
		const { foldable } = planFold(log.branch(), log.view(), contextOf(log.branch()).settings, [], undefined);
		expect(foldable.length).toBeGreaterThan(1);
		const ranges = foldable.map((each) => range(`m${each.from}`, `m${each.to}`, words(300)));
		const plan = log.compress(ranges);
		expect(plan.outcomes.map((outcome) => outcome.isApplied && outcome.stayed)).toEqual(ranges.map(() => []));
	});

	it("after a fold is none that is folded, protected or spent", () => {
		const log = new Log();
		log.user("task");
		for (const name of ["a", "b", "c"]) log.step("read", { path: name }, words(2_500, name));
		log.step("acp_status", {}, words(2_500));
		log.user("go on");
		const plan = log.compress([range("m4", "m5")], bareSettings);
		expect(plan.foldable.map((each) => [each.from, each.to])).toEqual([
			[1, 3],
			[6, 7],
		]);
	});
});
