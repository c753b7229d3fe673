import fc from "fast-check";
import { expect, test } from "vitest";
import type { Block, Span } from "../../kernel/block.ts";
import { filterRules } from "../../kernel/filters/index.ts";
import {
	type Branch,
	mark,
	type Operation,
	operationEntryType,
	planFold,
	type RangeRequest,
	textOf,
} from "../../kernel/index.ts";
import { messageRef } from "../../kernel/ref.ts";
import type { State } from "../../kernel/state.ts";
import { piecesOf, type Range } from "../../kernel/unit.ts";
import { cutPoints, type History, holds, type Point, play, scripts } from "../support/arbitraries.ts";
import { summaryOf } from "../support/log.ts";
import { bytes, requestAt } from "../support/request.ts";
import { compress, cutOf, perform } from "../support/steps.ts";

const seed = 20_261_104;

test("Every range that a view recommends is accepted at that moment, alone and together with all others.", () => {
	let ranges = 0;
	holds(
		seed,
		fc.property(scripts, (script) => {
			const history = play(script);
			for (const point of cutPoints(history)) {
				const { foldable } = requestAt(point, { settings: history.settings }).view;
				ranges += foldable.length;
				expectAccepted(history, point, foldable);
			}
		}),
	);
	expect(ranges).toBeGreaterThan(0);
});

test("Every range that an answer to a compress call quotes is accepted by the next call.", () => {
	let ranges = 0;
	holds(
		seed + 1,
		fc.property(scripts, fc.nat(255), (script, pick) => {
			const history = play(script);
			const { log } = history.last;
			const { foldable } = requestAt(history.last, { settings: history.settings }).view;
			const chosen = foldable
				.filter((_, index) => ((pick >> (index % 8)) & 1) === 0)
				.map((each) => requestOf(each, log.branch()));
			const refused = { startId: "x", endId: "x", summary: "of nothing" };
			const [plan] = compress(log, [chosen.length === 0 ? [refused] : chosen], true, history.settings);
			if (plan === undefined) throw new Error("a call has no plan");
			ranges += plan.foldable.length;
			expectAccepted(history, { ...history.last, leafId: log.leafId }, plan.foldable);
		}),
	);
	expect(ranges).toBeGreaterThan(0);
});

test("Of the summaries that sessions are generated with, some are accepted and some refused, for each reason.", () => {
	const answers = new Map<string, number>();
	holds(
		seed + 10,
		fc.property(scripts, (script) => {
			const { last } = play(script);
			for (const entry of last.log.entries.values()) {
				if (entry.kind !== "message" || entry.message.toolName !== "compress") continue;
				const text = textOf(entry.message);
				for (const [answer] of text.matchAll(/^Folded|is empty|the least is|not one word/g)) {
					answers.set(answer, (answers.get(answer) ?? 0) + 1);
				}
			}
		}),
	);
	expect([...answers.keys()].toSorted()).toEqual(["Folded", "is empty", "not one word", "the least is"]);
	for (const count of answers.values()) expect(count).toBeGreaterThan(5);
});

test("Top-level blocks cover no message twice, children lie within their block, and a span holds no summary but its own.", () => {
	holds(
		seed + 2,
		fc.property(scripts, (script) => {
			for (const point of cutPoints(play(script))) {
				const { branch } = requestAt(point);
				expectOrder(branch.state);
				for (const span of [...branch.state.blocks.values()].flatMap((block) => block.spans)) {
					const kinds = branch.messages(span.from, span.to).map((record) => record.entry.kind);
					expect(kinds).toHaveLength(span.to - span.from + 1);
					expect(kinds.length === 1 || !kinds.includes("compaction")).toBe(true);
				}
			}
		}),
	);
});

test("A block number is never used again on a branch, and a block never changes while the branch goes on.", () => {
	holds(
		seed + 3,
		fc.property(scripts, (script) => {
			const { points } = play(script);
			for (const [index, point] of points.slice(1).entries()) {
				const before = points[index];
				if (before === undefined || point.kind === "move") continue;
				const [old, current] = [before, point].map((each) => each.log.branch(each.leafId).state);
				for (const block of old?.blocks.values() ?? []) {
					const { madeBy: _, ...now } = current?.blocks.get(block.number) ?? { madeBy: "" };
					expect(now).toEqual(without(block));
				}
				expect(current?.lastNumber).toBe(Math.max(0, ...(current?.blocks.keys() ?? [])));
			}
		}),
	);
});

