import fc from "fast-check";
import { defaultSettings, type Settings } from "../../kernel/index.ts";
import { choose } from "./choose.ts";
import { Log } from "./log.ts";
import type { Place } from "./request.ts";
import { kinds, perform, type Step, type StepKind } from "./steps.ts";

/** How many histories each property sees. */
export const runsPerProperty = 80;

/** Checks a property on a fixed series of cases, the same in every run. */
export function holds<T extends unknown[]>(seed: number, property: fc.IProperty<T>, numRuns = runsPerProperty): void {
	fc.assert(property, { seed, numRuns });
}

/** Settings that leave little protected, and the defaults. */
export const settingsChoice: readonly Settings[] = [
	{ ...defaultSettings, preserveRecentMessages: 0, preserveRecentTokens: 0 },
	{ ...defaultSettings, preserveRecentMessages: 3, preserveRecentTokens: 50, neverPreserveRecentTools: [] },
	{ ...defaultSettings, preserveRecentMessages: 1, preserveRecentTokens: 0, protectedTools: ["write", "ac*"] },
	defaultSettings,
];

/** A whole session: what happens in it, and which of `settingsChoice` it has. */
export interface Script {
	readonly steps: readonly Step[];
	readonly choice: number;
}

const pick = fc.nat(255);
const step = fc
	.tuple(fc.constantFrom(...kinds), pick, pick, pick, pick, pick)
	.map(([kind, form, ...picks]): Step => ({ kind, form, picks }));

/** Sessions of up to 30 steps. */
export const scripts: fc.Arbitrary<Script> = fc.record({
	steps: fc.array(step, { minLength: 6, maxLength: 30, size: "max" }),
	choice: fc.nat(3),
});

/** A place in a session at which a request could be made. */
export interface Point extends Place {
	/** What happened last before it. */
	readonly kind: StepKind | "start";
}

/** A history that was played: the places between its steps. */
export interface History {
	readonly points: readonly Point[];
	readonly last: Point;
	readonly settings: Settings;
}

/** Plays a session step by step. */
export function play({ steps, choice }: Script): History {
	const settings = choose(settingsChoice, choice);
	let last: Point = { log: new Log(), leafId: null, kind: "start" };
	const points = [last];
	for (const step of steps) {
		const log = perform(last.log, step, settings);
		last = { log, leafId: log.leafId, kind: step.kind };
		points.push(last);
	}
	return { points, last, settings };
}

/** Three places of a history: a third into it, two thirds into it, and its end. */
export function cutPoints({ points, last }: History): readonly Point[] {
	const third = points.length / 3;
	return [choose(points, Math.floor(third)), choose(points, Math.floor(2 * third)), last];
}
