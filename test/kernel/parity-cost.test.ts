import { describe, expect, it } from "vitest";
import { planFold } from "../../kernel/compress.ts";
import { planFit } from "../../kernel/guarantee.ts";
import { type Message, textOf, toolCalls } from "../../kernel/message.ts";
import { readingOf, uncalibrated } from "../../kernel/meter/calibration.ts";
import { advise } from "../../kernel/pipeline/index.ts";
import type { Settings } from "../../kernel/settings.ts";
import { estimateOf, itemTokens, viewTokens } from "../../kernel/view.ts";
import { bareSettings, contextOf, Log, range, shown, summaryOf, words } from "../support/log.ts";
import { answer, contextAt } from "../support/reports.ts";
import { bytes } from "../support/request.ts";

/** A question and steps of work of about so many tokens in all. */
function work(log: Log, sizeTokens: number, seed: string): void {
	log.user(`question ${seed}`);
	for (let step = 0; step < 10; step++) {
		log.step("read", { path: `src/${seed}/${step}.ts` }, words(sizeTokens / 10, `${seed}x${step}-`));
	}
}

/** Tokens of the blocks in view. */
function blockTokens(log: Log): number {
	return log.view().items.reduce((sum, item) => sum + (item.kind === "block" ? itemTokens(item) : 0), 0);
}

/** The messages of the view that call compress. */
function foldCalls(log: Log): readonly Message[] {
	return log.sent().filter((message) => toolCalls(message).some((call) => call.name === "compress"));
}

describe("a session that is folded again and again", () => {
	it("keeps the share of its blocks bounded where each fold takes the last one in", () => {
		const log = new Log();
		const sizes: number[] = [];
		for (let cycle = 0; cycle < 10; cycle++) {
			work(log, 20_000, `c${cycle}`);
			const last = log.branch().lastOrdinal;
			log.user("go on");
			const first = cycle === 0 ? "m1" : `b${cycle}`;
			const summary = `${summaryOf(log.branch(), last - 20, last)} ${words(600, `sum${cycle}-`)}`;
			const plan = log.compress([range(first, `m${last}`, summary)], bareSettings);
			expect(plan.outcomes.map((outcome) => outcome.isApplied)).toEqual([true]);
			sizes.push(blockTokens(log));
			expect(blockTokens(log) / viewTokens(log.view())).toBeLessThan(0.8);
		}
		expect(Math.max(...sizes)).toBeLessThan(1.5 * Math.min(...sizes));
		expect(viewTokens(log.view())).toBeLessThan(6_000);
	});

	it("keeps it bounded where blocks are distilled as they stand side by side", () => {
		const log = new Log();
		const sizes: number[] = [];
		for (let cycle = 0; cycle < 10; cycle++) {
			work(log, 20_000, `c${cycle}`);
			const last = log.branch().lastOrdinal;
			log.user("go on");
			const summary = `${summaryOf(log.branch(), last - 20, last)} ${words(600, `sum${cycle}-`)}`;
			log.compress([range(`m${last - 20}`, `m${last}`, summary)], bareSettings);
			const { tops } = log.branch().state;
			const [first, newest] = [tops[0]?.number, tops.at(-1)?.number];
			if (tops.length >= 4) {
				const distilled = `The src files were read again: ${words(300, `all${cycle}-`)}`;
				log.compress([range(`b${first}`, `b${newest}`, distilled)], bareSettings);
			}
			sizes.push(blockTokens(log));
		}
		expect(log.branch().state.tops.length).toBeLessThan(4);
		expect(Math.max(...sizes)).toBeLessThan(8_000);
	});

	it("shows each summary once where a fold begins behind the last block: the calls that wrote the older ones are gone", () => {
		const log = new Log();
		for (let cycle = 0; cycle < 5; cycle++) {
			work(log, 5_000, `c${cycle}`);
			const last = log.branch().lastOrdinal;
			log.user("go on");
			const first = cycle === 0 ? 1 : last - 23;
			const ranges = [
				range(`m${first}`, `m${last - 10}`, `Summary ${cycle} one.`),
				range(`m${last - 9}`, `m${last}`, `Summary ${cycle} two.`),
			];
			log.compress(ranges, bareSettings);
			expect(foldCalls(log)).toHaveLength(1);
		}
		const [call] = foldCalls(log);
		const others = log.sent().filter((message) => message !== call);
		const sent = others.map(bytes).join("\n");
		for (let cycle = 0; cycle < 5; cycle++) {
			for (const half of ["one", "two"]) expect(sent.split(`Summary ${cycle} ${half}.`)).toHaveLength(2);
		}
		const calls = JSON.stringify(call);
		expect(calls).toContain("Summary 4 one.");
		expect(calls).not.toContain("Summary 3 one.");
	});

	it.each([
		["unsigned", {}],
		["signed", { thinkingSignature: "signed" }],
	])("does not keep the thinking of its folds, %s", (_, signature) => {
		const log = new Log();
		const floors: number[] = [];
		for (let cycle = 0; cycle < 20; cycle++) {
			work(log, 4_000, `c${cycle}`);
			const last = log.branch().lastOrdinal;
			log.user("go on");
			const thought = { type: "thinking", thinking: words(2_400, `thought${cycle}-`), ...signature };
			const ranges = [range(cycle === 0 ? "m1" : `b${cycle}`, `m${last}`, `The src files of cycle ${cycle}.`)];
			const call = { type: "toolCall", id: `fold${cycle}`, name: "compress", arguments: { content: ranges } };
			log.message({ role: "assistant", content: [thought, call], stopReason: "toolUse" });
			expect(log.answer(ranges, 0).operation).toBeDefined();
			floors.push(viewTokens(log.view()));
		}
		const [first = 0] = floors;
		expect(Math.max(...floors) - first).toBeLessThan(1_000);
		expect(
			JSON.stringify(log.sent())
				.match(/thought\d+-0/g)
				?.every((word) => word === "thought19-0"),
		).toBe(true);
	});
});