test("An unfold opens one block by one tier: its children stand in its place, and all other blocks stay.", () => {
	let children = 0;
	holds(
		seed + 6,
		fc.property(scripts, (script) => {
			const { log, leafId } = play(script).last;
			const { tops } = log.branch().state;
			for (const top of tops) {
				log.leafId = leafId;
				log.operation({ kind: "unfold", block: top.number, sizeTokens: 1 });
				const expected = [...tops.filter((each) => each !== top).map((each) => each.number), ...top.children];
				expect(new Set(log.branch().state.tops.map((each) => each.number))).toEqual(new Set(expected));
				children += top.children.length;
			}
		}),
	);
	expect(children).toBeGreaterThan(0);
});

test("However wide a range is, a fold leaves the last user message, pins and protected tools in view.", () => {
	let folds = 0;
	holds(
		seed + 7,
		fc.property(scripts, (script) => {
			const { last, settings } = play(script);
			const { log } = last;
			const before = requestAt(last);
			const units = piecesOf(before.view.items).filter((piece) => piece.kind === "unit");
			const lastUser = units.findLast((unit) => unit.records[0]?.message?.role === "user");
			const staying = units.filter(
				({ tools, records }) =>
					tools.some((tool) => settings.protectedTools.includes(tool)) ||
					records.some((record) => before.branch.state.pins.has(record.ordinal)),
			);
			const { lastOrdinal } = before.branch;
			const summary = summaryOf(before.branch, 1, lastOrdinal);
			const range = { startId: messageRef(1), endId: messageRef(lastOrdinal), summary };
			compress(log, [[range]], true, settings);
			const { items } = requestAt({ log, leafId: log.leafId }).view;
			const names = new Set(items.map((item) => (item.kind === "entry" ? item.record.entry.id : "")));
			const records = [...staying, ...(lastUser === undefined ? [] : [lastUser])].flatMap((unit) => unit.records);
			expect(records.map((record) => record.entry.id).filter((id) => !names.has(id))).toEqual([]);
			folds += log.branch().state.blocks.size - before.branch.state.blocks.size;
		}),
	);
	expect(folds).toBeGreaterThan(0);
});

test("An undo brings back the view from before the last commit byte for byte, and a redo the one from after it.", () => {
	let commits = 0;
	holds(
		seed + 8,
		fc.property(scripts, fc.nat(255), (script, form) => {
			const { last, settings } = play(script);
			const { log } = last;
			const wire = () => requestAt({ log, leafId: log.leafId }).messages.map(bytes);
			const before = wire();
			const kind = form % 3 === 0 ? "unfold" : form % 3 === 1 ? "recommended" : "truncate";
			const { commit } = log.branch().state;
			perform(log, { kind, form: form - (form % 3), picks: [form, form, 0, 0] }, settings);
			if (log.branch().state.commit === commit) return;
			commits++;
			const after = wire();
			log.operation({ kind: "undo", sizeTokens: 1 });
			expect(wire().slice(0, before.length)).toEqual(before);
			log.operation({ kind: "redo", sizeTokens: 1 });
			expect(wire()).toEqual(after);
		}),
	);
	expect(commits).toBeGreaterThan(0);
});

test("What is hidden stays hidden, whatever cut is recorded for it later.", () => {
	let hidden = 0;
	holds(
		seed + 9,
		fc.property(scripts, (script) => {
			const { last } = play(script);
			const { messages, branch } = requestAt(last);
			const ordinals = [...branch.state.reductions].flatMap(([ordinal, [first]]) =>
				first?.rule === "hide" ? ordinal : [],
			);
			hidden += ordinals.length;
			for (const ordinal of ordinals) {
				last.log.operation(cutOf(branch.message(ordinal)?.entry.id ?? "", ordinal, 0));
				const after = requestAt({ log: last.log, leafId: last.log.leafId });
				expect(after.messages.map(bytes)).toEqual(messages.map(bytes));
			}
		}),
	);
	expect(hidden).toBeGreaterThan(0);
});

test("Nonsense in the log is left out: nothing is thrown, and the order of blocks stays whole.", () => {
	let taken = 0;
	holds(
		seed + 4,
		fc.property(scripts, fc.array(nonsense(), { minLength: 1, maxLength: 4 }), (script, operations) => {
			const { last } = play(script);
			const before = last.log.branch().state;
			for (const operation of operations) last.log.operation(operation);
			const point = { log: last.log, leafId: last.log.leafId };
			const { branch, view } = requestAt(point);
			expectOrder(branch.state);
			expect([...branch.state.blocks.values()].slice(0, before.blocks.size)).toEqual([...before.blocks.values()]);
			const names = view.items.map((item) => (item.kind === "block" ? item.block : item.message));
			expect(new Set(names).size).toBe(names.length);
			taken += branch.state.blocks.size;
		}),
	);
	expect(taken).toBeGreaterThan(0);
});

