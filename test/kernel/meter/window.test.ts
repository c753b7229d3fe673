import { describe, expect, it } from "vitest";
import { type WindowFacts, windowOf } from "../../../kernel/meter/window.ts";

function window(facts: Partial<WindowFacts>) {
	return windowOf({ countsAnswer: true, headroomMax: 0.25, ...facts });
}

describe("the limit of a window", () => {
	const limit = (facts: Partial<WindowFacts>) => {
		const { limitTokens, source } = window(facts);
		return [limitTokens, source];
	};
	const learned = { limitTokens: 130_000, source: "overflow" } as const;

	it("is what the user set, whatever else is known", () => {
		const all = { overrideTokens: 50_000, learned, declaredTokens: 200_000, largestTokens: 300_000 };
		expect(limit(all)).toEqual([50_000, "settings"]);
		expect(limit({ ...all, overrideTokens: 0 })).toEqual([130_000, "overflow"]);
	});

	it("is what failures taught, before what the model declares", () => {
		expect(limit({ learned, declaredTokens: 200_000 })).toEqual([130_000, "overflow"]);
		const guessed = { limitTokens: 90_000, source: "failures" } as const;
		expect(limit({ learned: guessed, declaredTokens: 200_000 })).toEqual([90_000, "failures"]);
	});

	it("is what the model declares, else a default", () => {
		expect(limit({ declaredTokens: 200_000 })).toEqual([200_000, "model"]);
		expect(limit({ declaredTokens: 0 })).toEqual([128_000, "default"]);
		expect(limit({})).toEqual([128_000, "default"]);
	});

	it("reaches beyond the largest success where the declared one or the default is smaller", () => {
		expect(limit({ declaredTokens: 128_000, largestTokens: 300_000 })).toEqual([375_000, "success"]);
		expect(limit({ largestTokens: 300_000 })).toEqual([375_000, "success"]);
		expect(limit({ declaredTokens: 300_000, largestTokens: 300_000 })).toEqual([300_000, "model"]);
	});
});

describe("the usable part of a window", () => {
	const usable = (facts: Partial<WindowFacts>) => window({ declaredTokens: 100_000, ...facts }).usableTokens;

	it("leaves room for the answer: its maximum, but no more than a share", () => {
		expect(usable({ answerMaxTokens: 8_000 })).toBe(92_000);
		expect(usable({ answerMaxTokens: 64_000 })).toBe(75_000);
		expect(usable({})).toBe(75_000);
		expect(usable({ answerMaxTokens: 0 })).toBe(75_000);
	});

	it("is all of it where the provider limits the answer apart from the window", () => {
		expect(usable({ countsAnswer: false, answerMaxTokens: 8_000 })).toBe(100_000);
		expect(usable({ countsAnswer: false })).toBe(100_000);
	});

	it("is a whole number of tokens", () => {
		expect(usable({ declaredTokens: 100_001 })).toBe(75_000);
	});
});
