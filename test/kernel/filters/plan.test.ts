import { describe, expect, it } from "vitest";
import { planFit } from "../../../kernel/guarantee.ts";
import { type Operation, planRules, planWhole, textOf, toMessages, viewTokens } from "../../../kernel/index.ts";
import { messageTokens } from "../../../kernel/meter/size.ts";
import { project } from "../../../kernel/pipeline/index.ts";
import { branchItems } from "../../../kernel/sent.ts";
import { begun, foldFirst, reductionsIn, shownMessage, switched } from "../../support/filtering.ts";
import { bareSettings, contextOf, Log, range, words } from "../../support/log.ts";
import { bytes, copyOf } from "../../support/request.ts";

const file = { path: "src/a.ts" };

/** A log of two reads of a file, m4 and m5, m6 and m7, after the step that will be folded. */
function readTwice(): Log {
	const log = begun();
	log.step("read", file, words(400, "old"));
	log.step("read", file, words(400, "new"));
	return log;
}

/** A log of turns of four messages, in each of which the same file is read. */
function turns(count: number, outputTokens = 400): Log {
	const log = new Log();
	for (let turn = 0; turn < count; turn++) {
		log.user(`task ${turn}`);
		log.step("read", file, words(outputTokens, "out"));
		log.assistant(words(20, "done"), [], { thinking: words(100, "thought") });
	}
	return log;
}

function wire(log: Log): readonly string[] {
	return log.sent({ settings: bareSettings }).map(bytes);
}

/** The tokens of what the view really shows, its tags apart. */
function shownTokens(log: Log): number {
	const { items } = project(branchItems(log.branch()), contextOf(log.branch(), { settings: bareSettings }));
	return items.reduce((sum, item) => sum + messageTokens(item.message), 0);
}

function sizeOf(log: Log): number {
	const { items } = log.view(bareSettings);
	return items.reduce((sum, item) => sum + item.sizeTokens, 0);
}

