import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type Calibration, meteredTokens, readingOf, uncalibrated } from "../../../kernel/meter/calibration.ts";
import type { Estimate } from "../../../kernel/meter/fit.ts";

function estimate(sizeTokens: number, messages = 0): Estimate {
	return { sizeTokens, messages };
}

/** A model that counts twice what is estimated, and the report of a view of 50,000 estimated tokens. */
const fit = { perToken: 2, perMessage: 3, errorShare: 0.04 };
const anchor = { estimate: estimate(50_000, 100), reportedTokens: 120_000, isForeign: false };
const calibration: Calibration = { fit, anchor };

describe("the reading of a view", () => {
	it("is the estimate with a wide error before the first report", () => {
		expect(readingOf(uncalibrated, estimate(10_000, 20))).toEqual({ sizeTokens: 10_000, errorTokens: 3_000 });
	});

	it("is the report itself for the view it was made for", () => {
		expect(readingOf(calibration, anchor.estimate)).toEqual({ sizeTokens: 120_000, errorTokens: 600 });
	});

	it("adds what came since, as the model counts, and may be wrong by a share of that", () => {
		expect(readingOf(calibration, estimate(60_000, 110))).toEqual({ sizeTokens: 140_030, errorTokens: 3_005 });
	});

	it("subtracts what a fold took out of the view", () => {
		expect(readingOf(calibration, estimate(45_000, 90))).toEqual({ sizeTokens: 109_970, errorTokens: 1_505 });
	});

	it("allows for more where the fit is worse", () => {
		const vague = { fit: { ...fit, errorShare: 0.5 }, anchor };
		expect(readingOf(vague, estimate(60_000, 110)).errorTokens).toBe(10_015);
	});

	it("is the estimate of the whole where that tells more than the difference to the report", () => {
		const after = readingOf(calibration, estimate(2_000, 4));
		expect(after).toEqual({ sizeTokens: 4_012, errorTokens: expect.any(Number) });
		expect(after.errorTokens).toBeLessThan(1_500);
	});

	it.each([20_000, 400_000])("believes a report of another model more than the estimate, and doubts it: %d", (of) => {
		const foreign = { fit: uncalibrated.fit, anchor: { ...anchor, reportedTokens: of, isForeign: true } };
		expect(readingOf(foreign, anchor.estimate)).toEqual({ sizeTokens: of, errorTokens: 0.3 * of });
	});

	it("never claims an error of nothing", () => {
		for (const sizeTokens of [1, 100, 50_000, 200_000]) {
			expect(readingOf(calibration, estimate(sizeTokens)).errorTokens).toBeGreaterThan(0);
		}
	});

	it("is a whole number of tokens, never negative, for any calibration and view", () => {
		const tokens = fc.nat(10_000_000);
		const anyEstimate = fc.record({ sizeTokens: tokens, messages: fc.nat(100_000) });
		const anyAnchor = fc.record({ estimate: anyEstimate, reportedTokens: tokens, isForeign: fc.boolean() });
		const anyFit = fc.record({
			perToken: fc.double({ min: 0.4, max: 3, noNaN: true }),
			perMessage: fc.double({ min: 0, max: 50, noNaN: true }),
			errorShare: fc.double({ min: 0.02, max: 1e6, noNaN: true }),
		});
		const any = fc.record({ fit: anyFit, anchor: fc.option(anyAnchor, { nil: undefined }) });
		fc.assert(
			fc.property(any, anyEstimate, (known, view) => {
				const { sizeTokens, errorTokens } = readingOf(known, view);
				expect(Number.isSafeInteger(sizeTokens) && sizeTokens >= 0).toBe(true);
				expect(Number.isFinite(errorTokens) && errorTokens >= 0).toBe(true);
			}),
			{ seed: 20_261_132, numRuns: 2_000 },
		);
	});
});

describe("the tokens of a part of a view", () => {
	it("are what the model counts for its text and its messages, whatever was reported for the whole", () => {
		expect(meteredTokens(calibration, estimate(1_000, 2))).toBe(2_006);
		expect(meteredTokens({ fit, anchor: undefined }, estimate(1_000, 2))).toBe(2_006);
		expect(meteredTokens(uncalibrated, estimate(1_000, 2))).toBe(1_000);
	});
});
