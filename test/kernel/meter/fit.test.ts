import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { meteredTokens } from "../../../kernel/meter/calibration.ts";
import { fitTo, type Sample, unfitted } from "../../../kernel/meter/fit.ts";

function sample(sizeTokens: number, messages: number, reportedTokens: number): Sample {
	return { estimate: { sizeTokens, messages }, reportedTokens };
}

/** Requests of growing size, as a model reports them that counts so much for a token and for a message. */
function reports(count: number, perToken: number, perMessage: number): readonly Sample[] {
	return Array.from({ length: count }, (_, index) => {
		const sizeTokens = 5_000 * (index + 1);
		const messages = 10 + ((index * 37) % 100);
		return sample(sizeTokens, messages, Math.round(perToken * sizeTokens + perMessage * messages));
	});
}

describe("a fit to reports", () => {
	it("is what the estimator says, with a wide error, before the first report", () => {
		expect(fitTo([])).toEqual(unfitted);
		expect(unfitted).toMatchObject({ perToken: 1, perMessage: 0, errorShare: 0.3 });
	});

	it.each([0.7, 1, 1.35, 2, 2.8])("finds out that a model counts %d for an estimated token", (perToken) => {
		const { perToken: found } = fitTo(reports(16, perToken, 0));
		expect(found / perToken).toBeGreaterThan(0.97);
		expect(found / perToken).toBeLessThan(1.03);
	});

	it("finds out what a message costs beside its text", () => {
		const { perToken, perMessage } = fitTo(reports(16, 1.2, 30));
		expect(perToken).toBeCloseTo(1.2, 1);
		expect(perMessage).toBeGreaterThan(20);
		expect(perMessage).toBeLessThan(40);
	});

	it("comes most of the way with the first report, and no further than it", () => {
		const { perToken, perMessage } = fitTo([sample(10_000, 10, 20_000)]);
		const fitted = perToken * 10_000 + perMessage * 10;
		expect(fitted).toBeGreaterThan(18_000);
		expect(fitted).toBeLessThanOrEqual(20_000);
	});

	it("is moved little by one odd report among many", () => {
		const steady = reports(15, 1.1, 0);
		const { perToken } = fitTo([...steady, sample(50_000, 60, 150_000)]);
		expect(perToken).toBeGreaterThan(1);
		expect(perToken).toBeLessThan(1.25);
	});

	it("stays within its bounds whatever is reported, and its error is a share", () => {
		const any = fc.record({
			estimate: fc.record({ sizeTokens: fc.nat(100_000_000), messages: fc.nat(100_000) }),
			reportedTokens: fc.integer({ min: 1, max: 100_000_000 }),
		});
		fc.assert(
			fc.property(fc.array(any, { maxLength: 20 }), (samples) => {
				const { perToken, perMessage, errorShare } = fitTo(samples);
				expect(perToken).toBeGreaterThanOrEqual(0.4);
				expect(perToken).toBeLessThanOrEqual(3);
				expect(perMessage).toBeGreaterThanOrEqual(0);
				expect(perMessage).toBeLessThanOrEqual(50);
				expect(errorShare).toBeGreaterThanOrEqual(0.02);
				expect(Number.isFinite(errorShare)).toBe(true);
			}),
			{ seed: 20_261_130, numRuns: 2_000 },
		);
	});

	it("hits what a model that counts evenly reports, give or take the error it states", () => {
		const coefficients = fc.tuple(fc.double({ min: 0.5, max: 2.9, noNaN: true }), fc.nat(45));
		fc.assert(
			fc.property(coefficients, fc.integer({ min: 1, max: 16 }), ([perToken, perMessage], count) => {
				const samples = reports(count, perToken, perMessage);
				const fit = fitTo(samples);
				for (const { estimate, reportedTokens } of samples) {
					const error = Math.abs(meteredTokens({ fit, anchor: undefined }, estimate) / reportedTokens - 1);
					expect(error).toBeLessThanOrEqual(fit.errorShare + 0.01);
				}
			}),
			{ seed: 20_261_131 },
		);
	});
});

describe("the error of a fit", () => {
	it("falls with each report that agrees, but never below two percent", () => {
		const shares = [1, 2, 4, 8, 16, 64].map((count) => fitTo(reports(count, 1, 0)).errorShare);
		expect(shares).toEqual(shares.toSorted((a, b) => b - a));
		expect(shares[0]).toBeGreaterThan(0.1);
		expect(shares.at(-1)).toBe(0.02);
	});

	it("is wide where reports contradict each other", () => {
		const torn = Array.from({ length: 16 }, (_, index) => sample(10_000, 10, index % 2 === 0 ? 8_000 : 12_000));
		expect(fitTo(torn).errorShare).toBeGreaterThan(0.3);
	});
});
