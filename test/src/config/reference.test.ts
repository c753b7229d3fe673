import { describe, expect, test } from "vitest";
import { describeProblems, readDocument, readEnvironment, resolveFor } from "../../../src/config/merge.ts";

/** What a file of billion-context-pi means here. */
function load(document: unknown) {
	const layers = { environment: readEnvironment({}), files: [readDocument("acp.json", document)] };
	return {
		settings: (provider?: string, model?: string) => resolveFor(layers, provider, model),
		warnings: describeProblems(layers),
	};
}

describe("an acp.json of billion-context-pi", () => {
	test("means the same here where the keys are the same", () => {
		const { settings, warnings } = load({
			enabled: false,
			debug: true,
			modelContextLimit: 200_000,
			outputHeadroomMaxPct: 0.2,
			toolBashDefaultTimeout: 0,
			toolOutputMaxBytes: 200_000,
			protectedTools: ["todo*"],
			neverPreserveRecentTools: [],
			preserveRecentMessages: 3,
			compress: { maxContextLimit: "75%", emergencyThresholdPercent: "90%" },
		});
		expect(warnings).toEqual([]);
		expect(settings()).toMatchObject({
			enabled: false,
			modelContextLimit: 200_000,
			neverPreserveRecentTools: [],
			compress: { maxContextLimit: 0.75, emergencyThresholdPercent: 0.9 },
		});
	});

	test("means the same where its names differ", () => {
		const { settings, warnings } = load({
			compress: {
				nudgeGrowthTokens: "40K",
				providers: { acme: { nudgeGrowthTokens: 20_000, models: { big: { maxContextLimit: "100K" } } } },
			},
			throttleRetry: { enabled: false },
			repetitionGuard: { enabled: true },
		});
		expect(warnings).toEqual([]);
		expect(settings()).toMatchObject({ compress: { stepTokens: 40_000 }, throttleRetry: false, repetitionGuard: true });
		expect(settings("acme").compress).toMatchObject({ stepTokens: 20_000, maxContextLimit: 1 });
		expect(settings("acme", "big").compress).toMatchObject({ stepTokens: 20_000, maxContextLimit: 100_000 });
	});

	test("gives way where our names say it too", () => {
		const { settings, warnings } = load({
			providers: { acme: { compress: { stepTokens: 1 }, models: { big: { compress: { stepTokens: 2 } } } } },
			compress: {
				stepTokens: 3,
				nudgeGrowthTokens: 4,
				providers: { acme: { nudgeGrowthTokens: 5, models: { big: { stepTokens: 6 }, small: { stepTokens: 7 } } } },
			},
		});
		expect(warnings).toEqual([]);
		const step = (provider?: string, model?: string) => settings(provider, model).compress.stepTokens;
		expect([step(), step("acme"), step("acme", "big"), step("acme", "small")]).toEqual([3, 1, 2, 7]);
	});

	test("gets one notice that names what it cannot mean here", () => {
		const { settings, warnings } = load({
			autoUpdate: true,
			acknowledgePromptsRisk: true,
			rules: false,
			priceProfile: { w: 1 },
			repetitionGuard: { warn: 3, abort: 5 },
			compress: { async: true, reasoning: {}, providers: { acme: { stripImages: true } } },
		});
		expect(warnings).toEqual([
			"acp.json: autoUpdate, acknowledgePromptsRisk, rules, priceProfile, repetitionGuard.warn, repetitionGuard.abort, compress.async, compress.reasoning, providers.acme.compress.stripImages: known to billion-context-pi only, and ignored",
		]);
		expect(settings()).toMatchObject({ repetitionGuard: true, rules: { recentTurnsFull: 6 } });
	});

	test("gets the usual warning for a wrong value and for a key that nobody knows", () => {
		const { warnings } = load({ compress: { nudgeGrowthTokens: "many" }, repetitionGard: true });
		expect(warnings).toEqual([
			expect.stringMatching(/^acp.json: compress\.stepTokens is "many", expected tokens/),
			expect.stringMatching(/^acp.json: repetitionGard is not a known key .* repetitionGuard$/),
		]);
	});

	test("with odd values in odd places is read without harm", () => {
		const odd = JSON.parse(
			'{"__proto__": 1, "providers": [], "compress": {"providers": {"__proto__": {"models": {"__proto__": {"async": 1}}}}}, "throttleRetry": {"enabled": "x"}}',
		);
		expect(load(odd).warnings).toHaveLength(4);
		expect(load({ compress: { providers: 3 } }).warnings).toHaveLength(1);
		expect(load({ providers: { a: 1 }, compress: { providers: { a: { stepTokens: 1 } } } }).warnings).toHaveLength(1);
		expect(load({ compress: { providers: { a: 1, b: { models: [] } } } }).warnings).toEqual([]);
	});
});
