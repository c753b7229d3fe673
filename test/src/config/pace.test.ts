import { describe, expect, test } from "vitest";
import { nudge } from "../../../kernel/pipeline/nudge.ts";
import { recommend } from "../../../kernel/pipeline/recommend.ts";
import { paced } from "../../../src/config/pace.ts";
import type { PacedSettings } from "../../../src/config/schema.ts";
import { bareSettings, contextOf, Log, words } from "../../support/log.ts";

function settingsWith(maxContextLimit: number): PacedSettings {
	return {
		...bareSettings,
		compress: { ...bareSettings.compress, keepTokens: 16_000, stepTokens: 16_000, maxContextLimit },
	};
}

/** After how many steps of work a nudge comes, on a window of so many tokens. */
function stepsToNudge(maxContextLimit: number, limitTokens: number): number {
	const log = new Log();
	log.user("task");
	for (let steps = 1; steps <= 40; steps++) {
		log.step("read", { path: `${steps}` }, words(700, `n${steps}-`));
		const settings = paced(settingsWith(maxContextLimit), limitTokens);
		const window = { limitTokens, usableTokens: limitTokens, source: "model" } as const;
		const context = contextOf(log.branch(), { settings, window });
		if (nudge(recommend(log.view(), context), context).nudge !== undefined) return steps;
	}
	return Number.POSITIVE_INFINITY;
}

describe("compress.maxContextLimit", () => {
	test("makes nudges come as on a model with that window", () => {
		const small = stepsToNudge(1, 32_000);
		expect(small).toBeGreaterThan(2);
		expect(stepsToNudge(1, 64_000)).toBeGreaterThan(small);
		expect(stepsToNudge(1, 1_000_000)).toBeGreaterThan(stepsToNudge(1, 64_000) + 1);
		expect(stepsToNudge(32_000, 1_000_000)).toBe(small);
		expect(stepsToNudge(32_000, 64_000)).toBe(small);
		expect(stepsToNudge(0.5, 64_000)).toBe(small);
	});

	test("changes nothing where the window is smaller than it, or the pace is full at it", () => {
		for (const limit of [1, 64_000, 10_000_000]) {
			const settings = settingsWith(limit);
			expect(paced(settings, 64_000)).toBe(settings);
		}
		const full = settingsWith(200_000);
		expect(paced(full, 1_000_000)).toBe(full);
	});
});
