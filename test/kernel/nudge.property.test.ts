import fc from "fast-check";
import { expect, test } from "vitest";
import {
	type FoldPlan,
	planFold,
	type RangeRequest,
	type Settings,
	textOf,
	toolCalls,
	type View,
} from "../../kernel/index.ts";
import { estimateTokens } from "../../kernel/meter/estimate.ts";
import { messageRef, parseRef } from "../../kernel/ref.ts";
import { cutPoints, holds, type Point, play, scripts, settingsChoice } from "../support/arbitraries.ts";
import { Log, narrowWindow, range } from "../support/log.ts";
import { copyOf, requestAt } from "../support/request.ts";

const seed = 20_261_130;

/** Settings under which a nudge is due whenever anything can be folded. */
function eager(settings: Settings): Settings {
	return { ...settings, compress: { ...settings.compress, keepTokens: 0, stepTokens: 1 } };
}

/** The ranges that a nudge quotes, as compress takes them, each with a summary in words of its range. */
function quoted(text: string, { items }: View): readonly RangeRequest[] {
	return [...text.matchAll(/^- startId (\S+), endId (\S+) /gm)].map(([, startId = "", endId = ""]) => {
		const [first, last] = [parseRef(startId), parseRef(endId)];
		if (first === undefined || last === undefined) return expect.unreachable(`${startId}-${endId}`);
		if (first.kind === "message") return { startId, endId, summary: told(items, first.number, last.number) };
		const blocks = items.flatMap((item) => (item.kind === "block" ? item.block : []));
		const places = [first, last].map((ref) => blocks.findIndex((block) => block.number === ref.number));
		expect(places[0]).toBeGreaterThanOrEqual(0);
		expect(places[1]).toBeGreaterThan(places[0] ?? 0);
		const words = blocks
			.slice(places[0], (places[1] ?? 0) + 1)
			.flatMap(({ summary }) => summary.split(/\s+/).slice(0, 6));
		return { startId, endId, summary: `What the blocks say, in words of theirs: ${words.slice(0, 60).join(" ")}` };
	});
}

/** A summary in words of what is sent of the messages from one ref to another, in the order of the view. */
function told(items: View["items"], from: number, to: number): string {
	const placeOf = (ordinal: number) =>
		items.findIndex((item) => item.kind === "entry" && item.record.ordinal === ordinal);
	expect(placeOf(from)).toBeGreaterThanOrEqual(0);
	expect(placeOf(to)).toBeGreaterThanOrEqual(placeOf(from));
	const words = items.slice(placeOf(from), placeOf(to) + 1).flatMap((item) => {
		if (item.kind !== "entry") return [];
		const calls = toolCalls(item.message).map((call) => `${call.name} ${JSON.stringify(call.arguments)}`);
		return [textOf(item.message).slice(0, 60), ...calls].flatMap((text) => text.match(/[\p{L}\p{N}_]+/gu) ?? []);
	});
	return `What was done in the messages of this range, in their words: ${[...new Set(words)].slice(0, 40).join(" ")}`;
}

/** Judges all ranges that the nudge of the next request quotes, in one call made at that moment. */
function obey(point: Point, settings: Settings): { plan: FoldPlan; text: string } | undefined {
	const { view } = requestAt(point, { settings: eager(settings), window: narrowWindow });
	if (view.nudge === undefined) return undefined;
	const ranges = quoted(view.nudge.text, view);
	expect(ranges.length).toBeGreaterThan(0);
	const log = copyOf(point.log, (id) => id);
	log.leafId = point.leafId;
	const call = log.assistant("", [{ name: "compress", arguments: { content: ranges } }]);
	const plan = planFold(log.branch(), log.view(settings), settings, ranges, log.timeline.find(call));
	return { plan, text: view.nudge.text };
}

function expectTaken({ plan, text }: { plan: FoldPlan; text: string }): void {
	for (const outcome of plan.outcomes) {
		expect(outcome.isApplied, `${text}\n${JSON.stringify(outcome)}`).toBe(true);
		expect(outcome.notes).toEqual([]);
	}
	expect(estimateTokens(text)).toBeLessThanOrEqual(350);
}

test("Every range that a nudge quotes is taken by a compress call made at that moment.", () => {
	let nudges = 0;
	holds(
		seed,
		fc.property(scripts, (script) => {
			const history = play(script);
			for (const point of cutPoints(history)) {
				const obeyed = obey(point, history.settings);
				if (obeyed === undefined) continue;
				nudges++;
				expectTaken(obeyed);
			}
		}),
	);
	expect(nudges).toBeGreaterThan(50);
});

const shapes = fc.array(fc.record({ sizeTokens: fc.integer({ min: 40, max: 1_500 }), isKept: fc.boolean() }), {
	minLength: 2,
	maxLength: 9,
});

test("So are the blocks that it asks to fold into one, also where blocks were folded before.", () => {
	let runs = 0;
	holds(
		seed + 1,
		fc.property(shapes, fc.nat(2), (blocks, rounds) => {
			const [settings] = settingsChoice;
			if (settings === undefined) return expect.unreachable();
			const log = new Log();
			log.user("Look into the parser, and read what it reads.");
			for (const [index, { sizeTokens, isKept }] of blocks.entries()) {
				const from = log.branch().lastOrdinal + 1;
				log.step("read", { path: `src/${index}.ts` }, `file ${index} ${"and so on it goes ".repeat(900)}`);
				const summary = `Read src/${index}.ts: ${`it goes on so, part ${index} `.repeat(Math.ceil(sizeTokens / 8))}`;
				const { operation } = planFold(
					log.branch(),
					log.view(settings),
					settings,
					[range(messageRef(from), messageRef(from + 1), summary)],
					undefined,
				);
				log.operation(operation ?? expect.unreachable());
				if (isKept) log.step("edit", { path: `src/${index}.ts` }, "done");
			}
			for (let round = 0; round <= rounds; round++) {
				const obeyed = obey({ log, leafId: log.leafId, kind: "compress" }, settings);
				if (obeyed === undefined) return;
				expectTaken(obeyed);
				if (/endId b/.test(obeyed.text)) runs++;
				log.operation(obeyed.plan.operation ?? expect.unreachable());
			}
		}),
		60,
	);
	expect(runs).toBeGreaterThan(30);
});
