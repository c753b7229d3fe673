import { describe, expect, it } from "vitest";
import { outgoingItems, planPin, planRedo, planUndo, project, textOf, toMessages } from "../../kernel/index.ts";
import { viewTokens } from "../../kernel/view.ts";
import { contextOf, Log, said, words } from "../support/log.ts";

function worked(): Log {
	const log = new Log();
	log.user("Begin.");
	for (const name of ["a", "b", "c", "d"]) log.step("read", { path: `${name}.ts` }, words(600, name));
	log.user("Go on.");
	return log;
}

const range = (startId: string, endId: string) => ({
	startId,
	endId,
	summary: said(`${startId} to ${endId}: read files, nothing to fix`),
});

/** What the host would be sent, as texts. */
function shown(log: Log): readonly string[] {
	const branch = log.branch();
	const sent = [...log.entries.values()].flatMap((entry) => (entry.kind === "message" ? entry.message : []));
	const view = project(outgoingItems(branch, sent), contextOf(branch));
	return toMessages(view, contextOf(branch)).map(textOf);
}

/** Plans on the log and appends what was planned; returns what the user is told. */
function play(log: Log, planned: ReturnType<typeof planUndo>): string {
	if ("code" in planned) return planned.code;
	log.operation(planned.operation);
	return planned.text;
}

describe("undo", () => {
	it("brings back what the last fold replaced, and redo folds it again, byte for byte", () => {
		const log = worked();
		log.compress([range("m00002", "m00003")]);
		const folded = shown(log);
		expect(play(log, planUndo(log.branch(), log.view(), undefined))).toBe(
			"Taken back: b1 (m00002-m00003) no longer folded.",
		);
		expect(shown(log).some((text) => text.startsWith("<acp-block"))).toBe(false);
		expect(play(log, planRedo(log.branch(), log.view()))).toBe("Done again: b1 (m00002-m00003) folded again.");
		expect(shown(log)).toEqual(folded);
	});

	it("takes back one commit after the other, the last first", () => {
		const log = worked();
		log.compress([range("m00002", "m00003")]);
		log.compress([range("m00004", "m00005")]);
		log.compress([range("b1", "b2")]);
		const tops = () => log.branch().state.tops.map((block) => block.number);
		expect(tops()).toEqual([3]);
		play(log, planUndo(log.branch(), log.view(), undefined));
		expect(tops()).toEqual([1, 2]);
		play(log, planUndo(log.branch(), log.view(), undefined));
		expect(tops()).toEqual([1]);
		play(log, planUndo(log.branch(), log.view(), undefined));
		expect(tops()).toEqual([]);
		expect(play(log, planUndo(log.branch(), log.view(), undefined))).toBe("nothingToUndo");
	});

	it("never gives the number of a block that was taken back to another", () => {
		const log = worked();
		log.compress([range("m00002", "m00003")]);
		play(log, planUndo(log.branch(), log.view(), undefined));
		log.compress([range("m00002", "m00003")]);
		expect(log.branch().state.tops.map((block) => block.number)).toEqual([2]);
	});

	it("leaves nothing to do again after another fold", () => {
		const log = worked();
		log.compress([range("m00002", "m00003")]);
		play(log, planUndo(log.branch(), log.view(), undefined));
		log.compress([range("m00004", "m00005")]);
		expect(planRedo(log.branch(), log.view())).toEqual({ code: "nothingToRedo" });
	});

	it("takes back an unfold and a cut", () => {
		const log = worked();
		log.compress([range("m00002", "m00003")]);
		log.operation({ kind: "unfold", block: 1, sizeTokens: 0 });
		expect(play(log, planUndo(log.branch(), log.view(), undefined))).toBe(
			"Taken back: b1 (m00002-m00003) folded again.",
		);
		log.operation({
			kind: "truncate",
			sizeTokens: 0,
			reductions: [{ id: "e5", ordinal: 5, rule: "truncate", keepChars: 100, savedTokens: 10 }],
		});
		const cut = shown(log);
		expect(play(log, planUndo(log.branch(), log.view(), undefined))).toBe("Taken back: cuts of tool results.");
		expect(shown(log)).not.toEqual(cut);
	});

	it("opens a block that is named, and refuses one that is not in view", () => {
		const log = worked();
		log.compress([range("m00002", "m00003"), range("m00004", "m00005")]);
		expect(play(log, planUndo(log.branch(), log.view(), "b1"))).toBe("Opened b1; back in view: m00002-m00003.");
		expect(log.branch().state.tops.map((block) => block.number)).toEqual([2]);
		expect(planUndo(log.branch(), log.view(), "b7")).toMatchObject({ code: "unknownBlock" });
	});

	it("says the size of the view right after, from which growth counts", () => {
		const log = worked();
		log.compress([range("m00002", "m00003")]);
		for (let step = 0; step < 5; step++) log.step("read", { path: `e${step}.ts` }, words(600, `e${step}`));
		for (const planned of [
			() => planUndo(log.branch(), log.view(), undefined),
			() => planRedo(log.branch(), log.view()),
		]) {
			play(log, planned());
			expect(Math.abs((log.branch().state.baseTokens ?? 0) - viewTokens(log.view()))).toBeLessThan(60);
		}
		play(log, planUndo(log.branch(), log.view(), "b1"));
		expect(Math.abs((log.branch().state.baseTokens ?? 0) - viewTokens(log.view()))).toBeLessThan(60);
	});

	it("is not made of an operation that changed nothing", () => {
		const log = worked();
		log.compress([range("m00002", "m00003")]);
		log.operation({ kind: "unfold", block: 7, sizeTokens: 0 });
		expect(play(log, planUndo(log.branch(), log.view(), undefined))).toContain("b1 (m00002-m00003) no longer folded");
	});

	it("is refused where it would fold again what was pinned since", () => {
		const log = worked();
		log.compress([range("m00002", "m00005")]);
		play(log, planUndo(log.branch(), log.view(), undefined));
		play(log, planPin(log.branch(), "pin", "m00003"));
		expect(planRedo(log.branch(), log.view())).toEqual({ code: "pinned", ref: "m00002", block: 1 });
		play(log, planPin(log.branch(), "unpin", "m00003"));
		expect(play(log, planRedo(log.branch(), log.view()))).toContain("b1");
	});
});

