import type { AgentMessage } from "@earendil-works/pi-agent-core";
import { convertToLlm, type SessionEntry } from "@earendil-works/pi-coding-agent";
import { type Entry, isAnchorDetails, type Message } from "../../kernel/index.ts";

type EntryBody<E = Entry> = E extends Entry ? Omit<E, "id" | "parentId" | "timestampMs"> : never;

/** An entry of Pi's log in the kernel's terms. Kinds the kernel does not know become `other`. */
export function entryFromPi(entry: SessionEntry): Entry {
	const timestamp = new Date(entry.timestamp).getTime();
	// A time that cannot be read counts as none, but messages keep it as Pi has it: they are found by it.
	return { ...bodyOf(entry, timestamp), id: entry.id, parentId: entry.parentId, timestampMs: timestamp || 0 };
}

function bodyOf(entry: SessionEntry, timestamp: number): EntryBody {
	switch (entry.type) {
		case "message":
			return { kind: "message", message: messageFromPi(entry.message), omitted: isExcluded(entry.message) };
		case "custom_message": {
			const content = entry.content ?? [];
			return {
				kind: "message",
				message: messageFromPi({ ...entry, role: "custom", content, timestamp }),
				omitted: false,
			};
		}
		case "compaction": {
			const { summary, tokensBefore, firstKeptEntryId, systemMessage, details } = entry;
			const message = messageFromPi({ role: "compactionSummary", summary, tokensBefore, timestamp });
			const system = systemMessage === undefined ? {} : { system: messageFromPi(systemMessage) };
			if (isAnchorDetails(details)) {
				return { kind: "anchor", shownAs: message, firstKeptId: firstKeptEntryId, ...system };
			}
			return { kind: "compaction", message, firstKeptId: firstKeptEntryId, ...system };
		}
		case "branch_summary": {
			const { summary, fromId } = entry;
			if (!summary) return { kind: "other" };
			return { kind: "branchSummary", message: messageFromPi({ role: "branchSummary", summary, fromId, timestamp }) };
		}
		case "context_edit":
			return { kind: "edit", targetId: entry.targetId, replacement: entry.replacement };
		case "custom":
			return { kind: "custom", customType: entry.customType, data: entry.data };
		default:
			return { kind: "other" };
	}
}

/**
 * A message of Pi in the kernel's terms: the same object where it has content already, else the text that Pi itself
 * would send for it, as a custom message: nothing for a run that the user keeps from the model.
 */
export function messageFromPi(message: AgentMessage): Message {
	switch (message.role) {
		case "bashExecution":
		case "branchSummary":
		case "compactionSummary":
			return { role: "custom", content: shownContent(message), timestamp: message.timestamp };
		default:
			return hasContent(message) ? asMessage(message) : { ...asMessage(message), content: [] };
	}
}

/** Old files and hand-made ones may lack content, which Pi sends empty; other extensions' roles may hold anything. */
function hasContent({ content }: { readonly content: unknown }): boolean {
	return typeof content === "string" || Array.isArray(content);
}

function shownContent(message: AgentMessage): Message["content"] {
	const [shown] = convertToLlm([message]);
	return shown?.content ?? [];
}

function isExcluded(message: AgentMessage): boolean {
	return message.role === "bashExecution" && Boolean(message.excludeFromContext);
}

/** Pi's messages have the kernel's shape; roles of other extensions' own are passed on unread. */
function asMessage(message: AgentMessage): Message {
	return message as Message;
}
