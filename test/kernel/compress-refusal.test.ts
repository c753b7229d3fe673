import { describe, expect, it } from "vitest";
import type { RangeRequest } from "../../kernel/arguments.ts";
import { type FoldPlan, planFold } from "../../kernel/compress.ts";
import { defaultSettings } from "../../kernel/settings.ts";
import { foldText } from "../../kernel/wording.ts";
import { bareSettings, Log, range, shown, wideContext, words } from "../support/log.ts";

/** Task, a block over two steps, two more steps and a question; nine messages in all. */
function worked(): Log {
	const log = new Log();
	log.user("task");
	for (const name of ["a", "b", "c"]) log.step("read", { path: name }, words(2_500, name));
	log.user("go on");
	log.compress([range("m2", "m5")], bareSettings);
	return log;
}

function problem(plan: FoldPlan) {
	const [outcome] = plan.outcomes;
	return outcome?.isApplied === false ? outcome.problem : expect.unreachable("applied");
}

const refusals: readonly [string, readonly RangeRequest[]][] = [
	["an unknown ref", [range("m1", "m526")]],
	["an unknown block", [range("b1", "b7")]],
	["a foreign ref", [range("m6@e2", "m7")]],
	["a garbage ref", [range("m1", "‮<script>")]],
	["an empty ref", [range("", "m3")]],
	["a blank summary", [range("m6", "m7", " \t\n ")]],
	["an empty summary", [range("m6", "m7", "")]],
	["a summary that is longer than what it replaces", [range("m6", "m7", words(9_000))]],
	["a range that is folded already", [range("m3", "m4")]],
	["the last user message alone", [range("m8")]],
	["the call itself", [range("m11")]],
	["no range at all", []],
	["nothing but bad ranges", [range("m0"), range("b0", "m2"), range("m3", "m4")]],
];

describe("a refused call", () => {
	it.each(refusals)("because of %s changes nothing", (_, ranges) => {
		const log = worked();
		const before = log.sent();
		const state = log.branch().state;
		const plan = log.compress(ranges, bareSettings);
		expect(plan.operation).toBeUndefined();
		expect(plan.after).toBe(plan.before);
		expect(log.branch().state).toBe(state);
		expect(JSON.stringify(log.sent().slice(0, before.length))).toBe(JSON.stringify(before));
	});

	it.each(refusals)("because of %s says what can be done and shows no template of a success", (_, ranges) => {
		const log = worked();
		const text = foldText(log.compress(ranges, bareSettings), wideContext);
		expect(text).toMatch(/^Nothing was folded\.\n/);
		expect(text).not.toMatch(/b\d+ = |retry|0 chars|0 ranges/);
		expect(text).toMatch(/Can be folded now: m00006-m00007|acp_status|Write what has to be known later/);
	});

	it("may be a call with the same object twice", () => {
		const log = worked();
		const twice = range("m6", "m7");
		const plan = planFold(log.branch(), log.view(), bareSettings, [twice, { ...twice }], undefined);
		expect(plan.outcomes.map((outcome) => outcome.isApplied)).toEqual([true, false]);
	});
});

describe("the reason", () => {
	it("for an invented ref names the newest message and what can be folded", () => {
		const log = worked();
		const text = foldText(log.compress([range("m00526", "m00530")], bareSettings), wideContext);
		expect(text).toContain("m00526 does not exist; the newest message is m00011.");
		expect(text).toMatch(/Can be folded now: m00006-m00007 \(.*\)\./);
	});

	it("for a folded range names the block and how to open it", () => {
		const text = foldText(worked().compress([range("m3", "m4")], bareSettings), wideContext);
		expect(text).toContain("m00003-m00004 is already folded in b1.");
		expect(text).toContain('decompress({ id: "b1" }) shows it.');
	});

	it("for a reversed range that would not pay names both", () => {
		const log = worked();
		const text = foldText(log.compress([range("m7", "m6", words(9_000))], bareSettings), wideContext);
		expect(text).toMatch(
			/Refused: The block for m00006-m00007 would take \d+ tokens, what it replaces takes \d+\. \(the boundaries were reversed\)/,
		);
	});

	it("for a second fold of the same range is that it is folded", () => {
		const log = worked();
		log.compress([range("m1", "m7")], bareSettings);
		const again = log.compress([range("m1", "m7")], bareSettings);
		expect(problem(again)).toEqual({ code: "alreadyFolded", range: "m00001-m00007", block: 2 });
	});

	it("counts the whole block, record and frame included, against what it replaces", () => {
		const log = new Log();
		log.user("task");
		log.step("edit", { path: `src/${"deep/".repeat(30)}file.ts` }, "ok");
		log.user("go on");
		const refused = problem(log.compress([range("m2", "m3", "An edit in src/deep/.")], bareSettings));
		expect(refused).toMatchObject({ code: "notSmaller", range: "m00002-m00003" });
		if (refused.code === "notSmaller") expect(refused.textTokens).toBeGreaterThanOrEqual(refused.sizeTokens);
	});

	it("is given exactly from the summary on that makes the block no smaller", () => {
		const log = new Log();
		log.user("task");
		log.step("read", { path: "a" }, words(60));
		log.user("go on");
		const codes = new Set<string>();
		for (let length = 1; length < 150; length++) {
			const [outcome] = planFold(
				log.branch(),
				log.view(),
				bareSettings,
				[range("m2", "m3", words(length))],
				undefined,
			).outcomes;
			if (outcome?.isApplied) expect(outcome.after.sizeTokens).toBeLessThan(outcome.before.sizeTokens);
			else if (outcome?.problem.code === "notSmaller") {
				expect(outcome.problem.textTokens).toBeGreaterThanOrEqual(outcome.problem.sizeTokens);
			}
			codes.add(outcome?.isApplied ? "applied" : (outcome?.problem.code ?? ""));
		}
		expect([...codes]).toEqual(["applied", "notSmaller"]);
	});

	it("for one bad ref of many names that one", () => {
		const log = worked();
		const plan = log.compress([range("m6", "m7"), range("m2", "nonsense")], bareSettings);
		expect(plan.outcomes[1]).toMatchObject({ isApplied: false, problem: { code: "unreadableRef", text: "nonsense" } });
		const text = foldText(plan, wideContext);
		expect(text).toMatch(
			/^Folded:\nb2 = m00006-m00007 .*\nRefused: "nonsense" is not a ref; refs look like m00012 or b3\./,
		);
	});
});

describe("a call on its own", () => {
	it("by a model that has nothing to fold is refused with a step that works", () => {
		const log = new Log();
		log.user("task");
		const plan = log.compress([range("m1")], defaultSettings);
		expect(foldText(plan, wideContext)).toMatch(/Nothing can be folded now; go on with your task\.$/);
		expect(plan.foldable).toEqual([]);
	});

	it("in an aborted answer is no fold: there is no result", () => {
		const log = worked();
		const before = log.view().items.length;
		log.assistant("", [{ name: "compress", arguments: { content: [range("m6", "m7")] } }], { stopReason: "aborted" });
		log.user("what happened?");
		expect(log.branch().state.tops).toHaveLength(1);
		expect(shown(log.view())).toHaveLength(before + 2);
	});

	it("whose text an assistant writes itself is no fold", () => {
		const log = worked();
		log.assistant("Folded:\nb2 = m00006-m00007 (2 messages, 900 → 40 tokens)");
		log.message({ role: "toolResult", toolName: "compress", toolCallId: "none", content: "Folded:\nb2 = m00006" });
		expect(log.branch().state.tops).toHaveLength(1);
	});
});
