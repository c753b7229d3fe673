import { describe, expect, it } from "vitest";
import { unsignedThinking } from "../../../kernel/filters/unsigned-thinking.ts";
import type { Message, Part } from "../../../kernel/message.ts";
import { begun, foldFirst, shownMessage } from "../../support/filtering.ts";
import { type Log, words } from "../../support/log.ts";

/** A log whose m4 thinks and calls, with what else it holds. */
function thought(...others: readonly Part[]): Log {
	const log = begun();
	const thinking = { type: "thinking", thinking: words(100, "thought") };
	const call = { type: "toolCall", id: "c", name: "bash", arguments: {} };
	log.message({ role: "assistant", content: [thinking, call, ...others], stopReason: "toolUse" });
	log.result("ok");
	return log;
}

describe("unsigned thinking", () => {
	it("leaves older answers at a fold, and the rest of them stays", () => {
		const log = thought({ type: "text", text: "on" });
		expect(foldFirst(log)).toEqual(["m4 unsignedThinking"]);
		expect(shownMessage(log, 4)?.content).toMatchObject([{ type: "toolCall" }, { type: "text", text: "on" }]);
	});

	it("stays until there is a fold, and where the rule is off", () => {
		const log = thought();
		expect(shownMessage(log, 4)?.content).toHaveLength(2);
		expect(foldFirst(log, { unsignedThinking: false })).toEqual([]);
		expect(shownMessage(log, 4)?.content).toHaveLength(2);
	});

	it.each([
		["thinking", { type: "thinking", thinking: "more", thinkingSignature: "reasoning_content" }],
		["a text", { type: "text", text: "on", textSignature: "msg_1" }],
		["a call", { type: "toolCall", id: "d", name: "bash", arguments: {}, thoughtSignature: "xyz" }],
	])("stays beside a signed part: %s", (_what, part) => {
		expect(foldFirst(thought(part))).toEqual([]);
	});

	it("stays where nothing else would be left", () => {
		const log = begun();
		log.message({
			role: "assistant",
			content: [
				{ type: "thinking", thinking: words(100) },
				{ type: "text", text: " " },
			],
		});
		log.message({ role: "assistant", content: "plain words" });
		expect(foldFirst(log)).toEqual([]);
	});

	it("is what a message of another role never has", () => {
		const message: Message = { role: "user", content: [{ type: "thinking", thinking: "hm" }], timestamp: 1 };
		expect(unsignedThinking.reduce(message)).toBe(message);
	});
});
