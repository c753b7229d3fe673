import { describe, expect, it } from "vitest";
import { windowOf } from "../../kernel/meter/window.ts";
import { type PaceName, paceOf, paces } from "../../kernel/pace.ts";
import { defaultSettings } from "../../kernel/settings.ts";

/** The default pace of a model that declares a window; `fitTokens` as the adapter takes it there. */
function paceAt(declaredTokens: number, name: PaceName = "balanced") {
	const window = windowOf({ declaredTokens, answerMaxTokens: 32_000, countsAnswer: true, headroomMax: 0.25 });
	const settings = { ...defaultSettings, compress: { ...defaultSettings.compress, ...paces[name] } };
	const guarantee = Math.floor(window.usableTokens * settings.compress.emergencyThresholdPercent);
	const fitTokens = Math.min(guarantee, Math.floor(Math.max(declaredTokens - 5_120, declaredTokens * 0.4)));
	return { ...paceOf(settings, window, fitTokens), fitTokens };
}

describe("the pace", () => {
	// Thousands of tokens: unfolded at the first soft nudge, then the whole view at pressure, emergency, and the guarantee.
	it.each([
		[8_000, 2.8, 2.5, 3.0, 3.2],
		[16_000, 5.6, 8.6, 10.3, 10.9],
		[32_000, 11.3, 18.0, 21.6, 22.8],
		[64_000, 22.5, 36.0, 43.2, 45.6],
		[128_000, 45.0, 72.0, 86.4, 91.2],
		[200_000, 45.0, 126.0, 151.2, 159.6],
		[400_000, 45.0, 276.0, 331.2, 349.6],
		[1_000_000, 45.0, 726.0, 871.2, 919.6],
		[2_000_000, 45.0, 1_476.0, 1_771.2, 1_869.6],
	])("of a window of %i fits it", (declaredTokens, soft, pressure, emergency, guarantee) => {
		const { keepTokens, stepTokens, pressureTokens, emergencyTokens, fitTokens } = paceAt(declaredTokens);
		const thousands = [keepTokens + stepTokens, pressureTokens, emergencyTokens, fitTokens].map(
			(tokens) => tokens / 1_000,
		);
		for (const [index, expected] of [soft, pressure, emergency, guarantee].entries()) {
			expect(Math.abs((thousands[index] ?? 0) - expected)).toBeLessThan(0.06);
		}
		expect(pressureTokens).toBeLessThan(emergencyTokens);
		expect(emergencyTokens).toBeLessThan(fitTokens);
	});

	it("is at least as patient the more relaxed it is called", () => {
		const at = (name: PaceName) => paceAt(200_000, name);
		expect(at("thrifty").stepTokens).toBeLessThan(at("balanced").stepTokens);
		expect(at("balanced").stepTokens).toBeLessThan(at("relaxed").stepTokens);
		expect(at("balanced").keepTokens).toBeLessThan(at("relaxed").keepTokens);
	});

	it("is balanced by default", () => {
		expect(defaultSettings.compress).toMatchObject(paces.balanced);
	});
});
