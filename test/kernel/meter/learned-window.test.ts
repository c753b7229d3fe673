import { describe, expect, it } from "vitest";
import { readingOf } from "../../../kernel/meter/calibration.ts";
import { defaultSettings } from "../../../kernel/settings.ts";
import { estimateOf } from "../../../kernel/view.ts";
import { sizeText, windowText } from "../../../kernel/wording.ts";
import { Log, words } from "../../support/log.ts";
import { answer, asked, bigModel, contextAt, failure, sizeAt } from "../../support/reports.ts";

describe("the window", () => {
	const refusal = "prompt is too long: 155000 tokens > 130000 maximum";
	const unclear = "400 status code (no body)";
	const limitAt = (log: Log, over: Parameters<typeof contextAt>[1] = {}) => contextAt(log, over).window.limitTokens;

	it("is that of the model in use: what was measured with another one may be more than it", () => {
		const log = new Log();
		log.user(words(300_000));
		answer(log, 400_000, { model: "huge" });
		const huge = contextAt(log, { model: { ...bigModel, key: "acme/huge", windowTokens: 1_000_000 } });
		const small = contextAt(log, { model: { ...bigModel, windowTokens: 272_000 } });
		expect([huge.window.limitTokens, small.window.limitTokens]).toEqual([1_000_000, 272_000]);
		const reading = readingOf(small.calibration, estimateOf(log.view()));
		expect(reading.sizeTokens).toBeGreaterThan(272_000);
		expect(sizeText(reading, small.window)).toMatch(/tokens, more than the 264\.0K that fit$/);
		expect(limitAt(log, { model: { ...bigModel, windowTokens: undefined } })).toBe(128_000);
	});

	it("is corrected where a larger request succeeded than the model declares", () => {
		const log = new Log();
		log.user(words(250_000));
		answer(log, 300_000);
		const { window } = contextAt(log, { model: { ...bigModel, windowTokens: 128_000 } });
		expect(window).toMatchObject({ limitTokens: 375_000, source: "success" });
		expect(windowText(window)).toContain("375.0K is assumed");
	});

	it("is what a refusal names, for that model alone, until a larger request succeeds", () => {
		const log = asked(40_000);
		failure(log, refusal);
		expect(contextAt(log).window).toMatchObject({ limitTokens: 130_000, source: "overflow" });
		expect(limitAt(log, { model: { ...bigModel, key: "acme/huge" } })).toBe(200_000);
		answer(log, 130_000);
		expect(limitAt(log)).toBe(130_000);
		answer(log, 130_001);
		expect(contextAt(log).window).toMatchObject({ limitTokens: 200_000, source: "model" });
	});

	it("is a little less than the refused request where the refusal names none", () => {
		const log = asked(140_000);
		failure(log, "input is too long for this model: context length exceeded");
		const size = sizeAt(log);
		expect(contextAt(log).window).toMatchObject({ limitTokens: Math.floor(size * 0.95), source: "overflow" });
	});

	it("is what the user set, whatever was learned", () => {
		const log = asked(40_000);
		failure(log, refusal);
		const settings = { ...defaultSettings, modelContextLimit: 90_000 };
		expect(contextAt(log, { settings }).window).toMatchObject({ limitTokens: 90_000, source: "settings" });
	});

	it("gets smaller after streams were cut at a full window, and large again with a larger success", () => {
		const model = { ...bigModel, windowTokens: 131_072 };
		const log = asked(121_000);
		for (let round = 0; round < 3; round++) failure(log, "terminated");
		const { window } = contextAt(log, { model });
		expect(window).toMatchObject({ source: "failures" });
		expect(window.limitTokens).toBeLessThan(0.91 * 121_000);
		answer(log, 100_000);
		expect(limitAt(log, { model })).toBe(window.limitTokens);
		answer(log, 140_000);
		expect(limitAt(log, { model })).toBe(175_000);
	});

	it.each([unclear, "500 Internal Server Error", "socket hang up", "Request timed out."])(
		"gets smaller after two failures in a row at a full window that may be overflows: %s",
		(text) => {
			const log = asked(184_000);
			failure(log, text);
			expect(limitAt(log)).toBe(200_000);
			failure(log, text);
			expect(contextAt(log).window.source).toBe("failures");
			expect(contextAt(log).window.usableTokens).toBeLessThan(sizeAt(log));
		},
	);

	it("stays as it is after such failures at a tenth of it", () => {
		const log = asked(20_000);
		for (let round = 0; round < 4; round++) failure(log, unclear);
		expect(contextAt(log).window).toMatchObject({ limitTokens: 200_000, source: "model" });
	});

	it("stays as it is while a provider is overloaded, and so does the size of the view", () => {
		const log = asked(180_000);
		const size = sizeAt(log);
		for (let round = 0; round < 5; round++) failure(log, "529 overloaded_error: Overloaded");
		expect(contextAt(log).window).toMatchObject({ limitTokens: 200_000, source: "model" });
		expect(sizeAt(log)).toBe(size);
		expect(size / 200_000).toBeCloseTo(0.9, 2);
	});

	it("does not go back to an old refusal with a later guess", () => {
		const log = asked(140_000);
		failure(log, refusal);
		answer(log, 190_000);
		failure(log, unclear);
		failure(log, unclear);
		expect(contextAt(log).window).toMatchObject({ source: "failures" });
		expect(limitAt(log)).toBeGreaterThan(150_000);
	});

	it("leaves no room for the answer where the provider does not count it", () => {
		const { window } = contextAt(new Log(), { model: { ...bigModel, countsAnswer: false } });
		expect(window).toEqual({ limitTokens: 200_000, usableTokens: 200_000, source: "model" });
	});
});
