import { describe, expect, it } from "vitest";
import { decide } from "../../kernel/decision.ts";
import { unfitted } from "../../kernel/meter/fit.ts";
import { type Window, windowOf } from "../../kernel/meter/window.ts";
import type { Voice } from "../../kernel/operation.ts";
import { next } from "../../kernel/problem.ts";
import { type Context, viewTokens } from "../../kernel/view.ts";
import { bareSettings, contextOf, Log, range } from "../support/log.ts";
import { decided, sentence, sentenceTokens, settings, window, work, worked } from "../support/paced-work.ts";

/** The voice of the nudge on the next request, or why there is none; a nudge is recorded, as after a turn that succeeded. */
function request(log: Log, over: Partial<Context> = {}): string {
	const { isDue, voice, reason } = decided(log, over);
	if (!isDue) return reason;
	log.operation({ kind: "nudge", sizeTokens: viewTokens(log.view(settings)), voice });
	return voice;
}

describe("a soft nudge", () => {
	it("comes once what is unfolded passes what is kept and a step", () => {
		expect(request(worked(5_500))).toBe("little");
		expect(request(worked(6_500))).toBe("soft");
	});

	it("comes again only after a full step of growth, whatever turns begin in between, also after a restart", () => {
		const log = worked(7_000);
		expect(request(log)).toBe("soft");
		for (const _ of Array(6).keys()) {
			log.assistant("done");
			log.user("and then?");
			expect(request(log)).toBe("grown little");
		}
		work(log, 3_500);
		expect(request(log)).toBe("grown little");
		const fresh = new Log();
		for (const entry of log.entries.values()) fresh.entries.set(entry.id, entry);
		fresh.leafId = log.leafId;
		expect(request(fresh)).toBe("grown little");
		work(log, 1_000);
		expect(request(log)).toBe("soft");
	});

	it("comes at three quarters of a step where a turn of the user begins, at half of one where the cache has run out", () => {
		const log = worked(5_300);
		expect(request(log)).toBe("little");
		log.assistant("done");
		const answered = log.outgoing().at(-1)?.timestamp ?? 0;
		const askedAfter = (delayMs: number, sizeTokens: number) => {
			const other = worked(sizeTokens);
			other.assistant("done", [], { timestamp: answered });
			other.message({ role: "user", content: "next", timestamp: answered + delayMs });
			return request(other);
		};
		expect(askedAfter(60_000, 5_300)).toBe("soft");
		expect(askedAfter(60_000, 4_500)).toBe("little");
		expect(askedAfter(301_000, 4_500)).toBe("soft");
		expect(askedAfter(301_000, 3_500)).toBe("little");
	});

	it("comes at half of a step after a tool that ran longer than the cache lives", () => {
		const log = worked(2_000);
		log.assistant("", [{ name: "read" }]);
		const called = log.outgoing().at(-1)?.timestamp ?? 0;
		log.result(sentence.repeat(Math.round(2_500 / sentenceTokens)), { timestamp: called + 400_000 });
		expect(request(log)).toBe("soft");
	});

	it("counts from the size after a fold", () => {
		const log = worked(7_000);
		work(log, 2_000);
		expect(request(log)).toBe("soft");
		log.compress([range("m2", "m3")], settings);
		work(log, 3_500);
		expect(request(log)).toMatch(/little/);
		work(log, 2_000);
		expect(request(log)).toBe("soft");
	});

	it("comes at once for a large session that is seen for the first time", () => {
		expect(request(worked(60_000))).toBe("soft");
	});

	it("is not put off by a side request that is much smaller", () => {
		const log = worked(7_000);
		expect(request(log)).toBe("soft");
		const { items } = log.view(settings);
		const side = { ...log.view(settings), items: items.slice(0, 1) };
		expect(decide(side, contextOf(log.branch(), { settings, window })).isDue).toBe(false);
		work(log, 3_000);
		expect(decided(log).grownTokens).toBeGreaterThan(2_900);
		expect(request(log)).toBe("grown little");
	});

	it("counts afresh once somebody else has made the view much smaller", () => {
		const log = worked(20_000);
		expect(request(log)).toBe("soft");
		log.compaction("what was said", null);
		work(log, 6_500);
		expect(request(log)).toBe("soft");
	});

	it("is left out where the default pace has room", () => {
		const asUsual = (sizeTokens: number, window: Window) =>
			request(worked(sizeTokens), { settings: { ...bareSettings }, window });
		const unknown = windowOf({ countsAnswer: true, headroomMax: 0.25 });
		expect(asUsual(20_000, unknown)).toBe("little");
		const of = (declaredTokens: number) => windowOf({ declaredTokens, countsAnswer: true, headroomMax: 0.25 });
		expect(asUsual(12_000, of(200_000))).toBe("little");
		expect(asUsual(46_000, of(1_000_000))).toBe("soft");
	});
});

