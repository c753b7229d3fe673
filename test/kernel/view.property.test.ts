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
import { type History, holds, play, scripts, settingsChoice } from "../support/arbitraries.ts";
import { contextOf, narrowWindow } from "../support/log.ts";
import { isHostCommit, type Seen, seenAt } from "../support/place-checks.ts";
import { requestAt, sentByHost } from "../support/request.ts";

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

test("Where user messages may not follow each other nothing of ours stands beside one, and the prefix holds unless a block came last.", () => {
	let merged = 0;
	holds(
		seed + 4,
		fc.property(scripts, (script) => {
			for (const [before, after] of pairs(play(script), { isAlternating: true })) {
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

/** The requests before and after each step. */
function pairs(history: History, over: Partial<Context>): readonly (readonly [Seen, Seen])[] {
	const seen = history.points.map((point) => seenAt(point, history, over));
	return seen.slice(1).map((after, index) => [seen[index] ?? after, after]);
}

function isBlock(message: Message): boolean {
	return "customType" in message && message.customType === blockMessageType;
}

function deepFreeze<T>(value: T): T {
	if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
		Object.freeze(value);
		for (const part of Object.values(value)) deepFreeze(part);
	}
	return value;
}
