import { describe, expect, it } from "vitest";
import { type Fit, planFit } from "../../kernel/guarantee.ts";
import { type Message, type Part, textOf, toolCalls } from "../../kernel/message.ts";
import { type Calibration, readingOf, uncalibrated } from "../../kernel/meter/calibration.ts";
import { estimateTokens } from "../../kernel/meter/estimate.ts";
import { messageTokens } from "../../kernel/meter/size.ts";
import type { Operation } from "../../kernel/operation.ts";
import { truncate } from "../../kernel/pipeline/truncate.ts";
import { defaultSettings, type Strategy } from "../../kernel/settings.ts";
import { type Context, estimateOf, type View, viewTokens } from "../../kernel/view.ts";
import { bareSettings, contextOf, Log, range, shown, words } from "../support/log.ts";

const image: Part = { type: "image", data: "aGk=", mimeType: "image/png" };

function contextFor(log: Log, strategy: Strategy, over: Partial<Context> = {}): Context {
	return contextOf(log.branch(), { ...over, settings: { ...defaultSettings, strategy, ...over.settings } });
}

/** A plan under strategy `model`: truncation alone. */
function planCut(
	log: Log,
	limitTokens: number,
	over: Partial<Context> = {},
): (Operation & { kind: "truncate" }) | undefined {
	const found = planFit(log.view(), contextFor(log, "model", over), limitTokens);
	return found.kind === "operation" && found.operation.kind === "truncate" ? found.operation : undefined;
}

function planned(log: Log, limitTokens: number, over: Partial<Context> = {}, isLastResort = true): Fit {
	return planFit(log.view(), contextFor(log, "hybrid", over), limitTokens, isLastResort);
}

/** Plans, commits, and checks that the view fits then and that planning again says so. */
function fitted(log: Log, limitTokens: number, over: Partial<Context> = {}): Operation {
	const found = planned(log, limitTokens, over);
	if (found.kind !== "operation") expect.unreachable();
	const { operation } = found;
	log.operation(operation);
	expect(needs(log, over)).toBeLessThanOrEqual(limitTokens);
	expect(planned(log, limitTokens, over)).toEqual({ kind: "fits" });
	if ("sizeTokens" in operation) expect(operation.sizeTokens).toBe(viewTokens(log.view()));
	return operation;
}

/** What the view takes with all that the meter may be wrong by. */
function needs(log: Log, { calibration = uncalibrated }: Partial<Context> = {}): number {
	const { sizeTokens, errorTokens } = readingOf(calibration, estimateOf(log.view(), calibration));
	return sizeTokens + errorTokens;
}

function worked(...outputs: readonly (string | readonly Part[])[]): Log {
	const log = new Log();
	log.user("task");
	for (const output of outputs) {
		log.assistant("", [{ name: "bash" }]);
		log.result(output);
	}
	return log;
}

/** Turns of a question, a step and an answer, and a last question. */
function turns(count: number, sizeTokens = 1_000): Log {
	const log = new Log();
	for (let turn = 1; turn <= count; turn++) {
		log.user(`question ${turn}`);
		log.step("read", { path: `${turn}.ts` }, words(sizeTokens, `r${turn}-`));
		log.assistant(`answer ${turn}`);
	}
	log.user("last question");
	return log;
}

function cut(log: Log): View {
	return truncate(log.view(), contextOf(log.branch()));
}

describe("a view that fits", () => {
	it("with all that the meter may be wrong by needs nothing; one token more, and it does", () => {
		for (const log of [worked(words(20_000)), turns(9)]) {
			expect(planned(log, needs(log))).toEqual({ kind: "fits" });
			expect(planned(log, needs(log) - 1)).toMatchObject({ kind: "operation" });
			expect(planCut(log, needs(log))).toBeUndefined();
		}
	});

	it("fits with its nudge, or not", () => {
		const log = turns(9);
		const nudge = { text: words(400), sizeTokens: 1, voice: "soft" as const };
		const view = { ...log.view(), nudge };
		expect(planFit(view, contextFor(log, "hybrid"), needs(log))).toMatchObject({ kind: "operation" });
		const whole = estimateOf(log.view()).sizeTokens + estimateTokens(nudge.text);
		const { sizeTokens, errorTokens } = readingOf(uncalibrated, { sizeTokens: whole, messages: 30 });
		expect(planFit(view, contextFor(log, "hybrid"), sizeTokens + errorTokens)).toEqual({ kind: "fits" });
	});

	it("is measured as the provider counted", () => {
		const log = turns(9);
		const estimate = estimateOf(log.view());
		const calibration: Calibration = {
			fit: { perToken: 2, perMessage: 5, errorShare: 0.02 },
			anchor: { estimate, reportedTokens: 50_000, isForeign: false },
		};
		expect(planned(log, 50_250, { calibration })).toEqual({ kind: "fits" });
		fitted(log, 45_000, { calibration });
	});
});

