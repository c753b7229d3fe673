import fc from "fast-check";
import { expect, test } from "vitest";
import {
	findOriginals,
	type Message,
	type Operation,
	type Page,
	pageOf,
	planAnchor,
	planHandover,
	search,
	textOf,
	toolCalls,
} from "../../kernel/index.ts";
import type { Branch } from "../../kernel/timeline.ts";
import { type History, holds, type Point, play, scripts } from "../support/arbitraries.ts";
import { choose } from "../support/choose.ts";
import { contextOf, narrowWindow } from "../support/log.ts";
import { bytes, copyOf, requestAt, sentByHost, sentThroughAnchors } from "../support/request.ts";

const seed = 20_261_106;
const runs = 80;

test("An anchor changes no byte of the view, the system messages apart; nor does it after a restart, in a copy, or with a second one.", () => {
	let anchors = 0;
	holds(
		seed,
		fc.property(scripts, fc.nat(255), (script, form) => {
			const history = play(script);
			const before = seen(history.last);
			for (const kind of anchorKinds) {
				const after = anchored(history, kind, form);
				if (after === undefined) continue;
				anchors += 1;
				expect(seen(after)).toEqual(before);
				const restarted = copyOf(after.log, (id) => id);
				expect(seen({ log: restarted, leafId: restarted.leafId })).toEqual(before);
				const copy = copyOf(after.log, (id) => `copy of ${id}`);
				expect(seen({ log: copy, leafId: copy.leafId })).toEqual(before);
				const twice = anchored({ ...history, last: after }, "any", form + 1) ?? after;
				expect(seen(twice)).toEqual(before);
			}
		}),
		runs,
	);
	expect(anchors).toBeGreaterThan(0);
});

test("Blocks behind an anchor are unfolded, and commits before it taken back, as if it were not there.", () => {
	let changes = 0;
	holds(
		seed + 1,
		fc.property(scripts, fc.nat(255), (script, form) => {
			const history = play(script);
			const { log, leafId } = history.last;
			const { state } = log.branch(leafId);
			const changesOf: readonly Operation[] = [
				...state.tops.map(({ number }) => ({ kind: "unfold", block: number, sizeTokens: 1 }) as const),
				...(state.undoable === undefined ? [] : [{ kind: "undo", sizeTokens: 1 } as const]),
				...(state.redoable === undefined ? [] : [{ kind: "redo", sizeTokens: 1 } as const]),
			];
			for (const operation of changesOf) {
				log.leafId = leafId;
				log.operation(operation);
				const expected = seen({ log, leafId: log.leafId });
				const after = anchored(history, choose(anchorKinds, form), form);
				if (after === undefined) continue;
				log.operation(operation);
				expect(seen({ log, leafId: log.leafId })).toEqual(expected);
				changes += 1;
			}
		}),
		runs,
	);
	expect(changes).toBeGreaterThan(0);
});

test("What is behind an anchor is found and opened as before it.", () => {
	let hits = 0;
	holds(
		seed + 2,
		fc.property(scripts, fc.nat(255), (script, form) => {
			const history = play(script);
			const before = history.last.log.branch();
			const after = anchored(history, choose(anchorKinds, form), form);
			if (after === undefined) return;
			const branch = after.log.branch(after.leafId);
			for (const query of ["ask", "out", "done", "summary sum"]) {
				const found = search(before, query, 50);
				hits += found.length;
				expect(search(branch, query, 50)).toEqual(found);
			}
			const refs = [...before.state.blocks.keys()].map((number) => `b${number}`);
			for (let ordinal = 1 + (form % 5); ordinal <= before.lastOrdinal; ordinal += 5) refs.push(`m${ordinal}`);
			for (const ref of refs) expect(pagesOf(branch, ref)).toEqual(pagesOf(before, ref));
		}),
		runs,
	);
	expect(hits).toBeGreaterThan(0);
});

test("Beside an anchor that is planned the host keeps all of the view that its summary does not say, and whole pairs.", () => {
	let anchors = 0;
	holds(
		seed + 3,
		fc.property(scripts, fc.nat(255), (script, form) => {
			const history = play(script);
			const { view, branch } = requestAt(history.last, { settings: history.settings });
			const planned = planAnchor(branch, view);
			const after = anchored(history, "planned", form);
			if (planned === undefined || after === undefined) return;
			anchors += 1;
			const kept = sentByHost(after);
			const ids = new Set(kept.map((each) => each.id));
			for (const item of view.items) {
				if (item.kind === "foreign") continue;
				const isKept = item.kind === "entry" && ids.has(item.record.entry.id);
				const text = item.kind === "block" ? item.block.text : textOf(item.message);
				const isKeptRaw =
					item.kind === "block" &&
					sentThroughAnchors(history.last)
						.filter(({ id }) => isIn(branch, item.block.spans, id))
						.every(({ id }) => ids.has(id));
				expect(isKept || isKeptRaw || planned.summary.includes(text)).toBe(true);
			}
			const before = new Set(strayResults(sentByHost(history.last).map((each) => each.message)));
			const stray = strayResults(kept.map((each) => each.message));
			expect(stray.filter((each) => !before.has(each))).toEqual([]);
		}),
		runs,
	);
	expect(anchors).toBeGreaterThan(0);
});

const anchorKinds = ["planned", "handover", "any"] as const;

/** The history with one more entry: an anchor of some kind; undefined if there is none to be made. The leaf moves there. */
function anchored(
	{ last, settings }: History,
	kind: (typeof anchorKinds)[number],
	form: number,
): Pick<Point, "log" | "leafId" | "kind"> | undefined {
	const { log, leafId } = last;
	log.leafId = leafId;
	const branch = log.branch();
	const context = contextOf(branch, { settings, window: narrowWindow });
	const ids = sentThroughAnchors(last).flatMap(({ id, message }) => (message.role === "system" ? [] : (id ?? [])));
	const made =
		kind === "planned"
			? planAnchor(branch, log.view(settings))
			: kind === "handover"
				? planHandover(log.view(settings), context)
				: {
						summary: `any ${form}`,
						firstKeptId: form % 3 === 0 ? null : (ids[form % Math.max(1, ids.length)] ?? null),
					};
	if (made === undefined) return undefined;
	const hasSystem = sentByHost(last).some(({ message }) => message.role === "system");
	log.anchor(made.summary, made.firstKeptId, hasSystem ? "rules so far" : undefined);
	return { log, leafId: log.leafId, kind: "anchor" };
}

/** The bytes of a view but for its system messages. */
function seen(place: Pick<Point, "log" | "leafId">): readonly string[] {
	const { messages } = requestAt(place);
	return messages.filter(({ role }) => role !== "system").map(bytes);
}

function pagesOf(branch: Branch, ref: string): readonly Page["parts"][] | string {
	const originals = findOriginals(branch, ref);
	if ("code" in originals) return originals.code;
	const pages: Page["parts"][] = [];
	for (let page = pageOf(originals, 1); !("code" in page); page = pageOf(originals, page.page + 1))
		pages.push(page.parts);
	return pages;
}

function isIn(
	branch: Branch,
	spans: readonly { readonly from: number; readonly to: number }[],
	id: string | undefined,
): boolean {
	return spans.some(({ from, to }) => branch.messages(from, to).some(({ entry }) => entry.id === id));
}

/** The results that stand without their call. */
function strayResults(messages: readonly Message[]): readonly Message[] {
	let calls: readonly string[] = [];
	return messages.filter((message) => {
		if (message.role === "assistant") calls = toolCalls(message).map((call) => call.id);
		return message.role === "toolResult" && !calls.includes(message.toolCallId ?? "");
	});
}
