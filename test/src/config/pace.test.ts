import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { nudge } from "../../../kernel/pipeline/nudge.ts";
import { recommend } from "../../../kernel/pipeline/recommend.ts";
import { viewTokens } from "../../../kernel/view.ts";
import { createConfig } from "../../../src/config/load.ts";
import { paced } from "../../../src/config/pace.ts";
import type { PacedSettings } from "../../../src/config/schema.ts";
import { bareSettings, contextOf, Log, wideWindow, words } from "../../support/log.ts";

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

describe("pace", () => {
	const root = mkdtempSync(join(tmpdir(), "acp-pace-"));
	afterAll(() => rmSync(root, { recursive: true, force: true }));

	/** The settings that a file and the environment make. */
	function configOf(document: object, environment: Record<string, string> = {}, model?: string) {
		mkdirSync(join(root, ".pi"), { recursive: true });
		writeFileSync(join(root, ".pi", "acp.json"), JSON.stringify(document));
		const places = { home: root, cwd: root, configDirName: ".pi", projectTrusted: () => true };
		return createConfig({ ...places, environment }).current("acme", model);
	}

	/** At how many thousand tokens the first nudge comes. */
	function firstNudge(settings: PacedSettings): number {
		const log = new Log();
		log.user("task");
		for (let size = 1; size <= 100; size++) {
			log.step("read", {}, words(700, `n${size}-`));
			const context = contextOf(log.branch(), { settings, window: wideWindow });
			if (nudge(recommend(log.view(settings), context), context).nudge !== undefined)
				return viewTokens(log.view()) / 1_000;
		}
		return Number.POSITIVE_INFINITY;
	}

	test.each([
		[{}, 15 + 30],
		[{ pace: "thrifty" }, 15 + 22],
		[{ pace: "balanced" }, 15 + 30],
		[{ pace: "relaxed" }, 20 + 50],
		[{ pace: "relaxed", compress: { stepTokens: "10K" } }, 20 + 10],
		[{ pace: "thrifty", compress: { keepTokens: 0, stepTokens: "pace" } }, 22],
	])("%j makes the first nudge come at %i thousand tokens", (document, expected) => {
		expect(Math.abs(firstNudge(configOf(document)) - expected)).toBeLessThanOrEqual(2);
	});

	test("comes from the environment before all files, and from a model before the rest", () => {
		const document = { pace: "thrifty", providers: { acme: { models: { big: { pace: "relaxed" } } } } };
		expect(configOf(document).compress.stepTokens).toBe(22_000);
		expect(configOf(document, {}, "big").compress.stepTokens).toBe(50_000);
		expect(configOf(document, { ACP_PACE: "balanced" }, "big").compress.stepTokens).toBe(30_000);
	});

	test("may be taken back for a model where figures are set for all", () => {
		const own = { providers: { acme: { models: { big: { compress: { stepTokens: "pace" } } } } } };
		expect(configOf({ ...own, compress: { stepTokens: 7_000 } }, {}, "big").compress.stepTokens).toBe(30_000);
	});
});