test("Whatever stands in our entries and results instead of an operation changes no view.", () => {
	holds(
		seed + 5,
		fc.property(scripts, fc.anything(), fc.anything(), (script, anything, op) => {
			const { last } = play(script);
			const before = requestAt(last);
			const values = [
				anything,
				op,
				{ acp: 1, op },
				{ acp: 1, op: { ...mark({ kind: "nudge", sizeTokens: 1 }).op, kind: op } },
			];
			for (const data of values) {
				last.log.append({ kind: "custom", customType: operationEntryType, data });
				last.log.message({ role: "toolResult", toolName: "compress", content: "?", details: data });
			}
			const after = requestAt({ log: last.log, leafId: last.log.leafId });
			expect(after.messages.slice(0, before.messages.length).map(bytes)).toEqual(before.messages.map(bytes));
			expect([...after.branch.state.blocks]).toEqual([...before.branch.state.blocks]);
		}),
	);
});

function requestOf({ from, to }: Pick<Range, "from" | "to">, branch: Branch): RangeRequest {
	return { startId: messageRef(from), endId: messageRef(to), summary: summaryOf(branch, from, to) };
}

/** Calls compress at a place on a branch of its own, so that the history stays as it is. */
function expectAccepted({ settings }: History, { log, leafId }: Point, foldable: readonly Range[]): void {
	const requests = foldable.map((each) => requestOf(each, log.branch(leafId)));
	for (const content of [...requests.map((request) => [request]), requests]) {
		log.leafId = leafId;
		const id = log.assistant("", [{ name: "compress", arguments: { content } }]);
		const plan = planFold(log.branch(), log.view(settings), settings, content, log.timeline.find(id));
		expect(plan.outcomes.filter((outcome) => !outcome.isApplied)).toEqual([]);
	}
}

function expectOrder({ tops, blocks }: State): void {
	const spans = tops.flatMap((top) => top.spans);
	for (const [index, span] of spans.entries()) {
		expect(spans.slice(index + 1).filter((other) => other.from <= span.to && span.from <= other.to)).toEqual([]);
	}
	for (const block of blocks.values()) {
		const children = block.children.map((number) => blocks.get(number));
		expect(children.every((child) => child !== undefined && isWithin(child, block.spans))).toBe(true);
		expect(block.children.every((number) => number < block.number)).toBe(true);
	}
}

function isWithin(child: Block, spans: readonly Span[]): boolean {
	return child.spans.every((inner) => spans.some((outer) => outer.from <= inner.from && inner.to <= outer.to));
}

function without({ madeBy: _, ...block }: Block): Omit<Block, "madeBy"> {
	return block;
}

/** Operations of the right form that no session of ours would write. */
function nonsense(): fc.Arbitrary<Operation> {
	const number = fc.oneof(
		{ weight: 9, arbitrary: fc.integer({ min: 1, max: 12 }) },
		fc.constant(Number.MAX_SAFE_INTEGER),
	);
	const size = fc.nat(5_000);
	const id = fc.nat(40).map((n) => `e${n}`);
	const span = fc
		.record({ fromId: id, toId: id, from: number, length: fc.nat(8) })
		.map(({ length, ...from }) => ({ ...from, to: Math.min(from.from + length, Number.MAX_SAFE_INTEGER) }));
	const block = fc.record({
		number,
		tier: number,
		summary: fc.string(),
		text: fc.string(),
		spans: fc.array(span, { minLength: 1, maxLength: 3 }),
		children: fc.array(number, { maxLength: 3 }),
		messages: size,
		sizeTokens: size,
	});
	const reduction = fc.oneof(
		fc.record({
			rule: fc.constantFrom("hide" as const, ...filterRules.map((rule) => rule.name)),
			id,
			ordinal: number,
			savedTokens: size,
		}),
		fc.record({ rule: fc.constant("truncate" as const), id, ordinal: number, savedTokens: size, keepChars: fc.nat(9) }),
	);
	const reductions = fc.array(reduction, { maxLength: 2 });
	return fc.oneof(
		fc.record({
			kind: fc.constant("fold" as const),
			author: fc.constantFrom("model" as const, "rules" as const),
			blocks: fc.array(block, { maxLength: 3 }),
			reductions,
			sizeTokens: size,
		}),
		fc.record({ kind: fc.constant("unfold" as const), block: number, sizeTokens: size }),
		fc.record({ kind: fc.constant("truncate" as const), reductions, sizeTokens: size }),
		fc.record({ kind: fc.constant("nudge" as const), sizeTokens: size }),
	);
}