describe("cutting, where rules may not fold", () => {
	it("cuts the largest texts first, and no more of them than needed", () => {
		const log = worked(words(20_000, "a"), words(60_000, "b"), words(40_000, "c"));
		expect(planCut(log, needs(log) - 1)?.reductions.map((each) => each.ordinal)).toEqual([5]);
		expect(planCut(log, 60_000)?.reductions.map((each) => each.ordinal)).toEqual([5, 7]);
		expect(planCut(log, 0)?.reductions.map((each) => each.ordinal)).toEqual([5, 7, 3]);
	});

	it("keeps as much at each end as may be, and less only where that is not enough", () => {
		const log = worked(words(20_000, "a"), words(60_000, "b"));
		const keeps = (limitTokens: number) => {
			const operation = planCut(log, limitTokens) ?? expect.unreachable();
			return operation.reductions.map((each) => each.rule === "truncate" && each.keepChars);
		};
		expect(keeps(6_000)).toEqual([2_000, 2_000]);
		const least = planCut(log, 6_000)?.sizeTokens ?? 0;
		expect(keeps(Math.floor(least * 1.3) - 1)).toContain(500);
		expect(keeps(Math.floor(least * 1.3) - 1)).toContain(2_000);
		expect(keeps(400)).toEqual([100, 100]);
	});

	it("records how much each cut saves, and the size after them", () => {
		const log = worked(words(20_000, "a"), words(60_000, "b"));
		const operation = planCut(log, 0) ?? expect.unreachable();
		const before = viewTokens(log.view());
		log.operation(operation);
		expect(operation.sizeTokens).toBe(viewTokens(log.view()));
		expect(before - operation.sizeTokens).toBe(operation.reductions.reduce((sum, each) => sum + each.savedTokens, 0));
		for (const item of cut(log).items) expect(item.sizeTokens).toBe(messageTokens(item.message));
	});

	it("cuts results, answers, arguments and the user's earlier words, and never the user's last", () => {
		const log = new Log();
		log.user(words(4_000, "pasted"));
		log.assistant(words(4_000, "said"), [{ name: "write", arguments: { path: "a", content: words(4_000, "wrote") } }]);
		log.result(words(4_000, "got"));
		log.user(words(4_000, "asked"));
		log.operation(planCut(log, 0) ?? expect.unreachable());
		const messages = cut(log).items.map((item) => item.message);
		for (const message of messages.slice(0, 3)) expect(textOf(message)).toContain("characters left out");
		expect(JSON.stringify(toolCalls(messages[1] ?? expect.unreachable())[0]?.arguments)).toContain(
			"characters left out",
		);
		expect(textOf(messages[3] ?? expect.unreachable())).toBe(words(4_000, "asked"));
	});

	it("leaves alone what is small, cut already, signed, or would not get smaller", () => {
		const log = worked(
			"short",
			Array.from({ length: 9 }, () => image),
			words(20_000),
		);
		const signed: Part & { textSignature: string } = { type: "text", text: words(4_000), textSignature: "s" };
		log.message({ role: "assistant", content: [signed] });
		log.assistant(words(4_000), [], { stopReason: "aborted" });
		log.operation(planCut(log, 0) ?? expect.unreachable());
		expect([...log.branch().state.reductions.keys()]).toEqual([7]);
		expect(planCut(log, 0)).toBeUndefined();
	});

	it("cuts more of what was cut before, from the whole, and counts only what that gains", () => {
		const log = worked(words(20_000, "a"), words(20_000, "b"));
		log.operation(planCut(log, 6_000) ?? expect.unreachable());
		const operation = planCut(log, 400) ?? expect.unreachable();
		expect(operation.reductions).toMatchObject([{ keepChars: 100 }, { keepChars: 100 }]);
		log.operation(operation);
		expect(operation.sizeTokens).toBe(viewTokens(log.view()));
		for (const item of cut(log).items) expect(item.sizeTokens).toBe(messageTokens(item.message));
	});

	it("cuts an edited message as it is sent", () => {
		const log = worked(words(20_000));
		log.edit("e3", { content: words(9_000, "new") });
		log.operation(planCut(log, 1_000) ?? expect.unreachable());
		const [, , item] = cut(log).items;
		expect(textOf(item?.message ?? expect.unreachable())).toMatch(/^new0 new1 /);
		expect(item?.sizeTokens).toBe(messageTokens(item?.message ?? expect.unreachable()));
	});
});

