import { buildSessionProjection, parseSessionEntries, type SessionEntry } from "@earendil-works/pi-coding-agent";
import fc from "fast-check";
import { expect, test } from "vitest";
import { type Entry, type Message, outgoingItems, Timeline } from "../../kernel/index.ts";
import { replayCall } from "../../kernel/replay.ts";
import { branchItems } from "../../kernel/sent.ts";
import type { Item } from "../../kernel/view.ts";
import { entryFromPi, messageFromPi } from "../../src/transcript/from-pi.ts";
import { cutPoints, holds, type Point, play, scripts } from "../support/arbitraries.ts";
import { sentByHost } from "../support/request.ts";

const seed = 20_261_105;

test("A branch is sent in the order and with the content of Pi's own projection, through compactions and edits.", () => {
	holds(
		seed,
		fc.property(scripts, (script) => {
			for (const point of cutPoints(play(script))) {
				const { branch, sent } = projected(point);
				const items = branchItems(branch).map((item) => [nameOf(item), wire(item.message)]);
				expect(items).toEqual(sent.map(({ id, message }) => [id, wire(message)]));
			}
		}),
	);
});

test("Each message of Pi's projection finds its own entry, also where moments and call ids repeat.", () => {
	holds(
		seed + 1,
		fc.property(scripts, (script) => {
			const { branch, sent } = projected(play(script).last);
			const messages = sent.map((each) => each.message);
			const items = outgoingItems(branch, messages);
			expect(items.map(nameOf)).toEqual(sent.map((each) => each.id));
			expect(items.every((item, index) => item.message === messages[index])).toBe(true);
		}),
	);
});

test("What these tests take for the rules of the host are the rules of Pi.", () => {
	holds(
		seed + 2,
		fc.property(scripts, (script) => {
			for (const point of cutPoints(play(script))) {
				const expected = projected(point).sent.map(({ id }) => id);
				const told = sentByHost(point).map(({ id, message }) => (message.role === "system" ? "system" : id));
				expect(told).toEqual(expected);
			}
		}),
	);
});

/** The log as a file of Pi, read by Pi: the kernel's branch of it, and what Pi sends of it. */
function projected(point: Pick<Point, "log" | "leafId">) {
	const file = [...point.log.entries.values()].map((entry) => JSON.stringify(lineOf(entry))).join("\n");
	const entries = parseSessionEntries(file).filter((entry): entry is SessionEntry => entry.type !== "session");
	const byId = new Map(entries.map((entry) => [entry.id, entryFromPi(entry)]));
	const branch = new Timeline(replayCall).branch(point.leafId, (id) => byId.get(id));
	const sent = buildSessionProjection(entries, point.leafId).entries.flatMap(({ sourceEntry, messages }) =>
		messages.flatMap((message) => {
			if (message.role === "bashExecution" && message.excludeFromContext) return [];
			return { id: message.role === "system" ? "system" : sourceEntry.id, message: messageFromPi(message) };
		}),
	);
	return { branch, sent };
}

function lineOf(entry: Entry): object {
	const base = { id: entry.id, parentId: entry.parentId, timestamp: new Date(entry.timestampMs).toISOString() };
	switch (entry.kind) {
		case "message":
			if (entry.omitted) return { ...base, type: "message", message: excludedRun(entry.message) };
			if (entry.message.role === "custom")
				return { ...base, ...entry.message, type: "custom_message", timestamp: base.timestamp };
			return { ...base, type: "message", message: entry.message };
		case "compaction": {
			const system = entry.system === undefined ? {} : { systemMessage: entry.system };
			const firstKeptEntryId = entry.firstKeptId ?? entry.id;
			return {
				...base,
				type: "compaction",
				summary: entry.message.content,
				firstKeptEntryId,
				tokensBefore: 9,
				...system,
			};
		}
		case "branchSummary":
			return { ...base, type: "branch_summary", summary: entry.message.content, fromId: "root" };
		case "edit":
			return { ...base, type: "context_edit", targetId: entry.targetId, replacement: entry.replacement };
		case "custom":
			return { ...base, type: "custom", customType: entry.customType, data: entry.data };
		case "other":
			return { ...base, type: "label", targetId: "root", label: "here" };
	}
}

function excludedRun({ content, timestamp }: Message): object {
	const outcome = { exitCode: 0, cancelled: false, truncated: false, excludeFromContext: true };
	return { role: "bashExecution", command: "ls", output: content, ...outcome, timestamp };
}

function nameOf(item: Item): string {
	if (item.kind === "block") return `b${item.block.number}`;
	return item.kind === "entry" ? item.record.entry.id : "system";
}

function wire({ role, content, timestamp, toolCallId, isError }: Message): string {
	return JSON.stringify([role, content, timestamp, toolCallId, isError]);
}
