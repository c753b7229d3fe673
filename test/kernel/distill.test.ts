import { describe, expect, it } from "vitest";
import type { Context } from "../../kernel/view.ts";
import { Log, range } from "../support/log.ts";
import { decided, sentence, sentenceTokens, settings, work } from "../support/paced-work.ts";

describe("a distillation", () => {
	/** So many blocks of about so many tokens side by side, each folded up to the tier. */
	function folded(blocks: number, sizeTokens: number, tier = 1): Log {
		const log = new Log();
		log.user("task");
		const summary = (at: number) => sentence.repeat(Math.round((sizeTokens * (1 + (tier - at) / 2)) / sentenceTokens));
		for (let block = 1; block <= blocks; block++) {
			work(log, 3 * sizeTokens + 2_000);
			plan(log, range(`m${2 * block}`, `m${2 * block + 1}`, summary(1)));
			for (let at = 2; at <= tier; at++) {
				const ref = `b${log.branch().state.lastNumber}`;
				plan(log, range(ref, ref, summary(at)));
			}
		}
		return log;
	}

	/** Folds without a call in the log, so that nothing stands between the blocks. */
	function plan(log: Log, ...ranges: Parameters<typeof log.answer>[0]): void {
		const other = new Log();
		for (const entry of log.entries.values()) other.entries.set(entry.id, entry);
		other.leafId = log.leafId;
		const { operation } = other.compress(ranges, settings);
		log.operation(operation ?? expect.unreachable());
	}

	function offered(log: Log, over: Partial<Context> = {}) {
		const { offer, isDue, reason } = decided(log, over);
		const { run } = offer;
		return { isDue, reason, run: run && [run.first.number, run.last.number, run.tier], ranges: offer.ranges.length };
	}

	it("is asked for where blocks weigh as much as what could be folded besides, after a step of growth", () => {
		const log = folded(8, 800);
		expect(offered(log)).toMatchObject({ isDue: false, run: [1, 8, 1] });
		work(log, 5_500, "edit");
		expect(offered(log)).toMatchObject({ isDue: true, reason: "grown", run: [1, 8, 1], ranges: 1 });
		work(log, 9_000, "edit");
		expect(offered(log)).toMatchObject({ isDue: true, run: undefined });
	});

	it("is worth it from half a step on where the blocks are many, else from a whole one", () => {
		expect(offered(folded(5, 500)).run).toBeUndefined();
		expect(offered(folded(6, 500)).run).toEqual([1, 6, 1]);
		expect(offered(folded(6, 100)).run).toBeUndefined();
		expect(offered(folded(2, 2_500)).run).toEqual([1, 2, 1]);
	});

	it("is asked for under pressure where nothing else can be folded, and merges the highest tier, too", () => {
		for (const tier of [1, 2, 3]) {
			const log = folded(2, 800, tier);
			expect(offered(log)).toMatchObject({ isDue: false, reason: "nothing", run: undefined });
			expect(offered(log, { fitTokens: 1_000 })).toMatchObject({ isDue: true, run: [tier, 2 * tier, tier] });
		}
	});

	it("takes blocks of one tier side by side only, and the heaviest run of them", () => {
		const log = folded(3, 2_000);
		work(log, 2_000, "edit");
		work(log, 100, "edit");
		const first = log.branch().lastOrdinal;
		for (const block of Array(3).keys()) work(log, 9_000 + block);
		for (const block of Array(3).keys()) {
			plan(log, range(`m${first + 1 + 2 * block}`, `m${first + 2 + 2 * block}`, sentence.repeat(260)));
		}
		expect(offered(log).run).toEqual([4, 6, 1]);
		expect(offered(folded(1, 9_000)).run).toBeUndefined();
	});

	it("takes along what little stands between the blocks, but nothing that stays", () => {
		/** Six blocks, with a message of the user before each, the last of which stays. */
		const mixed = () => {
			const log = new Log();
			for (const block of Array(6).keys()) {
				log.user(`question ${block}`);
				work(log, 4_000);
				plan(log, range(`m${3 * block + 2}`, `m${3 * block + 3}`, sentence.repeat(60)));
			}
			return log;
		};
		const asked = mixed();
		expect(offered(asked).run).toEqual([1, 5, 1]);
		asked.user("go on");
		expect(offered(asked).run).toEqual([1, 6, 1]);
		const log = folded(3, 2_000);
		work(log, 300, "todo");
		const at = log.branch().lastOrdinal;
		work(log, 9_000);
		plan(log, range(`m${at + 1}`, `m${at + 2}`, sentence.repeat(60)));
		expect(offered(log).run).toEqual([1, 4, 1]);
		expect(offered(log, { settings: { ...settings, protectedTools: ["todo"] } }).run).toEqual([1, 3, 1]);
	});
});