describe("what the rules of content reduce with a fold by the model", () => {
	it("is recorded in it, with what each message saves in all", () => {
		const log = begun();
		log.assistant("", [{ name: "write", arguments: { content: words(200) } }], { thinking: words(100, "thought") });
		log.result("no", { isError: true });
		const { operation } = log.compress([range("m2", "m3")], switched({ failedInputs: true }));
		expect(operation).toMatchObject({
			reductions: [
				{ id: "e4", ordinal: 4, rule: "unsignedThinking" },
				{ id: "e4", ordinal: 4, rule: "failedInputs" },
			],
		});
		const [first = 0, second] =
			log
				.branch()
				.state.reductions.get(4)
				?.map((each) => each.savedTokens) ?? [];
		expect(first).toBeGreaterThan(90);
		const leftTokens = messageTokens(shownMessage(log, 4) ?? expect.unreachable());
		expect(second).toBe((log.branch().message(4)?.sizeTokens ?? 0) - leftTokens);
	});

	it("stands after the first message that is folded", () => {
		const log = readTwice();
		log.step("bash", { command: "ls" }, words(600, "read"));
		const before = wire(log);
		expect(reductionsIn(log.compress([range("m8", "m9")], bareSettings).operation)).toEqual([]);
		expect(wire(log).slice(0, 7)).toEqual(before.slice(0, 7));
		expect(foldFirst(log)).toContain("m5 supersededReads");
	});

	it("is neither pinned nor a protected tool's, though the later call may be", () => {
		const pinned = readTwice();
		pinned.operation({ kind: "pin", message: { id: "e4", ordinal: 4 } });
		expect(foldFirst(pinned)).toEqual([]);
		const later = readTwice();
		later.operation({ kind: "pin", message: { id: "e6", ordinal: 6 } });
		expect(foldFirst(later)).toEqual(["m5 supersededReads"]);
		const log = begun();
		for (const seed of ["old", "new"]) log.step("todo", { list: 1 }, words(400, seed));
		const plan = log.compress([range("m2", "m3")], { ...bareSettings, protectedTools: ["todo"] });
		expect(reductionsIn(plan.operation)).toEqual([]);
	});

	it("stands before the unit of the call, and no later call is in that unit", () => {
		const log = begun();
		log.step("read", file, words(400, "old"));
		const compress = { name: "compress", arguments: {} };
		log.assistant("", [{ name: "read", arguments: file }, compress], { thinking: words(100) });
		log.result(words(400, "new"));
		expect(reductionsIn(log.answer([range("m2", "m3")], 1).operation)).toEqual([]);
		const after = log.compress([range("b1", "m5")], bareSettings);
		expect(reductionsIn(after.operation)).toEqual(["m6 unsignedThinking"]);
	});

	it("is nothing that the fold hides as spent, or that the host has edited", () => {
		const log = readTwice();
		log.assistant("", [{ name: "acp_status" }], { thinking: words(100) });
		log.result("all well");
		log.edit("e5", { content: words(300, "edited") });
		expect(foldFirst(log)).toEqual(["m8 hide"]);
	});

	it("is counted in the size of the view, and in the sizes of what can be folded next", () => {
		const log = readTwice();
		log.assistant("on", [], { thinking: words(300, "thought") });
		const other = copyOf(log, (id) => id);
		const { before, after, operation, foldable } = log.compress([range("m2", "m3")], bareSettings);
		const off = switched({ supersededReads: false, unsignedThinking: false });
		const unreduced = other.compress([range("m2", "m3")], off);
		expect(unreduced.foldable).toMatchObject([{ from: 4, to: 8 }]);
		expect(foldable).toEqual([]);
		expect(operation).toMatchObject({ sizeTokens: after.sizeTokens });
		expect(unreduced.after.sizeTokens - after.sizeTokens).toBeGreaterThan(600);
		expect(unreduced.before).toEqual(before);
		const { items, ...rest } = log.view(bareSettings);
		expect(viewTokens({ ...rest, items: items.slice(0, -1) })).toBe(after.sizeTokens);
		expect(sizeOf(log)).toBe(shownTokens(log));
	});

	it("is what was recorded, in other settings, after a restart, and where the details are lost", () => {
		const log = readTwice();
		const content = [range("m2", "m3")];
		log.compress(content, bareSettings);
		const sent = wire(log);
		const context = contextOf(log.branch(), { settings: switched({ supersededReads: false }) });
		expect(toMessages(project(branchItems(log.branch()), context), context).map(bytes)).toEqual(sent);
		expect(wire(copyOf(log, (id) => `copy-${id}`))).toEqual(sent);
		const lost = readTwice();
		lost.assistant("", [{ name: "compress", arguments: { content } }]);
		lost.answer(content, 0, { details: undefined });
		expect(wire(lost)).toEqual(sent);
	});

	it("holds from commit to commit; an undo takes it back, and a redo does it again", () => {
		const log = readTwice();
		const written = wire(log);
		foldFirst(log);
		const folded = wire(log);
		log.step("read", file, words(400, "newest"));
		expect(wire(log).slice(0, folded.length)).toEqual(folded);
		log.operation({ kind: "undo", sizeTokens: 1 });
		expect(wire(log).slice(0, written.length)).toEqual(written);
		log.operation({ kind: "redo", sizeTokens: 1 });
		expect(wire(log).slice(0, folded.length)).toEqual(folded);
	});

	it("grows with the next fold, goes into a larger block, and comes back as it was when that is opened", () => {
		const log = readTwice();
		foldFirst(log);
		log.step("read", file, words(400, "newest"));
		log.step("bash", { command: "ls" }, words(600, "ls"));
		const wide = log.compress([range("b1", "m5")], bareSettings);
		expect(reductionsIn(wide.operation)).toEqual(["m8 hide", "m7 supersededReads"]);
		expect(sizeOf(log)).toBe(shownTokens(log));
		log.operation({ kind: "unfold", block: 2, sizeTokens: 1 });
		expect(textOf(shownMessage(log, 5) ?? expect.unreachable())).toMatch(/^\[left out: /);
		expect(sizeOf(log)).toBe(shownTokens(log));
	});
});

describe("what the rules of content reduce with a fold without the model", () => {
	function recorded(log: Log, operation: Operation | undefined): readonly string[] {
		log.operation(operation ?? expect.unreachable());
		const view = log.view(bareSettings);
		expect(operation).toMatchObject({ kind: "fold", sizeTokens: viewTokens(view) });
		expect(sizeOf(log)).toBe(shownTokens(log));
		return reductionsIn(operation);
	}

	it("is recorded in a fold of older turns, the newest unit apart", () => {
		const log = turns(9);
		const context = contextOf(log.branch(), { settings: bareSettings });
		expect(recorded(log, planRules(log.view(bareSettings), context))).toEqual([
			...[16, 20, 24, 28, 32].map((ordinal) => `m${ordinal} unsignedThinking`),
			...[15, 19, 23, 27, 31].map((ordinal) => `m${ordinal} supersededReads`),
		]);
	});

	it("is recorded in a fold that the user asks for", () => {
		const log = turns(3, 800);
		log.operation({ kind: "pin", message: { id: "e8", ordinal: 8 } });
		log.step("bash", { command: "ls" }, "x");
		const context = contextOf(log.branch(), { settings: { ...bareSettings, preserveRecentMessages: 4 } });
		const operation = planWhole(log.view(bareSettings), context);
		expect(recorded(log, operation)).toEqual(["m12 unsignedThinking"]);
	});

	function fitting(log: Log, limitTokens: number): Operation | undefined {
		const found = planFit(log.view(bareSettings), contextOf(log.branch(), { settings: bareSettings }), limitTokens);
		return found.kind === "operation" ? found.operation : undefined;
	}

	it("is recorded in a fold that makes a request fit", () => {
		const log = turns(6, 1_000);
		const reductions = recorded(log, fitting(log, 7_500));
		expect(reductions).toEqual(expect.arrayContaining(["m20 unsignedThinking", "m19 supersededReads"]));
		expect(reductions).not.toContain("m23 supersededReads");
	});

	it("has no later call that the same fold cuts", () => {
		const log = turns(6, 1_000);
		log.step("read", file, words(30_000, "long"));
		const reductions = recorded(log, fitting(log, 8_000));
		expect(reductions).toEqual(expect.arrayContaining(["m26 truncate", "m19 supersededReads"]));
		expect(reductions).not.toContain("m23 supersededReads");
	});
});

describe("a message that is reduced", () => {
	it("is cut further at the size it has by then", () => {
		const log = begun();
		log.assistant("", [{ name: "write", arguments: { text: words(3_000) } }], { thinking: words(300, "thought") });
		log.result("done");
		expect(foldFirst(log)).toEqual(["m4 unsignedThinking"]);
		const settings = { ...bareSettings, strategy: "model" as const };
		const found = planFit(log.view(settings), contextOf(log.branch(), { settings }), 2_500);
		if (found.kind !== "operation") throw new Error("nothing was cut");
		expect(reductionsIn(found.operation)).toEqual(["m4 truncate"]);
		log.operation(found.operation);
		expect(sizeOf(log)).toBe(shownTokens(log));
		expect(viewTokens(log.view(bareSettings))).toBe("sizeTokens" in found.operation && found.operation.sizeTokens);
		expect(JSON.stringify(log.sent()[2])).not.toContain("thought");
	});

	it("is shown as the host edits it later, at its size", () => {
		const log = readTwice();
		foldFirst(log);
		log.edit("e5", { content: [{ type: "text", text: "edited" }] });
		expect(shownMessage(log, 5)?.content).toEqual([{ type: "text", text: "edited" }]);
		expect(sizeOf(log)).toBe(shownTokens(log));
	});

	it("weighs what is left of it for a model that takes no images, too", () => {
		const log = begun();
		for (const name of ["old", "new"]) {
			log.assistant("", [{ name: "read", arguments: file }]);
			log.result([
				{ type: "text", text: words(100, name) },
				{ type: "image", data: "aW1hZ2U=", mimeType: "image/png" },
			]);
		}
		expect(foldFirst(log)).toEqual(["m5 supersededReads"]);
		const item = branchItems(log.branch(), false).find((each) => each.kind === "entry" && each.record.ordinal === 5);
		expect(item?.sizeTokens).toBe(messageTokens(shownMessage(log, 5) ?? expect.unreachable()));
	});
});
