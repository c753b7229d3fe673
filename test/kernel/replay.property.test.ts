import fc from "fast-check";
import { expect, test } from "vitest";
import { type Branch, type Entry, Timeline, toMessages } from "../../kernel/index.ts";
import { replayCall } from "../../kernel/replay.ts";
import { holds, type Point, play, scripts, settingsChoice } from "../support/arbitraries.ts";
import { contextOf, Log } from "../support/log.ts";
import { bytes, copyOf, pathTo, requestAt } from "../support/request.ts";

const seed = 20_261_103;

test("A copy of the log in which every entry has another id shows the same view.", () => {
	holds(
		seed + 1,
		fc.property(scripts, (script) => {
			const { last } = play(script);
			const log = copyOf(last.log, (id) => `copy of ${id}`);
			expect(shown({ log, leafId: log.leafId })).toEqual(shown(last));
		}),
	);
});

test("A view is the same after other branches were looked at, in whatever order, and depends on none of them.", () => {
	holds(
		seed + 2,
		fc.property(scripts, fc.array(fc.nat(255), { maxLength: 6 }), (script, visits) => {
			const { last } = play(script);
			const alone = new Log();
			for (const entry of pathTo(last)) alone.entries.set(entry.id, entry);
			const expected = shown({ log: alone, leafId: last.leafId });
			const ids = [null, ...last.log.entries.keys()];
			const timeline = new Timeline(replayCall);
			for (const visit of visits) {
				branchOf({ log: last.log, leafId: ids[visit % ids.length] ?? null }, timeline);
				expect(shown(last, branchOf(last, timeline))).toEqual(expected);
			}
			expect(shown(last)).toEqual(expected);
		}),
	);
});

test("A branch in hand stays what it was while its timeline goes on and moves away.", () => {
	holds(
		seed + 3,
		fc.property(scripts, (script) => {
			const { points, last } = play(script);
			const timeline = new Timeline(replayCall);
			const inLog = points.filter((point, index) => point.log === last.log && index % 4 === 0);
			const branches = inLog.map((point) => branchOf(point, timeline));
			for (const [index, point] of inLog.entries()) {
				expect(shown(point, branches[index])).toEqual(shown(point, branchOf(point, new Timeline(replayCall))));
			}
		}),
	);
});

test("Today's settings and the size of the window change nothing of what is shown.", () => {
	holds(
		seed + 4,
		fc.property(scripts, fc.constantFrom(...settingsChoice), fc.nat(9_000), (script, settings, usableTokens) => {
			const { last, settings: own } = play(script);
			const window = { limitTokens: usableTokens + 1_000, usableTokens, source: "model" as const };
			const other = requestAt(last, { settings, window }).messages;
			expect(other.map(bytes)).toEqual(requestAt(last, { settings: own }).messages.map(bytes));
		}),
	);
});

test("A call of ours whose result lost its details folds and unfolds what it did before.", () => {
	let lost = 0;
	holds(
		seed + 5,
		fc.property(scripts, (script) => {
			const { last } = play({ ...script, choice: settingsChoice.length - 1 });
			const bare = new Log();
			for (const entry of last.log.entries.values()) bare.entries.set(entry.id, withoutDetails(entry));
			lost += [...last.log.entries.values()].filter((entry) => withoutDetails(entry) !== entry).length;
			expect(shown({ log: bare, leafId: last.leafId })).toEqual(shown(last));
		}),
	);
	expect(lost).toBeGreaterThan(0);
});

function branchOf({ log, leafId }: Pick<Point, "log" | "leafId">, timeline: Timeline): Branch {
	return timeline.branch(leafId, (id) => log.entries.get(id));
}

/** All that is seen of a branch: the messages as bytes, and every block with what it covers. */
function shown(place: Pick<Point, "log" | "leafId">, branch?: Branch): readonly string[] {
	const request = branch === undefined ? requestAt(place) : requestAt(place, {}, branch);
	const { blocks, tops } = request.branch.state;
	const known = [...blocks.values()].map(({ text, spans, children }) => JSON.stringify([text, spans, children]));
	return [
		...toMessages(request.view, contextOf(request.branch)).map(bytes),
		...known,
		JSON.stringify(tops.map((top) => top.number)),
	];
}

function withoutDetails(entry: Entry): Entry {
	if (entry.kind !== "message" || entry.message.details === undefined) return entry;
	const { details: _, ...message } = entry.message;
	return { ...entry, message };
}
