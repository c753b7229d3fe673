import { describe, expect, it } from "vitest";
import type { Message } from "../../kernel/message.ts";
import { type PairRole, sayLoneResults } from "../../kernel/pairs.ts";
import { contextOf, Log, range, words } from "../support/log.ts";

/** `a:1,2` for an answer with two calls, `r:1` for a result, else the role; `!` before what is never sent, `~` before others'. */
function said(...names: readonly string[]): readonly string[] {
	const roles: PairRole[] = [];
	const messages = names.map((name, index): Message => {
		const [, mark, kind, ids = ""] = /^([!~]?)([a-z]+):?(.*)$/.exec(name) ?? [];
		roles.push(mark === "!" ? "unsent" : mark === "~" ? "foreign" : "other");
		if (kind === "r") {
			return { role: "toolResult", toolCallId: ids, toolName: "read", content: `text ${ids}`, timestamp: index };
		}
		const call = (id: string) => ({ type: "toolCall", id, name: "read", arguments: {} });
		const content = ids.split(",").filter(Boolean).map(call);
		return { role: kind === "a" ? "assistant" : String(kind), content, timestamp: index };
	});
	const items = messages.map((message, index) => ({ message, from: roles[index] ?? "other" }));
	const shown = sayLoneResults(items, ({ from }) => from);
	return shown.map((item, index) => (item === items[index] ? (names[index] ?? "") : item.message.role));
}

describe("a tool result", () => {
	it.each([
		["behind its call", ["a:1", "r:1"]],
		["of several calls in any order", ["a:1,2,3", "r:3", "r:1", "r:2", "user"]],
		["behind a system message, which every host puts aside", ["a:1", "system", "r:1"]],
		["behind a message that is never sent", ["a:1", "!custom", "r:1"]],
		["behind a message that somebody else put in", ["a:1", "~custom", "r:1"]],
		["that somebody else put in, wherever it stands", ["~r:9", "user", "~r:9"]],
		["of a call that somebody else put in", ["~a:1", "r:1"]],
	])("stays a result %s", (_, names) => {
		expect(said(...names)).toEqual(names);
	});

	it.each([
		["without any call", ["user", "r:1"], ["user", "custom"]],
		["before its call", ["r:1", "a:1"], ["custom", "a:1"]],
		["behind a message of the user", ["a:1,2", "r:1", "user", "r:2"], ["a:1,2", "r:1", "user", "custom"]],
		["behind another answer", ["a:1", "a:2", "r:1"], ["a:1", "a:2", "custom"]],
		["of an answer that failed", ["a:1", "!a:2", "r:2", "r:1"], ["a:1", "!a:2", "custom", "custom"]],
		["that comes twice", ["a:1", "r:1", "r:1"], ["a:1", "r:1", "custom"]],
		["behind such a one", ["a:1,2", "r:1", "r:7", "r:2"], ["a:1,2", "r:1", "custom", "custom"]],
	])("is said as text %s", (_, names, expected) => {
		expect(said(...names)).toEqual(expected);
	});

	it("is said with its tool, its content and its tag; in the log it stays a result", () => {
		const log = new Log();
		log.user("task");
		const image = { type: "image", data: "aGk=", mimeType: "image/png" };
		log.message({ role: "toolResult", toolCallId: "gone", toolName: "read", content: [image], isError: false });
		log.message({ role: "toolResult", toolCallId: "gone", content: "plain", isError: true });
		expect(log.sent().slice(1)).toEqual([
			{
				role: "custom",
				customType: "acp-result",
				content: [{ type: "text", text: "[result of read, apart from its call]\n<acp>m00002</acp>" }, image],
				display: false,
				timestamp: expect.any(Number),
			},
			expect.objectContaining({
				content: [
					{ type: "text", text: "[result of a tool, apart from its call]" },
					{ type: "text", text: "plain\n<acp>m00003</acp>" },
				],
			}),
		]);
		expect(log.branch().message(2)?.message?.role).toBe("toolResult");
	});

	it("whose answer another extension left out is said as text, and folds like any message", () => {
		const log = new Log();
		log.user("task");
		const call = log.assistant("", [{ name: "read" }]);
		log.result(words(900));
		log.user("go on");
		log.edit(call, null);
		expect(log.sent().map(({ role }) => role)).toEqual(["user", "custom", "user"]);
		log.compress([range("m3", "m3", "The words w0 to w96 were read.")], {
			...contextOf(log.branch()).settings,
			preserveRecentMessages: 0,
			preserveRecentTokens: 0,
		});
		expect(log.sent().map(({ role }) => role)).toEqual(["user", "custom", "user", "assistant", "toolResult"]);
	});
});
