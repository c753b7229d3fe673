import fc from "fast-check";
import { expect, test } from "vitest";
import { readingOf } from "../../../kernel/meter/calibration.ts";
import { type Conditions, Meter } from "../../../kernel/meter/meter.ts";
import { standingView } from "../../../kernel/pipeline/index.ts";
import type { Branch } from "../../../kernel/timeline.ts";
import { type Context, estimateOf } from "../../../kernel/view.ts";
import { cutPoints, holds, play, type Script, scripts, settingsChoice } from "../../support/arbitraries.ts";
import { choose } from "../../support/choose.ts";
import { contextOf, Log } from "../../support/log.ts";
import { answer, bigModel, failure } from "../../support/reports.ts";
import { copyOf } from "../../support/request.ts";
import { perform } from "../../support/steps.ts";

const seed = 20_261_140;

/** What a provider said of a request, or how it failed. */
const reports = fc.oneof(
	fc.record({ kind: fc.constant("answer" as const), tokens: fc.integer({ min: 0, max: 60_000 }) }),
	fc.record({ kind: fc.constant("other model" as const), tokens: fc.integer({ min: 0, max: 60_000 }) }),
	fc.record({ kind: fc.constant("refusal" as const), tokens: fc.integer({ min: 1_000, max: 60_000 }) }),
	fc.record({ kind: fc.constant("failure" as const), tokens: fc.constant(0) }),
	fc.record({ kind: fc.constant("nothing" as const), tokens: fc.constant(0) }),
);

type Report = typeof reports extends fc.Arbitrary<infer T> ? T : never;

const histories = fc.record({
	script: scripts,
	reports: fc.array(reports, { minLength: 4, maxLength: 12 }),
	isActive: fc.boolean(),
	takesImages: fc.boolean(),
	key: fc.constantFrom("acme/big", "acme/huge", undefined),
});

function say(log: Log, { kind, tokens }: Report): void {
	if (kind === "answer") answer(log, tokens);
	else if (kind === "other model") answer(log, tokens, { model: "huge" });
	else if (kind === "refusal") failure(log, `prompt is too long: ${tokens + 5_000} tokens > ${tokens} maximum`);
	else if (kind === "failure") failure(log, "400 status code (no body)");
}

/** Plays a session with a report after each step, and looks at it after each. */
function playReported({ steps, choice }: Script, said: readonly Report[], look: (log: Log) => void): void {
	let log = new Log();
	for (const [index, step] of steps.entries()) {
		log = perform(log, step, choose(settingsChoice, choice));
		say(log, choose(said, index));
		look(log);
	}
}

function conditions(over: Pick<Conditions, "isActive"> & Partial<Conditions["model"]>): Conditions {
	const { isActive, ...traits } = over;
	return { model: { ...bigModel, windowTokens: 40_000, ...traits }, settings: choose(settingsChoice, 0), isActive };
}

/** What a meter knows at the leaf of a branch. */
function known(meter: Meter, branch: Branch, under: Conditions): Pick<Context, "calibration" | "window"> {
	const { calibration, window } = meter.context(branch, under);
	return { calibration, window };
}

/** The estimate that a meter makes of a view: that of the report for it. */
function estimateAt(log: Log, leafId: string, under: Conditions, meter: Meter) {
	log.leafId = leafId;
	answer(log, 50_000);
	return meter.context(log.branch(), under).calibration.anchor?.estimate;
}

test("The estimate that grows with the log is that of the view, at every entry, in whatever order they are looked at.", () => {
	holds(
		seed,
		fc.property(scripts, fc.boolean(), fc.boolean(), fc.boolean(), (script, isActive, takesImages, isForward) => {
			const { log } = play(script).last;
			const branch = log.branch();
			const records = Array.from({ length: branch.length }, (_, depth) => branch.at(depth) ?? expect.unreachable());
			const meter = new Meter();
			const under = conditions({ isActive, takesImages });
			for (const record of isForward ? records : records.toReversed()) {
				const view = standingView(branch.upTo(record), contextOf(branch, { isActive, takesImages }));
				expect(estimateAt(log, record.entry.id, under, meter)).toEqual(estimateOf(view));
			}
		}),
	);
});

test("A meter that was kept through every step knows what one after a restart knows.", () => {
	holds(
		seed + 1,
		fc.property(histories, fc.nat(5), ({ script, reports: said, isActive, takesImages, key }, phase) => {
			const kept = new Meter();
			const under = conditions({ isActive, takesImages, key });
			let looks = phase;
			playReported(script, said, (log) => {
				const before = known(kept, log.branch(), under);
				looks += 1;
				if (looks % 6 !== 0) return;
				const restarted = copyOf(log, (id) => id);
				expect(known(new Meter(), restarted.branch(), under)).toEqual(before);
			});
		}),
	);
});

test("A reading is a whole number of tokens and never negative, and a window leaves room to work in.", () => {
	holds(
		seed + 2,
		fc.property(histories, ({ script, reports: said, isActive, takesImages, key }) => {
			const meter = new Meter();
			const under = conditions({ isActive, takesImages, key });
			playReported(script, said, (log) => {
				const { calibration, window } = meter.context(log.branch(), under);
				const { sizeTokens, errorTokens } = readingOf(calibration, estimateOf(log.view(), calibration));
				expect(Number.isSafeInteger(sizeTokens) && sizeTokens >= 0).toBe(true);
				expect(Number.isSafeInteger(errorTokens) && errorTokens >= 0).toBe(true);
				expect(window.usableTokens).toBeGreaterThan(0);
				expect(window.usableTokens).toBeLessThanOrEqual(window.limitTokens);
			});
		}),
	);
});

test("The calibration of a branch depends on that branch alone, whatever was looked at before.", () => {
	holds(
		seed + 3,
		fc.property(scripts, fc.boolean(), (script, isActive) => {
			const history = play(script);
			const meter = new Meter();
			const under = conditions({ isActive });
			for (const { log, leafId } of [...cutPoints(history), ...cutPoints(history).toReversed()]) {
				const branch = log.branch(leafId);
				expect(known(meter, branch, under)).toEqual(known(new Meter(), branch, under));
			}
		}),
	);
});
