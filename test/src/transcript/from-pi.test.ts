import type { AgentMessage } from "@earendil-works/pi-agent-core";
import { fauxAssistantMessage, fauxThinking, fauxToolCall } from "@earendil-works/pi-ai";
import {
	buildSessionProjection,
	convertToLlm,
	type SessionEntry,
	SessionManager,
} from "@earendil-works/pi-coding-agent";
import { describe, expect, it } from "vitest";
import { type Entry, outgoingItems, replayCall, Timeline } from "../../../kernel/index.ts";
import { entryFromPi, messageFromPi } from "../../../src/transcript/from-pi.ts";

const timestamp = 1_700_000_000_000;
const image = { type: "image" as const, data: "aW1hZ2U=", mimeType: "image/png" };
const system = { role: "system" as const, content: "Be kind.", sections: { cwd: "<cwd>/x</cwd>" }, timestamp };
const user = { role: "user" as const, content: [{ type: "text" as const, text: "Look" }, image], timestamp };
const answer = fauxAssistantMessage(
	[fauxThinking("hm"), { type: "text", text: "Here" }, fauxToolCall("read", { path: "a" }, { id: "c1" })],
	{ stopReason: "toolUse", timestamp },
);
const result = {
	role: "toolResult" as const,
	toolCallId: "c1",
	toolName: "read",
	content: [{ type: "text" as const, text: "text of a" }],
	details: { acp: 1 },
	isError: false,
	timestamp,
};
const bash = {
	role: "bashExecution" as const,
	command: "ls",
	output: "a b",
	exitCode: 2,
	cancelled: false,
	truncated: false,
	timestamp,
};
const usage = { ...answer.usage, input: 7 };

/** The entry that a change of a new log appends. */
function appended(append: (log: SessionManager) => string): SessionEntry {
	const log = SessionManager.inMemory("/x");
	const entry = log.getEntry(append(log));
	if (entry === undefined) throw new Error("nothing was appended");
	return entry;
}

/** What Pi would send for an entry alone. */
function sentByPi(entry: SessionEntry) {
	return convertToLlm(buildSessionProjection([entry]).messages);
}

describe("an entry of Pi's log", () => {
	const line = appended((log) => log.appendMessage(user));

	it("keeps its id, its parent and its time", () => {
		const log = SessionManager.inMemory("/x");
		const first = log.appendMessage(user);
		const entry = log.getEntry(log.appendMessage(answer));
		expect(entry && entryFromPi(entry)).toMatchObject({
			parentId: first,
			timestampMs: Date.parse(entry?.timestamp ?? ""),
		});
		expect(entryFromPi(line)).toMatchObject({ id: line.id, parentId: null });
	});

	it.each<[string, AgentMessage]>([
		["system", system],
		["user", user],
		["assistant", answer],
		["toolResult", result],
		["custom", { role: "custom", customType: "note", content: "hi", display: true, details: { a: 1 }, timestamp }],
	])("that holds a message of role %s holds that very object", (_role, message) => {
		const entry = entryFromPi({ ...line, type: "message", message });
		expect(entry).toMatchObject({ kind: "message", omitted: false });
		expect("message" in entry && entry.message).toBe(message);
	});

	it.each<[string, SessionEntry]>([
		["bash run", appended((log) => log.appendMessage(bash))],
		["bash run that was cancelled", appended((log) => log.appendMessage({ ...bash, output: "", cancelled: true }))],
		["custom message", appended((log) => log.appendCustomMessageEntry("note", "hi", false, { a: 1 }))],
		["custom message with an image", appended((log) => log.appendCustomMessageEntry("note", [image], true))],
		["compaction", appended((log) => log.appendCompaction("So far", null, 12))],
		["branch summary", appended((log) => log.branchWithSummary(null, "Over there"))],
	])("that is a %s reads as Pi sends it, at Pi's time", (_kind, entry) => {
		const [sent] = sentByPi(entry);
		const read = entryFromPi(entry);
		const message = "message" in read ? read.message : undefined;
		const content = typeof message?.content === "string" ? [{ type: "text", text: message.content }] : message?.content;
		expect(message?.role).toBe("custom");
		expect(content).toEqual(sent?.content);
		expect(message?.timestamp).toBe(sent?.timestamp);
	});

	it("that is an excluded bash run is counted, but holds nothing that could be shown", () => {
		const entry = appended((log) => log.appendMessage({ ...bash, excludeFromContext: true }));
		expect(sentByPi(entry)).toEqual([]);
		const message = { role: "custom", content: [], timestamp };
		expect(entryFromPi(entry)).toMatchObject({ kind: "message", omitted: true, message });
	});

	it("that is a compaction says what it keeps, and the system message that it carries", () => {
		const plain = appended((log) => log.appendCompaction("So far", "abcd1234", 12));
		expect(entryFromPi(plain)).toMatchObject({ kind: "compaction", firstKeptId: "abcd1234" });
		expect("system" in entryFromPi(plain)).toBe(false);
		const read = plain.type === "compaction" && entryFromPi({ ...plain, systemMessage: system });
		expect(read).toHaveProperty("system", system);
	});

	it.each([null, { content: "new" }, { content: [{ type: "text" as const, text: "new" }] }])(
		"that edits an earlier one says how: %j",
		(replacement) => {
			const edit = appended((log) => log.appendContextEdit(log.appendMessage(user), replacement));
			const read = entryFromPi(edit);
			expect(read).toMatchObject({ kind: "edit", targetId: edit.parentId });
			expect("replacement" in read && read.replacement).toEqual(replacement);
		},
	);

	it("of an extension keeps its type and what it holds", () => {
		const held = { acp: 1, op: null };
		const entry = appended((log) => log.appendCustomEntry("acp-operation", held));
		expect(entryFromPi(entry)).toMatchObject({ kind: "custom", customType: "acp-operation", data: held });
		expect(entryFromPi(appended((log) => log.appendCustomEntry("empty")))).toMatchObject({ data: undefined });
	});

	it.each<[string, SessionEntry]>([
		["label", appended((log) => log.appendLabelChange(log.appendMessage(user), "here"))],
		["usage", appended((log) => log.appendUsage("cache_warm", "p", "m", usage).id)],
		["name", appended((log) => log.appendSessionInfo("My session"))],
		["model change", appended((log) => log.appendModelChange("p", "m"))],
		["thinking level", appended((log) => log.appendThinkingLevelChange("high"))],
		["branch summary without text", appended((log) => log.branchWithSummary(null, ""))],
		["thing unknown to Pi", JSON.parse(JSON.stringify({ ...line, type: "hologram" }))],
	])("that is a %s holds no message", (_kind, entry) => {
		const { id, parentId } = entry;
		expect(entryFromPi(entry)).toEqual({ kind: "other", id, parentId, timestampMs: Date.parse(entry.timestamp) });
	});
});

