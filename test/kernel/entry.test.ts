import { describe, expect, it } from "vitest";
import { type Entry, entryMessage, isCounted } from "../../kernel/entry.ts";

const base = { id: "e1", parentId: null, timestampMs: 1 };

function message(role: string, over: { stopReason?: string } = {}) {
	return { role, content: "text", timestamp: 1, ...over };
}

const counted: readonly [string, Entry][] = [
	["a user message", { ...base, kind: "message", message: message("user"), omitted: false }],
	["an answer", { ...base, kind: "message", message: message("assistant"), omitted: false }],
	["a result", { ...base, kind: "message", message: message("toolResult"), omitted: false }],
	["a custom message", { ...base, kind: "message", message: message("custom"), omitted: false }],
	["a message of an unknown role", { ...base, kind: "message", message: message("weather"), omitted: false }],
	["an excluded shell run", { ...base, kind: "message", message: message("custom"), omitted: true }],
	[
		"an aborted answer",
		{ ...base, kind: "message", message: message("assistant", { stopReason: "aborted" }), omitted: false },
	],
	["a compaction", { ...base, kind: "compaction", message: message("custom"), firstKeptId: null }],
	["a branch summary", { ...base, kind: "branchSummary", message: message("custom") }],
];

const uncounted: readonly [string, Entry][] = [
	["an edit", { ...base, kind: "edit", targetId: "e0", replacement: null }],
	["state of an extension", { ...base, kind: "custom", customType: "acp-operation", data: {} }],
	["anything else", { ...base, kind: "other" }],
];

describe("an entry", () => {
	it.each(counted)("has a ref if it is %s", (_, entry) => {
		expect(isCounted(entry)).toBe(true);
		expect(entryMessage(entry)?.content).toBe("text");
	});

	it.each(uncounted)("has neither ref nor message if it is %s", (_, entry) => {
		expect(isCounted(entry)).toBe(false);
		expect(entryMessage(entry)).toBeUndefined();
	});

	it("has a message but no ref if it is a system message", () => {
		const entry: Entry = { ...base, kind: "message", message: message("system"), omitted: false };
		expect(isCounted(entry)).toBe(false);
		expect(entryMessage(entry)?.role).toBe("system");
	});
});
