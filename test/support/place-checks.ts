import fc from "fast-check";
import {
	type Context,
	type Message,
	outgoingItems,
	planFold,
	project,
	Timeline,
	toMessages,
} from "../../kernel/index.ts";
import { isEmpty } from "../../kernel/message.ts";
import { messageRef } from "../../kernel/ref.ts";
import { replayCall } from "../../kernel/replay.ts";
import { isHidden } from "../../kernel/state.ts";
import type { Item } from "../../kernel/view.ts";
import { type History, holds, type Point, play, scripts } from "./arbitraries.ts";
import { contextOf, summaryOf } from "./log.ts";
import { bytes, type Request, requestAt } from "./request.ts";

/** A request made at a place of a session, and what led to it. */
export interface Seen extends Request {
	readonly point: Point;
	readonly settings: History["settings"];
	readonly over: Partial<Context>;
	readonly wire: readonly string[];
	/** All that commits decided, in words that do not depend on entry ids. */
	readonly decisions: string;
}

/** What is wrong at a place, in words, also beside the place before it; nothing if all is as it should be. */
export type Check = (now: Seen, before: Seen | undefined) => readonly string[];

/** Plays sessions and makes all checks at every place in them; returns how many places these were. */
export function checkPlaces(seed: number, sessions: number, checks: readonly Check[]): number {
	let places = 0;
	holds(
		seed,
		fc.property(scripts, (script) => {
			const history = play(script);
			// Whether there are tags and nudges is the same in a whole session.
			const isActive = script.steps.length % 4 > 0;
			let before: Seen | undefined;
			for (const point of history.points) {
				const now = seenAt(point, history, { isActive });
				const faults = checks.flatMap((check) => check(now, before));
				if (faults.length > 0) throw new Error(faults.slice(0, 5).join("\n"));
				before = now;
				places += 1;
			}
		}),
		sessions,
	);
	return places;
}

/** The request at a place of a session. */
export function seenAt(point: Point, { settings }: History, over: Partial<Context> = {}): Seen {
	const request = requestAt(point, { settings, ...over });
	const { commit, lastNumber, reductions } = request.branch.state;
	const decisions = JSON.stringify([commit?.ordinal, lastNumber, topNumbers(request), [...reductions]]);
	return { ...request, point, settings, over, wire: request.messages.map(bytes), decisions };
}

function topNumbers({ branch }: Request): readonly number[] {
	return branch.state.tops.map((top) => top.number);
}

/** Without a commit a request extends the one before; a commit changes nothing before what it folds, restores or reduces. */
export const growth: Check = (now, before) => {
	if (before === undefined || isHostCommit(before, now)) return [];
	const least = before.decisions === now.decisions ? before.wire.length : firstTouched(before, now);
	const at = before.wire.findIndex((line, index) => line !== now.wire[index]);
	return at < 0 || at >= least ? [] : [`message ${at} changed, those before ${least} must not`];
};

/** True if by the step between them the host changes what it sends in other ways than by appending. */
export function isHostCommit(before: Seen, { point: { kind }, ...now }: Seen): boolean {
	// An anchor takes the place of the system messages before it.
	if (kind === "anchor" || kind === "handover") return systemOf(before) !== systemOf(now);
	return kind === "move" || kind === "compaction" || kind === "edit";
}

function systemOf({ sent }: Pick<Request, "sent">): string {
	return sent.flatMap(({ message }) => (message.role === "system" ? bytes(message) : [])).join("\n");
}

/** What no fold reaches is cut wherever it stands, and an undo takes that back. */
const cutsAnywhere: ReadonlySet<Point["kind"]> = new Set(["fit", "undo"]);

/** The place in the earlier view of the first item that a commit may touch; what it folds comes before all it reduces. */
function firstTouched(before: Seen, now: Seen): number {
	const old = new Set(topNumbers(before));
	const current = new Set(topNumbers(now));
	const made = now.branch.state.tops.filter((top) => !old.has(top.number));
	const isFolded = (item: Item) => {
		if (item.kind === "block") return !current.has(item.block.number);
		return item.kind === "entry" && made.some(({ spans }) => spans.some((span) => isIn(span, item.record.ordinal)));
	};
	const reductionOf = ({ branch }: Request, item: Item) =>
		item.kind === "entry" ? JSON.stringify(branch.state.reductions.get(item.record.ordinal)) : "";
	const isReduced = (item: Item) => reductionOf(before, item) !== reductionOf(now, item);
	const folded = before.view.items.findIndex(isFolded);
	if (folded >= 0 && !cutsAnywhere.has(now.point.kind)) return folded;
	const reduced = [before, now].map((request) => request.view.items.findIndex(isReduced));
	return Math.min(before.view.items.length, ...[folded, ...reduced].filter((place) => place >= 0));
}