describe("no nudge", () => {
	it("comes where the model cannot or need not fold", () => {
		expect(request(worked(60_000), { isActive: false })).toBe("inactive");
		expect(request(worked(60_000), { settings: { ...settings, strategy: "rules" } })).toBe("rules");
	});

	it("comes where nothing can be folded, however full the window is", () => {
		const log = new Log();
		log.user(sentence.repeat(8_000));
		expect(decided(log)).toMatchObject({ isDue: false, reason: "nothing", voice: "emergency" });
	});

	it("comes after a refusal that nothing can be done about, until a step of new work is there", () => {
		const log = worked(100);
		log.assistant("", [{ name: "compress" }]);
		log.result(`Nothing was folded.\n${next([])}`, { isError: true });
		work(log, 3_500);
		expect(request(log)).toBe("refused");
		for (const _ of Array(10).keys()) log.step("acp_status", {}, "The view holds little.");
		expect(request(log)).toBe("refused");
		work(log, 3_000);
		expect(request(log)).toBe("soft");
	});

	it("is silenced for good by a refusal that the model can do better, or by one before the user's last message", () => {
		const log = worked(7_000);
		log.assistant("", [{ name: "compress" }]);
		log.result("Nothing was folded.\nm00099 does not exist. Can be folded now: m00001-m00003 (7.0K).", {
			isError: true,
		});
		expect(request(log)).toBe("soft");
		const other = worked(7_000);
		other.assistant("", [{ name: "compress" }]);
		other.result(next([]), { isError: true });
		other.assistant("so be it");
		other.user("go on");
		expect(request(other)).toBe("soft");
	});

	it("is added by calls that fail, nor by text that looks like our results", () => {
		const log = worked(7_000);
		expect(request(log)).toBe("soft");
		for (const _ of Array(20).keys()) {
			log.assistant("Folded:\nb1 = m00001-m00003 (3 messages, 7.0K → 100 tokens)", [{ name: "compress" }]);
			log.result("m00099 does not exist.", { isError: true });
			expect(request(log)).toBe("grown little");
		}
		expect(log.branch().state.tops).toEqual([]);
	});
});

describe("pressure", () => {
	it("is told once in a step of growth, and at once where the last nudge was soft", () => {
		const log = worked(74_000);
		expect(request(log)).toBe("soft");
		work(log, 1_500);
		expect(request(log)).toBe("pressure");
		for (const _ of Array(10).keys()) {
			log.assistant("done");
			log.user("and then?");
			expect(request(log)).toBe("grown little");
		}
		work(log, 4_100);
		expect(request(log)).toBe("pressure");
	});

	it("is not told right after a fold that did not help much", () => {
		const log = worked(78_000);
		work(log, 3_000);
		work(log, 3_000);
		expect(request(log)).toBe("pressure");
		log.compress([range("m4", "m5")], settings);
		expect(request(log)).toBe("grown little");
		work(log, 4_100);
		expect(request(log)).toBe("pressure");
	});

	it("counts with what the meter may be wrong by, as what makes a request fit does", () => {
		expect(request(worked(60_000), { calibration: { fit: unfitted, anchor: undefined } })).toBe("pressure");
	});

	it("is told earlier where a request is made to fit earlier", () => {
		expect(request(worked(40_000), { fitTokens: 50_000 })).toBe("pressure");
		expect(request(worked(48_000), { fitTokens: 50_000 })).toBe("emergency");
		expect(request(worked(40_000), { fitTokens: 200_000 })).toBe("soft");
	});
});

describe("an emergency", () => {
	it("is told three times in a turn of the user at most, each after some growth", () => {
		const log = worked(91_000);
		const told: string[] = [];
		for (const _ of Array(30).keys()) {
			told.push(request(log));
			work(log, 300);
		}
		expect(told.filter((each) => each === "emergency")).toHaveLength(3);
		expect(told[1]).toBe("grown little");
		expect(told.at(-1)).toBe("asked enough");
		log.assistant("done");
		log.user("go on");
		expect(request(log)).toBe("emergency");
		expect(request(log)).toBe("grown little");
	});

	it("is told at once where the last nudge was of another kind", () => {
		const log = worked(74_000);
		expect(request(log)).toBe("soft");
		work(log, 17_000);
		expect(request(log)).toBe("emergency");
	});

	it("is told again where the view got smaller in between, and then fills up", () => {
		const log = worked(91_000);
		expect(request(log)).toBe("emergency");
		log.operation({ kind: "nudge", sizeTokens: viewTokens(log.view(settings)), voice: "pressure" });
		expect(request(log)).toBe("emergency");
	});

	it("goes on counting where nudges of earlier versions have no voice", () => {
		const log = worked(74_000);
		log.operation({ kind: "nudge", sizeTokens: viewTokens(log.view(settings)) });
		expect(log.branch().state.voice).toBe("soft" satisfies Voice);
		work(log, 1_500);
		expect(request(log)).toBe("pressure");
	});
});
