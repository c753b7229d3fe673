import fc from "fast-check";
import { expect, test } from "vitest";
import {
	type Branch,
	findOriginals,
	foldText,
	meteredRanges,
	pageOf,
	planFold,
	planUnfold,
	problemText,
	readCompressArguments,
	search,
	statusOf,
	statusText,
	uncalibrated,
} from "../../kernel/index.ts";
import { readMarked } from "../../kernel/operation.ts";
import { holds } from "../support/arbitraries.ts";
import { bareSettings, contextOf, Log, range, wideContext, words } from "../support/log.ts";

const seed = 20_261_112;
const runs = 5_000;

const summary = "read a.ts and b.ts: words of no use; the needle is not in these files";

/** A session with two blocks, one of them in a third. */
function session(): Log {
	const log = new Log();
	log.user("Find the needle.");
	for (const path of ["a.ts", "b.ts", "c.ts", "d.ts"]) log.step("read", { path }, words(800, path));
	log.compress([range("m2", "m3", summary), range("m4", "m5", summary)], bareSettings);
	log.compress([range("b1", "b2", summary)], bareSettings);
	log.user("Go on.");
	return log;
}

const log = session();
const branch: Branch = log.branch();
const view = log.view(bareSettings);

/** What models write for a ref, and what they should not. */
const refs = fc.oneof(
	fc.constantFrom(
		"m2",
		"M0009",
		" m00004 ",
		"b1",
		"b3",
		"b03",
		"m00002-m00005",
		"m2@e2",
		"b1@e99",
		"m0",
		"",
		"<acp>m1</acp>",
	),
	fc.integer({ min: -2, max: 99_999_999 }).map((number) => `m${number}`),
	fc.string({ unit: "binary", maxLength: 12 }),
);

const summaries = fc.oneof(fc.string({ maxLength: 80 }), fc.constant(summary));
const range_ = fc.record({ startId: refs, endId: refs, summary: summaries, topic: fc.string() });
const entries = fc.array(fc.oneof(range_, range_, fc.anything()), { maxLength: 5 });

/** Arguments as models write them: objects, texts, and texts that are damaged somewhere. */
const hostileArguments = fc.oneof(
	fc.anything(),
	fc.record({ content: fc.oneof(entries, fc.anything(), fc.string()) }),
	fc
		.tuple(fc.array(range_, { maxLength: 4 }), fc.nat(), fc.string({ unit: "binary", maxLength: 3 }), fc.boolean())
		.map(([list, place, insert, isCut]) => {
			const text = JSON.stringify(list);
			const at = place % (text.length + 1);
			return { content: `${text.slice(0, at)}${insert}${isCut ? "" : text.slice(at)}` };
		}),
);

test("Whatever compress is given, the answer is a fold or says what was wrong, and nothing is thrown.", () => {
	let folds = 0;
	holds(
		seed,
		fc.property(hostileArguments, (args) => {
			const read = readCompressArguments(args);
			if ("problem" in read) {
				expect(problemText({ code: "arguments", reason: read.problem }, []).length).toBeLessThan(1_000);
				return;
			}
			const plan = planFold(branch, view, bareSettings, read.ranges, undefined);
			expect(plan.outcomes).toHaveLength(read.ranges.length);
			const applied = plan.outcomes.filter((outcome) => outcome.isApplied).length;
			expect(plan.operation === undefined).toBe(applied === 0);
			expect(foldText(plan, wideContext, read.lost)).toMatch(applied > 0 ? /^Folded:\n/ : /^Nothing was folded\.\n/);
			folds += applied;
		}),
		2 * runs,
	);
	expect(folds).toBeGreaterThan(0);
});

test("Whatever is to be opened, put back or looked for, the answer is there or says what was wrong.", () => {
	holds(
		seed + 2,
		fc.property(refs, fc.integer({ min: -3, max: 9 }), fc.string(), (id, number, query) => {
			const originals = findOriginals(branch, id);
			if ("code" in originals) expect(problemText(originals)).not.toBe("");
			else {
				const page = pageOf(originals, number);
				expect("code" in page ? problemText(page) : page.parts.length).toBeTruthy();
			}
			const plan = planUnfold(branch, view, id);
			if ("code" in plan) expect(problemText(plan)).not.toBe("");
			expect(search(branch, query, 5).length).toBeLessThanOrEqual(5);
		}),
		runs,
	);
});

test("Whatever stands in the place of an operation is one or is none.", () => {
	const value = fc.oneof(fc.anything(), fc.jsonValue());
	holds(
		seed + 3,
		fc.property(value, fc.constantFrom("fold", "unfold", "truncate", "undo", "pin", "nudge"), (anything, kind) => {
			const fields = typeof anything === "object" && anything !== null ? anything : { blocks: anything };
			for (const op of [anything, { ...fields, kind }]) {
				const read = readMarked({ acp: 1, op });
				expect(read === undefined || read.kind === kind).toBe(true);
			}
			expect(readMarked(anything)).toBeUndefined();
		}),
		runs,
	);
});

test("A status of any length is at most so many lines.", () => {
	const status = statusOf(view, contextOf(branch, { settings: bareSettings }));
	expect(meteredRanges(status.foldable, uncalibrated)).toEqual(status.foldable);
	holds(
		seed + 4,
		fc.property(fc.constantFrom("blocks", "ranges", "messages"), fc.integer({ min: 1, max: 40 }), (show, limit) => {
			expect(statusText(status, show, limit).split("\n").length).toBeLessThanOrEqual(limit + 1);
		}),
		runs / 4,
	);
});
