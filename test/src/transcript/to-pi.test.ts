import type { AgentMessage } from "@earendil-works/pi-agent-core";
import { fauxAssistantMessage, fauxThinking } from "@earendil-works/pi-ai";
import { convertToLlm } from "@earendil-works/pi-coding-agent";
import { describe, expect, it } from "vitest";
import { outgoing } from "../../../src/transcript/to-pi.ts";

const timestamp = 1_700_000_000_000;
const bash = { command: "ls", output: "a b", exitCode: 0, cancelled: false, truncated: false, timestamp };

const list: AgentMessage[] = [
	{ role: "system", content: "Be kind.", timestamp },
	{ role: "user", content: "Look", timestamp },
	fauxAssistantMessage([fauxThinking("hm"), { type: "text", text: "Here" }], { timestamp }),
	{ role: "toolResult", toolCallId: "c1", toolName: "read", content: [], isError: false, timestamp },
	{ role: "custom", customType: "note", content: "hi", display: true, timestamp },
	{ role: "bashExecution", ...bash },
	{ role: "bashExecution", ...bash, excludeFromContext: true },
	{ role: "compactionSummary", summary: "So far", tokensBefore: 12, timestamp },
	{ role: "branchSummary", summary: "Over there", fromId: null, timestamp },
	JSON.parse('{ "role": "user", "content": null, "timestamp": 1 }'),
	JSON.parse('{ "role": "hologram", "beam": { "width": 2 }, "timestamp": 1 }'),
];

describe("the outgoing list of Pi", () => {
	it("goes back with the very objects that came, where nothing changed", () => {
		const { messages, toPi } = outgoing(list);
		const back = toPi(messages);
		expect(back).toHaveLength(list.length);
		for (const [index, message] of back.entries()) expect(message).toBe(list[index]);
	});

	it("may lose messages, gain some and change their order", () => {
		const { messages, toPi } = outgoing(list);
		const added = { role: "custom", content: "new", timestamp };
		const back = toPi([...messages.slice(5).reverse(), added, ...messages.slice(0, 1)]);
		expect(back).toEqual([...list.slice(5).reverse(), added, list[0]]);
	});

	it("reaches the wire with the same content where the kernel's copies go back", () => {
		const sendable = list.slice(0, 6).concat(list.slice(7, 9));
		const { messages, toPi } = outgoing(sendable);
		const contents = (of: readonly AgentMessage[]) => convertToLlm([...of]).map((message) => message.content);
		expect(contents(toPi(messages.map((message) => ({ ...message }))))).toEqual(contents(sendable));
	});

	it("is not changed itself", () => {
		const before = structuredClone(list);
		const { messages, toPi } = outgoing(list);
		toPi(messages.toReversed());
		expect(list).toEqual(before);
	});
});