describe("folding to fit", () => {
	it("folds the oldest turns, to the end of one, and leaves room for the next requests", () => {
		const log = turns(20);
		const limitTokens = Math.floor(needs(log) * 0.9);
		const operation = fitted(log, limitTokens);
		expect(operation).toMatchObject({ kind: "fold", author: "rules", reductions: [] });
		expect(needs(log)).toBeLessThanOrEqual(limitTokens * 0.7);
		expect(needs(log)).toBeGreaterThan(limitTokens * 0.5);
		const [block, first] = log.view().items;
		expect(block).toMatchObject({ kind: "block", block: { number: 1, author: "rules" } });
		expect(first?.message.role).toBe("user");
	});

	it("counts what each message costs beside its text", () => {
		const log = new Log();
		for (let turn = 1; turn <= 200; turn++) {
			log.user(`question ${turn}`);
			log.assistant(`answer ${turn}`);
		}
		log.user("last question");
		const calibration: Calibration = { fit: { perToken: 1, perMessage: 50, errorShare: 0.02 }, anchor: undefined };
		fitted(log, Math.floor(needs(log, { calibration }) * 0.9), { calibration });
		expect(log.view().items.length).toBeGreaterThan(100);
	});

	it("folds nothing of the last turn while older ones are enough, then its oldest steps, never the last one", () => {
		const log = turns(12);
		for (let step = 0; step < 6; step++) log.step("read", { path: `step ${step}` }, words(1_000, `s${step}-`));
		fitted(log, Math.floor(needs(log) * 0.9));
		expect(shown(log.view()).slice(-15, -12)).toEqual(["m47", "m48", "m49"]);
		expect(shown(log.view())[0]).toBe("b1");
		const long = turns(1);
		for (let step = 0; step < 20; step++) long.step("read", { path: `step ${step}` }, words(1_000, `s${step}-`));
		fitted(long, Math.floor(needs(long) * 0.8));
		const view = shown(long.view());
		expect(view.slice(0, 3)).toEqual(["b1", "m5", "b2"]);
		expect(view.at(-2)).toBe(`m${long.branch().lastOrdinal - 1}`);
		expect(view.length).toBeGreaterThan(10);
	});

	it("leaves blocks that stand before the oldest units alone while units are enough, and takes in those between", () => {
		const log = turns(12);
		log.compress([range("m1", "m8", words(100, "one")), range("m13", "m16", words(100, "two"))], bareSettings);
		const before = shown(log.view());
		expect(before.slice(0, 2)).toEqual(["b1", "m9"]);
		fitted(log, Math.floor(needs(log) * 0.6));
		expect(shown(log.view())[0]).toBe("b1");
		expect(log.branch().state.blocks.get(3)).toMatchObject({ children: [2], author: "rules" });
	});

	it("leaves blocks alone that stand before the last message where only units after it are needed", () => {
		const log = turns(4);
		log.compress([range("m1", "m8", words(100, "one")), range("m9", "m16", words(100, "two"))], bareSettings);
		for (let step = 0; step < 12; step++) log.step("read", { path: `step ${step}` }, words(1_000, `s${step}-`));
		fitted(log, Math.floor(needs(log) * 0.8));
		expect(shown(log.view()).slice(0, 4)).toEqual(["b1", "b2", "m17", "b3"]);
	});

	it("folds as many of the oldest blocks as it takes where units are not enough", () => {
		const log = turns(20);
		const ranges = Array.from({ length: 20 }, (_, turn) =>
			range(`m${4 * turn + 1}`, `m${4 * turn + 4}`, words(400, `s${turn}-`)),
		);
		const { leafId } = log;
		const { operation } = log.compress(ranges, bareSettings);
		log.leafId = leafId;
		log.operation(operation ?? expect.unreachable());
		fitted(log, Math.floor(needs(log) * 0.9));
		const { tops, blocks } = log.branch().state;
		expect(blocks.get(21)?.children).toEqual(
			Array.from({ length: blocks.get(21)?.children.length ?? 0 }, (_, at) => at + 1),
		);
		expect(tops.length).toBeGreaterThan(8);
		expect(tops.length).toBeLessThan(18);
	});

	it("cuts the result that no fold makes room for, and folds nothing then that may stay", () => {
		const log = turns(6);
		log.step("bash", { command: "cat log" }, words(100_000, "huge"));
		const operation = fitted(log, 20_000);
		expect(operation).toMatchObject({ kind: "truncate", reductions: [{ ordinal: 27, keepChars: 2_000 }] });
		const full = turns(12);
		full.step("bash", { command: "cat log" }, words(100_000, "huge"));
		const both = fitted(full, 24_000);
		expect(both).toMatchObject({ kind: "fold", blocks: [{ number: 1 }], reductions: [{ ordinal: 51 }] });
		expect(shown(full.view()).length).toBeGreaterThan(6);
	});

	it("leaves pins and protected tools in view, cut if need be", () => {
		const log = turns(6);
		log.step("keep", {}, words(8_000, "kept"));
		log.step("read", { path: "last" }, words(500));
		const settings = { ...defaultSettings, protectedTools: ["keep"] };
		log.operation({ kind: "pin", message: { id: "e2", ordinal: 2 } });
		fitted(log, 4_000, { settings });
		expect(shown(log.view())).toEqual(["b1", "m2", "m3", "m25", "m26", "m27", "m28", "m29"]);
		expect([...log.branch().state.reductions.keys()]).toContain(27);
	});

	it("does so where the user said nothing", () => {
		const log = new Log();
		for (let step = 0; step < 20; step++) log.step("read", { path: `step ${step}` }, words(1_000, `s${step}-`));
		fitted(log, Math.floor(needs(log) / 2));
		expect(shown(log.view())[0]).toBe("b1");
	});
});

