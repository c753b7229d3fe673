import { describe, expect, it } from "vitest";
import { planFit } from "../../kernel/guarantee.ts";
import type { Message, Part } from "../../kernel/message.ts";
import { findOriginals } from "../../kernel/restore.ts";
import { bareSettings, contextOf, Log, range, shown, words } from "../support/log.ts";

/** Bytes of the parts that a provider checks against its own record of them. */
function signed(messages: readonly Message[]): readonly string[] {
	return messages.flatMap(({ content }) =>
		typeof content === "string"
			? []
			: content.filter((part) => "thinkingSignature" in part).map((part) => JSON.stringify(part)),
	);
}

const thought: Part = { type: "thinking", thinking: "half a pair: \ud83d", thinkingSignature: "sig" };

function call(id: string, name: string, args: Readonly<Record<string, unknown>> = {}, extra: object = {}): Part {
	return { type: "toolCall", id, name, arguments: args, ...extra };
}

describe("what providers refuse", () => {
	it("signed thinking goes out byte for byte, lone surrogates included, or with its whole message", () => {
		const log = new Log();
		log.user("task");
		log.message({ role: "assistant", content: [thought, call("c1", "read")], stopReason: "toolUse" });
		log.message({ role: "toolResult", toolCallId: "c1", toolName: "read", content: words(3_000), isError: false });
		log.user("go on");
		expect(signed(log.sent())).toEqual([JSON.stringify(thought)]);
		log.compress([range("m2", "m3")], bareSettings);
		expect(signed(log.sent())).toEqual([]);
	});

	it("a message with signed thinking keeps the call of compress beside another call, untouched", () => {
		const log = new Log();
		log.user("task");
		log.step("read", { path: "a" }, words(3_000));
		const content = [thought, call("c2", "read"), call("c3", "compress", { content: [range("m2", "m3")] })];
		const id = log.message({ role: "assistant", content, stopReason: "toolUse" });
		log.message({ role: "toolResult", toolCallId: "c2", toolName: "read", content: "text", isError: false });
		log.answer([range("m2", "m3")], 1, { toolCallId: "c3", toolName: "compress" });
		log.user("go on");
		log.step("read", { path: "b" }, words(3_000));
		log.user("and on");
		log.compress([range("m8", "m9")], bareSettings);
		const made = log.entries.get(id);
		expect(log.sent()).toContain(made?.kind === "message" ? made.message : undefined);
	});

	it("a message with signed thinking is not cut, whatever it holds and however full the window is", () => {
		const log = new Log();
		log.user("task");
		const content = [thought, call("c1", "write", { path: "a", content: words(60_000) })];
		log.message({ role: "assistant", content, stopReason: "toolUse" });
		log.message({ role: "toolResult", toolCallId: "c1", toolName: "write", content: "written", isError: false });
		const settings = { ...bareSettings, strategy: "model" as const };
		const window = { limitTokens: 12_000, usableTokens: 10_000, source: "model" as const };
		const found = planFit(log.view(), contextOf(log.branch(), { settings, window }), 9_500);
		expect(found).toEqual({ kind: "tooLarge", operation: undefined });
	});

	it("the reasoning of messages that stay is sent back, signed or not", () => {
		const log = new Log();
		log.user("task");
		log.assistant("done", [], { thinking: "let me see" });
		expect(JSON.stringify(log.sent())).toContain("let me see");
	});

	it("a boundary between reasoning and its call, or a call and its result, takes the whole unit", () => {
		const log = new Log();
		log.user("task");
		log.assistant("", [{ name: "read" }], { thinking: "first" });
		log.result(words(2_000));
		log.user("go on");
		log.compress([range("m3", "m3")], bareSettings);
		expect(shown(log.view()).slice(0, 3)).toEqual(["m1", "b1", "m4"]);
	});

	it("marks of the provider on a call survive all that is done to its message", () => {
		const log = new Log();
		log.user("task");
		const content = [call("c1", "write", { path: "a", content: words(9_000) }, { thoughtSignature: "google" })];
		log.message({ role: "assistant", content, stopReason: "toolUse" });
		log.message({ role: "toolResult", toolCallId: "c1", toolName: "write", content: words(9_000), isError: false });
		const settings = { ...bareSettings, strategy: "model" as const };
		const found = planFit(log.view(), contextOf(log.branch(), { settings }), 11_000);
		if (found.kind === "fits" || found.operation === undefined) expect.unreachable();
		log.operation(found.operation);
		expect(JSON.stringify(log.sent()[1])).toContain('"thoughtSignature":"google"');
		expect(log.sent()[1]?.content).toEqual(content);
	});

	it("blocks hold no thinking, of whichever model", () => {
		const log = new Log();
		log.user("task");
		log.assistant("I looked", [{ name: "read", arguments: { path: "a" } }], { thinking: "<think>secret</think>" });
		log.result(words(2_000));
		log.user("go on");
		log.compress([range("m1", "m3")], bareSettings);
		log.user("and on");
		const settings = { ...bareSettings, strategy: "hybrid" as const };
		const found = planFit(log.view(), contextOf(log.branch(), { settings }), 40);
		if (found.kind !== "fits" && found.operation !== undefined) log.operation(found.operation);
		expect(JSON.stringify(log.sent())).not.toContain("secret");
	});

	it("no message is empty", () => {
		const log = new Log();
		log.user("");
		log.assistant("", [{ name: "bash" }]);
		log.result("");
		for (const message of log.sent()) expect(JSON.stringify(message.content)).toMatch(/\w/);
	});

	it("an empty summary is no summary", () => {
		const log = new Log();
		log.user("task");
		log.step("read", { path: "a" }, words(3_000));
		log.user("go on");
		expect(log.compress([range("m2", "m3", " \n")], bareSettings).operation).toBeUndefined();
	});

	it("a compaction by the host over blocks leaves them to be opened", () => {
		const log = new Log();
		log.user("task");
		log.step("read", { path: "a" }, words(3_000, "alpha"));
		log.step("read", { path: "b" }, words(3_000, "beta"));
		log.user("go on");
		log.compress([range("m2", "m3"), range("m4", "m5")], bareSettings);
		log.compaction("the host's own words", null);
		log.user("and on");
		expect(shown(log.view())).toEqual(["m9", "m10"]);
		for (const id of ["b1", "b2"]) expect(findOriginals(log.branch(), id)).toMatchObject({ records: [{}, {}] });
	});
});