describe("a message of Pi", () => {
	it.each(["user", "assistant", "toolResult", "system", "hologram"])("of role %s without content has none", (role) => {
		for (const content of [null, undefined, 7, { text: "no list" }]) {
			const message: AgentMessage = JSON.parse(JSON.stringify({ role, content, timestamp, more: 1 }));
			expect(messageFromPi(message)).toEqual({ role, content: [], timestamp, more: 1 });
		}
	});

	it("of a role unknown to Pi passes as it is", () => {
		const message: AgentMessage = JSON.parse('{ "role": "hologram", "content": "beam", "timestamp": 1 }');
		expect(messageFromPi(message)).toBe(message);
	});
});

describe("a log with everything in it", () => {
	function build(): SessionManager {
		const log = SessionManager.inMemory("/x");
		log.appendMessage(system);
		log.appendModelChange("p", "m");
		const first = log.appendMessage(user);
		log.appendMessage({ ...bash, timestamp: timestamp + 1 });
		log.appendMessage({ ...bash, excludeFromContext: true, timestamp: timestamp + 2 });
		log.appendMessage({ ...answer, timestamp: timestamp + 3 });
		log.appendCustomEntry("state", { n: 1 });
		const seen = log.appendMessage({ ...result, timestamp: timestamp + 4 });
		log.appendContextEdit(first, { content: "Look again" });
		log.appendContextEdit(seen, { content: [{ type: "text", text: "cut" }] });
		log.appendCustomMessageEntry("note", "a note", false);
		const dropped = log.appendMessage(fauxAssistantMessage("no", { timestamp: timestamp + 5 }));
		log.appendContextEdit(dropped, null);
		log.appendLabelChange(first, "start");
		return log;
	}

	/** What Pi sends, each with the entry that we take it for. */
	function matched(log: SessionManager) {
		const { entries, messages } = buildSessionProjection(log.getEntries(), log.getLeafId());
		const read = (id: string): Entry | undefined => {
			const entry = log.getEntry(id);
			return entry && entryFromPi(entry);
		};
		const branch = new Timeline(replayCall).branch(log.getLeafId(), read);
		const items = outgoingItems(branch, messages.map(messageFromPi));
		const ours = items.map((item) => (item.kind === "entry" ? item.record.entry.id : "none"));
		const theirs = entries.flatMap((each) =>
			each.messages.map((message) => (message.role === "system" ? "none" : each.sourceEntry.id)),
		);
		return { ours, theirs };
	}

	it("has each message that Pi sends matched to the entry it comes from", () => {
		const { ours, theirs } = matched(build());
		// The excluded run is in Pi's list, though it is never sent.
		expect(ours.filter((id) => id !== "none")).toHaveLength(theirs.length - 2);
		for (const [index, id] of ours.entries()) if (id !== "none") expect(id).toBe(theirs[index]);
	});

	it("has them matched after a compaction and a branch summary as well", () => {
		const log = build();
		const kept = log.appendMessage({ ...user, timestamp: timestamp + 6 });
		log.appendCompaction("So far", kept, 100);
		log.branchWithSummary(log.getLeafId(), "Over there");
		log.appendMessage(fauxAssistantMessage("on", { timestamp: timestamp + 7 }));
		const { ours, theirs } = matched(log);
		expect(theirs).toHaveLength(5);
		expect(ours).toEqual(theirs);
	});
});