describe("the last resort", () => {
	/** A step whose argument can be neither cut nor split. */
	function signedWork(log: Log, sizeTokens: number): void {
		const call = { type: "toolCall", id: "big", name: "write", arguments: { content: words(sizeTokens, "arg") } };
		const thinking = { type: "thinking", thinking: "hm", thinkingSignature: "s" };
		log.message({ role: "assistant", content: [thinking, call] });
		log.result("ok", { toolCallId: "big" });
	}

	it("folds the unit at work if it cannot be cut", () => {
		const log = turns(3);
		signedWork(log, 30_000);
		fitted(log, 8_000);
		expect(shown(log.view())).toEqual(["b1", "m13", "b2"]);
	});

	it("is left out where it is not asked for; what can be done short of it is", () => {
		const log = turns(3);
		signedWork(log, 30_000);
		const found = planned(log, 8_000, {}, false);
		expect(found).toMatchObject({ kind: "tooLarge", operation: { kind: "fold", blocks: [{ number: 1 }] } });
	});

	it("tells blocks in few words where they are too large, even one alone, and leaves out the record", () => {
		const log = turns(3, 6_000);
		log.compress([range("m1", "m12", words(5_000, "long"))], bareSettings);
		fitted(log, 1_000);
		const [block, ...rest] = log.view().items;
		expect(rest.map((item) => item.kind)).toEqual(["entry", "block"]);
		if (block?.kind !== "block") expect.unreachable();
		expect(block.block).toMatchObject({ children: [1], author: "rules" });
		expect(block.block.text).not.toContain("[record made by code]");
		expect(block.sizeTokens).toBeLessThan(250);
	});

	it("folds pins and protected tools where nothing else is left", () => {
		const log = new Log();
		log.user("question");
		signedWork(log, 30_000);
		log.operation({ kind: "pin", message: { id: "e2", ordinal: 2 } });
		log.user("last question");
		fitted(log, 2_000);
		expect(shown(log.view())).toEqual(["b1", "m4"]);
	});

	it("does its best where only the meter's error stands against it", () => {
		const log = turns(6);
		log.user(words(8_000, "pasted"));
		const window = { limitTokens: 12_000, usableTokens: 9_000, source: "model" as const };
		const found = planned(log, 8_500, { window });
		if (found.kind !== "operation") expect.unreachable();
		log.operation(found.operation);
		expect(shown(log.view())).toEqual(["b1", "m26"]);
		expect(needs(log)).toBeGreaterThan(8_500);
		expect(planned(log, 8_500, { window })).toEqual({ kind: "fits" });
	});

	it("touches nothing where the last message alone is larger than the window", () => {
		const log = turns(6);
		log.user(words(20_000, "pasted"));
		const window = { limitTokens: 12_000, usableTokens: 9_000, source: "model" as const };
		expect(planned(log, 8_500, { window })).toEqual({ kind: "tooLarge", operation: undefined });
	});

	it("is the same twice over, and changes nothing of the view", () => {
		const log = turns(6);
		signedWork(log, 30_000);
		const before: readonly Message[] = structuredClone(log.view().items.map((item) => item.message));
		expect(planned(log, 4_000)).toEqual(planned(log, 4_000));
		expect(log.view().items.map((item) => item.message)).toEqual(before);
	});
});