function isIn(span: { readonly from: number; readonly to: number }, ordinal: number): boolean {
	return span.from <= ordinal && ordinal <= span.to;
}

/** Every message that the host sends is in view once, in its place, or stands behind one block, or is hidden by a rule. */
export const presence: Check = ({ branch, sent, view }) => {
	const ordinals = new Map(branch.messages(1, branch.lastOrdinal).map((record) => [record.entry.id, record]));
	const expected: string[] = [];
	for (const { id, message } of sent) {
		const record = message.role === "system" ? undefined : ordinals.get(id ?? "");
		const tops = branch.state.tops.filter((top) => record && top.spans.some((span) => isIn(span, record.ordinal)));
		if (tops.length > 1) return [`${id} stands behind ${tops.length} blocks`];
		const [top] = tops;
		if (record === undefined) expected.push("system");
		else if (top === undefined) expected.push(...(isHidden(branch.state, record.unit) ? [] : [record.entry.id]));
		else if (!expected.includes(`b${top.number}`)) expected.push(`b${top.number}`);
	}
	const names = view.items.map(nameOf);
	return names.join() === expected.join() ? [] : [`in view are ${names}, not ${expected}`];
};

function nameOf(item: Item): string {
	if (item.kind === "block") return `b${item.block.number}`;
	return item.kind === "entry" ? item.record.entry.id : "system";
}

/** After an assistant message come just those of its results that the host sends; where it is gone, they are. */
export const wholeUnits: Check = ({ branch, sent, view }) => {
	const names = view.items.map(nameOf);
	const results = new Map<string, string[]>();
	const here = new Set(sent.map(({ id }) => id));
	for (const { entry, unit } of branch.messages(1, branch.lastOrdinal)) {
		if (!here.has(entry.id) || !here.has(unit.entry.id)) continue;
		if (entry.id === unit.entry.id) results.set(entry.id, []);
		else results.get(unit.entry.id)?.push(entry.id);
	}
	return [...results].flatMap(([id, own]) => {
		const at = names.indexOf(id);
		const there = at < 0 ? own.filter((each) => names.includes(each)) : names.slice(at + 1, at + 1 + own.length);
		return there.join() === (at < 0 ? "" : own.join()) ? [] : [`of the results of ${id} there are ${there}`];
	});
};

/** No message is empty but an assistant's that came empty, and one of the user's side is there if the host sends one. */
export const noneEmpty: Check = ({ messages, sent }) => {
	const empty = messages.filter((each) => isEmpty(each) && each.role !== "assistant" && each.role !== "system");
	const isLost = sent.some(({ message }) => isUsers(message)) && !messages.some(isUsers);
	return [...empty.map((each) => `a message of ${each.role} is empty`), ...(isLost ? ["nothing is the user's"] : [])];
};

function isUsers({ role }: Message): boolean {
	return role === "user" || role === "custom";
}

/** A restart shows the same view and knows the same blocks, whatever other branches were looked at before. */
export const restart: Check = ({ point: { log, leafId }, branch, outgoing, settings, over, wire }) => {
	const again = new Timeline(replayCall).branch(leafId, (id) => log.entries.get(id));
	const context = contextOf(again, { settings, ...over });
	const view = project(outgoingItems(again, outgoing), context);
	const lines = toMessages({ ...view, nudge: undefined }, context).map(bytes);
	const blocks = [branch, again].map(({ state }) => [...state.blocks.values()].map(({ text }) => text).join("\n"));
	return [
		...(lines.join("\n") === wire.join("\n") ? [] : ["a restart shows something else"]),
		...(blocks[0] === blocks[1] ? [] : ["a restart knows other blocks"]),
	];
};

/** All ranges that are recommended are accepted at that moment. The call stands on a branch of its own. */
export const accepted: Check = ({ point: { log, leafId }, branch, view: { foldable }, settings }) => {
	if (foldable.length === 0) return [];
	const ranges = foldable.map(({ from, to }) => {
		return { startId: messageRef(from), endId: messageRef(to), summary: `${summaryOf(branch, from, to)}, and so on` };
	});
	log.leafId = leafId;
	const id = log.assistant("", [{ name: "compress", arguments: { content: ranges } }]);
	const plan = planFold(log.branch(), log.view(settings), settings, ranges, log.timeline.find(id));
	return plan.outcomes.flatMap((outcome) =>
		outcome.isApplied ? [] : [`${outcome.request.startId}: ${JSON.stringify(outcome.problem)}`],
	);
};
