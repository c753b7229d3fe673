import { describe, expect, it } from "vitest";
import { nudge } from "../../../kernel/pipeline/nudge.ts";
import { recommend } from "../../../kernel/pipeline/recommend.ts";
import { viewTokens } from "../../../kernel/view.ts";
import { bareSettings, type contextOf as Context, contextOf, Log, range, words } from "../../support/log.ts";

const window = { limitTokens: 200_000, usableTokens: 150_000, source: "model" as const };
const settings = {
	...bareSettings,
	compress: { ...bareSettings.compress, keepTokens: 4_000, stepTokens: 4_000 },
};

/** Task, so many steps of a few thousand tokens, a question. */
function worked(steps: number): Log {
	const log = new Log();
	log.user("task");
	for (let index = 0; index < steps; index++) log.step("read", { path: `${index}` }, words(2_500, `n${index}-`));
	log.user("go on");
	return log;
}

function nudged(log: Log, over: Parameters<typeof Context>[1] = {}) {
	const context = contextOf(log.branch(), { settings, window, ...over });
	return nudge(recommend(log.view(), context), context).nudge;
}

describe("the stage nudge", () => {
	it("adds a text with the ranges once what is unfolded has grown by a step", () => {
		const log = worked(8);
		const due = nudged(log);
		expect(due?.text).toContain("startId m00001, endId m00017");
		expect(due?.sizeTokens).toBe(viewTokens(log.view()));
		expect(nudged(worked(1))).toBeUndefined();
	});

	it("is silent while compress is not ours or not in the loadout", () => {
		expect(nudged(worked(8), { isActive: false })).toBeUndefined();
	});

	it("is silent under rules, which ask no model to fold", () => {
		expect(nudged(worked(8), { settings: { ...settings, strategy: "rules" } })).toBeUndefined();
		for (const strategy of ["hybrid", "model"] as const) {
			expect(nudged(worked(8), { settings: { ...settings, strategy } })).toBeDefined();
		}
	});

	it("is silent where nothing can be folded, however large the view is", () => {
		const log = new Log();
		log.user(words(90_000));
		expect(nudged(log)).toBeUndefined();
	});

	it("waits for another step after a nudge and after a commit, also after a restart", () => {
		const log = worked(8);
		const { sizeTokens } = nudged(log) ?? expect.unreachable();
		log.operation({ kind: "nudge", sizeTokens });
		log.step("read", { path: "x" }, words(200));
		expect(nudged(log)).toBeUndefined();
		log.step("read", { path: "y" }, words(9_000));
		expect(nudged(log)).toBeDefined();
		log.compress([range("m2", "m9", "Half.")], bareSettings);
		expect(nudged(log)).toBeUndefined();
		const fresh = new Log();
		for (const entry of log.entries.values()) fresh.entries.set(entry.id, entry);
		fresh.leafId = log.leafId;
		expect(nudged(fresh)).toBeUndefined();
	});

	it("counts blocks as no growth", () => {
		const log = worked(8);
		log.compress([range("m2", "m17", words(1_000))], bareSettings);
		log.operation({ kind: "truncate", reductions: [], sizeTokens: 0 });
		expect(nudged(log)).toBeUndefined();
	});

	it("takes its share of the settings on a small window, and no more than all of them on a large one", () => {
		const log = worked(3);
		const wide = { ...settings, compress: { ...settings.compress, keepTokens: 10_000, stepTokens: 10_000 } };
		expect(
			nudged(log, {
				settings: wide,
				window: { limitTokens: 1_000_000, usableTokens: 900_000, source: "model" as const },
			}),
		).toBeUndefined();
		expect(nudged(log, { settings: wide, window })).toBeUndefined();
		expect(
			nudged(log, { settings: wide, window: { limitTokens: 8_000, usableTokens: 6_000, source: "model" as const } }),
		).toBeDefined();
	});
});
