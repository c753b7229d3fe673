import { describe, expect, it } from "vitest";
import { planUnfold, type Unfolding } from "../../kernel/restore.ts";
import { viewTokens } from "../../kernel/view.ts";
import { bareSettings, Log, range, shown, words } from "../support/log.ts";

/** m1, b1 over m2 to m5, m6 and m7, m8 and what the call left. */
function folded(): Log {
	const log = new Log();
	log.user("task");
	for (const name of ["a", "b", "c"]) log.step("read", { path: name }, words(900, name));
	log.user("go on");
	log.compress([range("m2", "m5", "First.")], bareSettings);
	return log;
}

function plan(log: Log, id: string): Unfolding {
	const made = planUnfold(log.branch(), log.view(), id);
	return "code" in made ? expect.unreachable(made.code) : made;
}

function unfold(log: Log, id: string): Unfolding {
	const made = plan(log, id);
	log.operation(made.operation);
	return made;
}

describe("opening a block in the view", () => {
	it("brings its messages back to their place as they were sent before", () => {
		const log = folded();
		const before = log.sent({}).slice(0, 8);
		const fresh = new Log();
		fresh.user("task");
		for (const name of ["a", "b", "c"]) fresh.step("read", { path: name }, words(900, name));
		fresh.user("go on");
		expect(unfold(log, "b1").back).toBe("m00002-m00005");
		expect(shown(log.view())).toEqual(["m1", "m2", "m3", "m4", "m5", "m6", "m7", "m8", "m9", "m10"]);
		expect(log.sent().slice(0, 8)).toEqual(fresh.sent());
		expect(log.sent().slice(0, 8)).not.toEqual(before);
	});

	it("says about how many tokens the view gains", () => {
		const log = folded();
		const before = viewTokens(log.view());
		const { sizeTokens } = unfold(log, "b1").operation;
		expect(viewTokens(log.view())).toBe(sizeTokens);
		expect(sizeTokens).toBeGreaterThan(before);
		expect(log.branch().state.baseTokens).toBe(sizeTokens);
	});

	it("takes any ref inside it", () => {
		for (const id of ["m3", "m00004-m00005", "m1-m3", "b1"]) expect(plan(folded(), id).block.number).toBe(1);
	});

	it("opens one tier: child blocks come back, and the messages that were in none", () => {
		const log = folded();
		log.compress([range("m2", "m7", words(100))], bareSettings);
		log.compress([range("b2", "b2", "All.")], bareSettings);
		expect(plan(log, "b1").back).toBe("b2");
		unfold(log, "m3");
		expect(shown(log.view()).slice(0, 3)).toEqual(["m1", "b2", "m8"]);
		expect(plan(log, "m3")).toMatchObject({ block: { number: 2 }, back: "b1, m00006-m00007" });
		unfold(log, "b1");
		expect(shown(log.view()).slice(0, 5)).toEqual(["m1", "b1", "m6", "m7", "m8"]);
		unfold(log, "b1");
		expect(shown(log.view()).slice(0, 6)).toEqual(["m1", "m2", "m3", "m4", "m5", "m6"]);
	});

	it("lets the messages be folded again under a new number", () => {
		const log = folded();
		unfold(log, "b1");
		log.compress([range("m2", "m5", "Again.")], bareSettings);
		expect(shown(log.view()).slice(0, 3)).toEqual(["m1", "b2", "m6"]);
	});

	it("is refused where nothing is folded: what is in view already changes nothing", () => {
		const log = folded();
		expect(planUnfold(log.branch(), log.view(), " m1 ")).toEqual({ code: "notFolded", ref: "m1" });
		unfold(log, "b1");
		expect(planUnfold(log.branch(), log.view(), "b1")).toEqual({ code: "notFolded", ref: "b1" });
	});

	it("is refused for a block that the host no longer sends, whatever else the ref holds", () => {
		const log = folded();
		log.compaction("so far", "e6");
		expect(planUnfold(log.branch(), log.view(), "b1")).toEqual({ code: "notFolded", ref: "b1" });
		log.compress([range("m6", "m7", "Third.")], bareSettings);
		expect(plan(log, "m2-m7").block.number).toBe(2);
	});

	it("is refused for what does not exist", () => {
		expect(planUnfold(folded().branch(), folded().view(), "b9")).toMatchObject({ code: "unknownBlock" });
		expect(planUnfold(folded().branch(), folded().view(), "x")).toMatchObject({ code: "unreadableRef" });
	});
});