describe("a session in which just what is offered is folded", () => {
	it("keeps of each fold no more than its blocks, though the calls come with much thinking", () => {
		const log = new Log();
		const floors: number[] = [];
		for (let cycle = 0; cycle < 20; cycle++) {
			work(log, 4_000, `c${cycle}`);
			log.user("go on");
			const { foldable } = planFold(log.branch(), log.view(bareSettings), bareSettings, [], undefined);
			expect(foldable.length).toBeGreaterThan(0);
			const ranges = foldable.map(({ from, to }) =>
				range(`m${from}`, `m${to}`, summaryOf(log.branch(), from, to).slice(0, 200)),
			);
			const thought = {
				type: "thinking",
				thinking: words(2_400, `thought${cycle}-`),
				thinkingSignature: "signed",
			};
			const call = { type: "toolCall", id: `fold${cycle}`, name: "compress", arguments: { content: ranges } };
			log.message({ role: "assistant", content: [thought, call], stopReason: "toolUse" });
			expect(log.answer(ranges, 0).operation).toBeDefined();
			floors.push(viewTokens(log.view()));
		}
		const [first = 0] = floors;
		expect((floors.at(-1) ?? 0) - first).toBeLessThan(19 * 700);
		expect(new Set(JSON.stringify(log.sent()).match(/thought\d+-0/g))).toEqual(new Set(["thought19-0"]));
	});
});

describe("calls of compress that failed", () => {
	/** Two steps of work and five refused calls after them. */
	function refused(): Log {
		const log = new Log();
		log.user("task");
		for (const path of ["a.ts", "b.ts"]) log.step("read", { path }, words(900, path));
		log.user("go on");
		for (let time = 0; time < 5; time++) log.compress([range(`m${900 + time}`, "m999")], bareSettings);
		return log;
	}

	it("stay in view until one succeeds, and leave it then: what was asked for and what was answered", () => {
		const log = refused();
		expect(foldCalls(log)).toHaveLength(5);
		log.user("try again");
		expect(foldCalls(log)).toHaveLength(5);
		log.compress([range("m2", "m5")], bareSettings);
		expect(foldCalls(log)).toHaveLength(1);
		expect(log.sent().map(textOf).join("\n")).not.toContain("does not exist");
		expect(shown(log.view())).toEqual(["m1", "b1", "m6", "m17", "m18", "m19"]);
	});
});

