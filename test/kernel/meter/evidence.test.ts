import { describe, expect, it } from "vitest";
import { modelKey, refusedTokens, type WindowEvidence } from "../../../kernel/meter/evidence.ts";
import { Log } from "../../support/log.ts";
import { answer, failure } from "../../support/reports.ts";

const refusal = "prompt is too long: 155000 tokens > 130000 maximum";
const unclear = "400 status code (no body)";

function evidence(log: Log, key = "acme/big"): WindowEvidence | undefined {
	return log.branch().leaf?.evidence.get(key);
}

describe("the key of a model", () => {
	it("is that of the provider and the model that gave an answer", () => {
		const message = { role: "assistant", content: "", timestamp: 1 };
		expect(modelKey({ ...message, provider: "acme", model: "big" })).toBe("acme/big");
		expect(modelKey({ ...message, model: "big" })).toBe("/big");
		expect(modelKey({ ...message, provider: "acme" })).toBeUndefined();
		expect(modelKey({ ...message, role: "user", provider: "acme", model: "big" })).toBeUndefined();
	});
});

describe("what answers say of a window", () => {
	it("is the largest request that succeeded, for each model apart", () => {
		const log = new Log();
		answer(log, 90_000);
		answer(log, 300_000, { model: "huge" });
		answer(log, 40_000);
		expect(evidence(log)).toMatchObject({ largestTokens: 90_000, overflow: undefined, guess: undefined });
		expect(evidence(log, "acme/huge")).toMatchObject({ largestTokens: 300_000 });
	});

	it("is nothing new where no usage is reported, or less than before", () => {
		const log = new Log();
		answer(log, 90_000);
		const before = evidence(log);
		answer(log, 80_000);
		answer(log, undefined);
		log.user("go on");
		expect(evidence(log)).toBe(before);
	});
});

describe("a refusal for size", () => {
	it("is kept with the figures it names, and with the largest request that succeeded since", () => {
		const log = new Log();
		answer(log, 150_000);
		failure(log, refusal);
		const overflow = { limitTokens: 130_000, requestedTokens: 155_000, sinceTokens: 0 };
		expect(evidence(log)).toMatchObject({ largestTokens: 150_000, overflow });
		answer(log, 120_000);
		answer(log, 110_000);
		expect(evidence(log)).toMatchObject({ overflow: { ...overflow, sinceTokens: 120_000 } });
	});

	it("tells the least size of its own request alone", () => {
		const log = new Log();
		const ids = [failure(log, refusal), failure(log, "maximum context length is 128000 tokens"), failure(log, unclear)];
		const sizes = ids.map((id) => {
			const record = log.branch(id).leaf;
			return record && refusedTokens(record);
		});
		expect(sizes).toEqual([155_000, 128_000, undefined]);
		log.leafId = log.user("go on");
		expect(log.branch().leaf && refusedTokens(log.branch().leaf ?? expect.unreachable())).toBeUndefined();
	});

	it("takes the place of an earlier one and of a guess", () => {
		const log = new Log();
		failure(log, refusal);
		failure(log, unclear);
		failure(log, unclear);
		expect(evidence(log)?.guess).toBeDefined();
		failure(log, "maximum context length is 100000 tokens");
		expect(evidence(log)).toMatchObject({ overflow: { limitTokens: 100_000 }, guess: undefined, suspects: 0 });
	});

	it("does not come back with a later guess once a larger request succeeded", () => {
		const log = new Log();
		failure(log, refusal);
		answer(log, 140_000);
		failure(log, unclear);
		failure(log, unclear);
		expect(evidence(log)).toMatchObject({ overflow: { sinceTokens: 140_000 }, guess: { sinceTokens: 0 } });
	});
});

describe("a failure that may come of the size", () => {
	it("makes a guess the second time in a row", () => {
		const log = new Log();
		failure(log, unclear);
		expect(evidence(log)).toMatchObject({ guess: undefined, suspects: 1 });
		const second = failure(log, "terminated");
		failure(log, unclear);
		expect(evidence(log)).toMatchObject({ suspects: 3, guess: { record: log.timeline.find(second) } });
	});

	it("makes none if an answer came between", () => {
		const log = new Log();
		failure(log, unclear);
		answer(log, undefined);
		failure(log, unclear);
		expect(evidence(log)).toMatchObject({ guess: undefined, suspects: 1 });
	});

	it("counts on when the user aborted an answer between: that is no success", () => {
		const log = new Log();
		failure(log, unclear);
		answer(log, 500_000, { stopReason: "aborted" });
		failure(log, unclear);
		expect(evidence(log)).toMatchObject({ largestTokens: 0, guess: { sinceTokens: 0 } });
	});

	it("keeps the largest request that succeeded after the guess", () => {
		const log = new Log();
		failure(log, unclear);
		failure(log, unclear);
		answer(log, 70_000);
		expect(evidence(log)).toMatchObject({ guess: { sinceTokens: 70_000 }, suspects: 0 });
	});
});

describe("other failures", () => {
	it.each(["429 Too Many Requests", "529 overloaded_error", "401 Unauthorized", ""])("say nothing: %s", (text) => {
		const log = new Log();
		answer(log, 180_000);
		const before = evidence(log);
		for (let round = 0; round < 5; round++) failure(log, text);
		expect(evidence(log)).toEqual(before);
	});

	it("say nothing where the log holds no error text", () => {
		const log = new Log();
		log.assistant("", [], { provider: "acme", model: "big", stopReason: "error" });
		expect(evidence(log)).toBeUndefined();
	});
});
