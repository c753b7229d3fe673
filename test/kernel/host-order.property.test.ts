import { buildSessionProjection, parseSessionEntries, type SessionEntry } from "@earendil-works/pi-coding-agent";
import fc from "fast-check";
import { expect, test } from "vitest";
import { anchorDetails, type Entry, type Message, outgoingItems, project, Timeline } from "../../kernel/index.ts";
import { replayCall } from "../../kernel/replay.ts";
import { branchItems, viewItems } from "../../kernel/sent.ts";
import type { Item } from "../../kernel/view.ts";
import { entryFromPi, messageFromPi } from "../../src/transcript/from-pi.ts";
import { cutPoints, holds, type Point, play, scripts } from "../support/arbitraries.ts";
import { contextOf } from "../support/log.ts";
import { sentByHost } from "../support/request.ts";

const seed = 20_261_105;

test("A branch is shown in the order and with the content of Pi's own projection, through compactions and edits.", () => {
	holds(
		seed,
		fc.property(scripts, (script) => {
			for (const point of cutPoints(play(script))) {
				const { branch, sent } = projected(point, withoutAnchors);
				const hasAnchor = branch.leaf?.anchor !== undefined;
				const items = branchItems(branch).map((item) => [nameOf(item), wire(item.message)]);
				const told = sent.map(({ id, message }) => [id, wire(message)]);
				const isSeen = ([name]: readonly (string | undefined)[]) => !hasAnchor || name !== "system";
				expect(items.filter(isSeen)).toEqual(told.filter(isSeen));
			}
		}),
	);
});

test("Each message of Pi's projection finds its own entry, also where moments and call ids repeat, and after an anchor the rest is there.", () => {
	let anchors = 0;
	holds(
		seed + 1,
		fc.property(scripts, (script) => {
			for (const point of cutPoints(play(script))) {
				const { branch, sent } = projected(point);
				const anchorId = branch.leaf?.anchor?.entry.id;
				const left = sent.filter(({ id }) => id !== anchorId);
				anchors += sent.length - left.length;
				const items = outgoingItems(
					branch,
					sent.map((each) => each.message),
				);
				const own = new Set(sent.map((each) => each.message));
				expect(items.filter((item) => own.has(item.message)).map(nameOf)).toEqual(left.map((each) => each.id));
				const shown = (item: Item) => [nameOf(item), wire(item.message), item.sizeTokens];
				expect(items.map(shown)).toEqual(viewItems(branch, true).map(shown));
			}
		}),
	);
	expect(anchors).toBeGreaterThan(0);
});

test("What is left out of blocks before an anchor changes nothing of the view.", () => {
	let leftOut = 0;
	holds(
		seed + 3,
		fc.property(scripts, (script) => {
			for (const { log, leafId } of cutPoints(play(script))) {
				const branch = log.branch(leafId);
				const [whole, short] = [branchItems(branch), viewItems(branch, true)];
				leftOut += whole.length - short.length;
				const context = contextOf(branch);
				expect(project(short, context)).toEqual(project(whole, context));
			}
		}),
	);
	expect(leftOut).toBeGreaterThan(100);
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

/** The log as a file of Pi, read by Pi: the kernel's branch of it, and what Pi sends of it, or of what `change` makes of it. */
function projected(point: Pick<Point, "log" | "leafId">, change = (entry: Entry): Entry => entry) {
	const read = (all: readonly Entry[]) =>
		parseSessionEntries(all.map((entry) => JSON.stringify(lineOf(entry))).join("\n")).filter(
			(entry): entry is SessionEntry => entry.type !== "session",
		);
	const all = [...point.log.entries.values()];
	const byId = new Map(read(all).map((entry) => [entry.id, entryFromPi(entry)]));
	const branch = new Timeline(replayCall).branch(point.leafId, (id) => byId.get(id));
	const sent = buildSessionProjection(read(all.map(change)), point.leafId).entries.flatMap(
		({ sourceEntry, messages }) =>
			messages.flatMap((message) => {
				if (message.role === "bashExecution" && message.excludeFromContext) return [];
				return { id: message.role === "system" ? "system" : sourceEntry.id, message: messageFromPi(message) };
			}),
	);
	return { branch, sent };
}

function withoutAnchors(entry: Entry): Entry {
	const { id, parentId, timestampMs } = entry;
	return entry.kind === "anchor" ? { kind: "other", id, parentId, timestampMs } : entry;
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
		case "anchor": {
			const system = entry.system === undefined ? {} : { systemMessage: entry.system };
			const firstKeptEntryId = entry.firstKeptId ?? entry.id;
			const summary = entry.shownAs.content;
			return {
				...base,
				type: "compaction",
				summary,
				firstKeptEntryId,
				tokensBefore: 9,
				details: anchorDetails,
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