describe("a window that stays nearly full", () => {
	const limitTokens = 20_000;

	/** Thirty turns of which each adds a large result; the view is made to fit before each request. */
	function crowded(strategy: Settings["strategy"]): void {
		const log = new Log();
		const settings = { ...bareSettings, strategy };
		const window = { limitTokens, usableTokens: limitTokens, source: "model" as const };
		const cut = new Set<number>();
		for (let turn = 0; turn < 30; turn++) {
			log.user(`question ${turn}`);
			log.step("read", { path: `${turn}.ts` }, words(turn % 3 === 0 ? 9_000 : 2_500, `t${turn}-`));
			const context = contextOf(log.branch(), { settings, window });
			const found = planFit(log.view(settings), context, limitTokens);
			if (found.kind === "operation") log.operation(found.operation);
			else expect(found.kind).toBe("fits");
			const view = log.view(settings);
			const { sizeTokens, errorTokens } = readingOf(uncalibrated, estimateOf(view));
			expect(sizeTokens + errorTokens).toBeLessThanOrEqual(limitTokens);
			const items = view.items.flatMap((item) => (item.kind === "entry" ? item.record.ordinal : []));
			const sent = log.sent({ settings, window });
			for (const [place, item] of view.items.entries()) {
				const message = sent[place];
				if (item.kind !== "entry" || message === undefined) continue;
				const isCut = textOf(message).includes("characters left out");
				if (cut.has(item.record.ordinal)) expect(isCut).toBe(true);
				if (isCut) cut.add(item.record.ordinal);
			}
			expect(items.length).toBeGreaterThan(0);
		}
		if (strategy === "model") expect(cut.size).toBeGreaterThan(10);
	}

	it("never gets over it again by giving back what was cut", () => {
		crowded("model");
	});

	it("never gets over it where rules may fold, either", () => {
		crowded("hybrid");
	});
});

describe("a view in which nothing can be folded", () => {
	it("is followed by quiet requests, and by a nudge only after a step of what can be folded", () => {
		const settings = { ...bareSettings, compress: { ...bareSettings.compress, keepTokens: 2_000, stepTokens: 4_000 } };
		const log = new Log();
		log.user(words(30_000));
		const reason = () => {
			const context = contextOf(log.branch(), { settings });
			const decision = advise(log.view(settings), context).decision ?? expect.unreachable();
			return decision.isDue ? "due" : decision.reason;
		};
		expect(reason()).toBe("nothing");
		log.assistant("noted");
		expect(reason()).toBe("nothing");
		log.user("now work");
		log.compress([range("m1", "m2", summaryOf(log.branch(), 1, 2))], settings);
		for (let step = 0; step < 3; step++) {
			log.step("read", { path: `${step}.ts` }, words(800, `s${step}-`));
			expect(reason()).not.toBe("due");
		}
		log.step("read", { path: "large.ts" }, words(9_000, "large"));
		expect(reason()).toBe("due");
	});
});

describe("growth since the last nudge", () => {
	it("is that of the view, though a tiny side request was reported in between", () => {
		const log = new Log();
		log.user(words(38_000, "task"));
		answer(log, 43_000);
		log.operation({ kind: "nudge", sizeTokens: viewTokens(log.view()), voice: "soft" });
		const grown = () => advise(log.view(), contextAt(log)).decision?.grownTokens ?? expect.unreachable();
		log.user("a side question");
		answer(log, 318);
		expect(Math.abs(grown())).toBeLessThan(500);
		log.user(words(13_000, "more"));
		answer(log, 58_000);
		expect(grown()).toBeGreaterThan(12_000);
		expect(grown()).toBeLessThan(18_000);
	});
});