describe("a pin", () => {
	it("keeps its unit in view when a range around it is folded, until it is taken off", () => {
		const log = worked();
		expect(play(log, planPin(log.branch(), "pin", "m00005"))).toBe("m00005 stays in view until /acp unpin m00005.");
		const [outcome] = log.compress([range("m00002", "m00007")]).outcomes;
		expect(outcome).toMatchObject({ isApplied: true, stayed: [{ range: "m00004-m00005", reason: "pinned" }] });
		expect(log.branch().state.tops[0]?.spans).toEqual([
			{ from: 2, to: 3 },
			{ from: 6, to: 7 },
		]);
		play(log, planPin(log.branch(), "unpin", "m00005"));
		expect(log.compress([range("m00004", "m00005")]).operation).toBeDefined();
	});

	it("is refused for what is folded, unknown or no message", () => {
		const log = worked();
		log.compress([range("m00002", "m00003")]);
		expect(planPin(log.branch(), "pin", "m00002")).toEqual({ code: "alreadyFolded", range: "m00002", block: 1 });
		expect(planPin(log.branch(), "pin", "m00999")).toMatchObject({ code: "unknownMessage" });
		expect(planPin(log.branch(), "pin", "b1")).toEqual({ code: "unreadableRef", text: "b1" });
		const { leafId } = log;
		log.compaction("summary", leafId);
		expect(planPin(log.branch(), "pin", "m00006")).toEqual({ code: "notInView", range: "m00006" });
		expect(planPin(log.branch(), "unpin", "m00006")).toEqual({ code: "notPinned", ref: "m00006" });
	});

	it("holds for its whole unit, also against a fold that hides spent calls", () => {
		const log = worked();
		log.assistant("", [{ name: "acp_status" }]);
		log.result(words(300, "status"));
		log.user("Next.");
		play(log, planPin(log.branch(), "pin", "m00012"));
		log.compress([range("m00002", "m00003")]);
		expect(log.branch().state.reductions.size).toBe(0);
		play(log, planPin(log.branch(), "unpin", "m00011"));
		expect(log.branch().state.pins.size).toBe(0);
	});

	it("is not offered to the model as foldable", () => {
		const log = worked();
		log.operation({ kind: "pin", message: { id: "e3", ordinal: 3 } });
		const branch = log.branch();
		const sent = [...log.entries.values()].flatMap((entry) => (entry.kind === "message" ? entry.message : []));
		const { foldable } = project(outgoingItems(branch, sent), contextOf(branch));
		expect(foldable.map((each) => [each.from, each.to])).toEqual([[4, 9]]);
	});
});
