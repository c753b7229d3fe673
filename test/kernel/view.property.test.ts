import fc from "fast-check";
import { expect, test } from "vitest";
import {
	blockMessageType,
	type Context,
	type Message,
	outgoingItems,
	project,
	Timeline,
	toMessages,
} from "../../kernel/index.ts";
import { replayCall } from "../../kernel/replay.ts";
import type { State } from "../../kernel/state.ts";
import type { Item } from "../../kernel/view.ts";
import { type History, holds, type Point, play, scripts, settingsChoice } from "../support/arbitraries.ts";
import { contextOf, narrowWindow } from "../support/log.ts";
import { bytes, type Request, requestAt, sentByHost } from "../support/request.ts";

const seed = 20_261_101;

test("The same branch and list give the same view twice over, and nothing that went in is changed.", () => {
	holds(
		seed,
		fc.property(scripts, fc.boolean(), (script, isActive) => {
			const { last, settings } = play(script);
			deepFreeze([...last.log.entries.values()]);
			const outgoing = deepFreeze(structuredClone(sentByHost(last).map((each) => each.message)));
			const branch = new Timeline(replayCall).branch(last.leafId, (id) => last.log.entries.get(id));
			const see = () => {
				const context = contextOf(branch, { settings, isActive, window: narrowWindow });
				const view = project(outgoingItems(branch, outgoing), context);
				return JSON.stringify([toMessages(view, contextOf(branch)), view.foldable, view.nudge]);
			};
			expect(see()).toBe(see());
		}),
	);
});

test("Between commits the messages of a request are a prefix of those of the next one.", () => {
	holds(
		seed + 1,
		fc.property(scripts, fc.boolean(), (script, isActive) => {
			for (const [before, after] of pairs(play(script), isActive)) {
				if (isHostCommit(before, after) || before.decisions !== after.decisions) continue;
				expect(after.sentWire.slice(0, before.sentWire.length)).toEqual(before.sentWire);
				expect(after.wire.slice(0, before.wire.length)).toEqual(before.wire);
			}
		}),
	);
});

test("Where user messages may not follow each other nothing of ours stands beside one, and the prefix holds unless a block came last.", () => {
	let merged = 0;
	holds(
		seed + 4,
		fc.property(scripts, (script) => {
			for (const [before, after] of pairs(play(script), true, { isAlternating: true })) {
				const sent = before.messages.filter(({ stopReason }) => stopReason !== "error" && stopReason !== "aborted");
				for (const [index, message] of sent.entries()) {
					if (!isBlock(message)) continue;
					expect(["user", "custom", "toolResult"]).not.toContain(sent[index - 1]?.role);
					expect(["user", "custom"]).not.toContain(sent[index + 1]?.role);
				}
				merged += before.view.items.filter((item) => item.kind === "block").length - sent.filter(isBlock).length;
				const last = before.view.items.findLast((item) => item.kind !== "entry" || !item.record.isSilent);
				if (isHostCommit(before, after) || before.decisions !== after.decisions || last?.kind === "block") continue;
				expect(after.wire.slice(0, before.wire.length)).toEqual(before.wire);
			}
		}),
		60,
	);
	expect(merged).toBeGreaterThan(0);
});

test("A commit changes no byte before the first message that it folds, restores or reduces.", () => {
	holds(
		seed + 2,
		fc.property(scripts, fc.boolean(), (script, isActive) => {
			for (const [before, after] of pairs(play(script), isActive)) {
				if (isHostCommit(before, after) || before.decisions === after.decisions) continue;
				const untouched = firstTouched(before, after);
				expect(after.wire.slice(0, untouched)).toEqual(before.wire.slice(0, untouched));
			}
		}),
	);
});

test("A nudge is one message at the very end and leaves all others alone.", () => {
	let nudges = 0;
	holds(
		seed + 3,
		fc.property(scripts, (script) => {
			const { last } = play(script);
			const [settings] = settingsChoice;
			const { view, branch, messages } = requestAt(last, { window: narrowWindow, ...(settings && { settings }) });
			const whole = toMessages(view, contextOf(branch));
			expect(whole.slice(0, messages.length)).toEqual(messages);
			expect(whole.length - messages.length).toBe(view.nudge === undefined ? 0 : 1);
			if (view.nudge === undefined) return;
			nudges++;
			expect(whole.at(-1)).toMatchObject({ role: "custom", content: view.nudge.text });
		}),
	);
	expect(nudges).toBeGreaterThan(0);
});

/** A request as bytes, and what led to it. */
interface Moment extends Request {
	readonly kind: Point["kind"];
	readonly sentWire: readonly string[];
	readonly wire: readonly string[];
	readonly decisions: string;
}

/** The requests before and after each step. */
function pairs(
	{ points, settings }: History,
	isActive: boolean,
	over: Partial<Context> = {},
): readonly (readonly [Moment, Moment])[] {
	const moments = points.map((point): Moment => {
		const request = requestAt(point, { settings, isActive, ...over });
		const sentWire = request.sent.map((each) => bytes(each.message));
		const wire = request.messages.map(bytes);
		return { ...request, kind: point.kind, sentWire, wire, decisions: decisions(request.branch.state) };
	});
	return moments.slice(1).map((after, index) => [moments[index] ?? after, after]);
}

function isBlock(message: Message): boolean {
	return "customType" in message && message.customType === blockMessageType;
}

/** True if by the step between them the host changes what it sends in other ways than by appending. */
function isHostCommit(before: Moment, after: Moment): boolean {
	const { kind } = after;
	if (kind === "anchor" || kind === "handover") return systemOf(before) !== systemOf(after);
	return kind === "move" || kind === "compaction" || kind === "edit";
}

/** An anchor takes the place of the system messages before it. */
function systemOf({ sent }: Moment): string {
	return sent.flatMap(({ message }) => (message.role === "system" ? bytes(message) : [])).join("\n");
}

/** All that commits decided, in words that do not depend on entry ids. */
function decisions(state: State): string {
	return JSON.stringify([state.commit?.ordinal, state.lastNumber, topNumbers(state), [...state.reductions]]);
}

function topNumbers(state: State): readonly number[] {
	return state.tops.map((top) => top.number);
}

/** The place in the earlier view of the first item that a commit may touch; what it folds comes before all it reduces. */
function firstTouched(before: Moment, after: Moment): number {
	const old = new Set(topNumbers(before.branch.state));
	const current = new Set(topNumbers(after.branch.state));
	const made = after.branch.state.tops.filter((top) => !old.has(top.number));
	const isFolded = (item: Item) =>
		item.kind === "block"
			? !current.has(item.block.number)
			: item.kind === "entry" && made.some((top) => top.spans.some((span) => contains(span, item.record.ordinal)));
	const reduction = ({ branch }: Request, item: Item) =>
		item.kind === "entry" ? JSON.stringify(branch.state.reductions.get(item.record.ordinal)) : "";
	const isReduced = (item: Item) => reduction(before, item) !== reduction(after, item);
	const folded = before.view.items.findIndex(isFolded);
	// What no fold reaches is cut wherever it stands.
	if (folded >= 0 && after.kind !== "fit") return folded;
	const reduced = [before, after].map((request) => request.view.items.findIndex(isReduced));
	return Math.min(before.view.items.length, ...[folded, ...reduced].filter((place) => place >= 0));
}

function contains(span: { readonly from: number; readonly to: number }, ordinal: number): boolean {
	return span.from <= ordinal && ordinal <= span.to;
}

function deepFreeze<T>(value: T): T {
	if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
		Object.freeze(value);
		for (const part of Object.values(value)) deepFreeze(part);
	}
	return value;
}
