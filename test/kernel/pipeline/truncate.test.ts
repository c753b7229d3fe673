import { describe, expect, it } from "vitest";
import { type Message, type Part, textOf, toolCalls } from "../../../kernel/message.ts";
import { truncate } from "../../../kernel/pipeline/truncate.ts";
import type { View } from "../../../kernel/view.ts";
import { contextOf, Log, words } from "../../support/log.ts";

const image: Part = { type: "image", data: "aGk=", mimeType: "image/png" };

function worked(output: string | readonly Part[]): Log {
	const log = new Log();
	log.user("task");
	log.assistant("", [{ name: "bash" }]);
	log.result(output);
	return log;
}

/** Records that messages are cut. */
function record(log: Log, keepChars: number, ...ordinals: readonly number[]): void {
	const reductions = ordinals.map((ordinal) => {
		const id = log.branch().message(ordinal)?.entry.id ?? "";
		return { id, ordinal, rule: "truncate" as const, keepChars, savedTokens: 1 };
	});
	log.operation({ kind: "truncate", reductions, sizeTokens: 1 });
}

function cut(log: Log): View {
	return truncate(log.view(), contextOf(log.branch()));
}

function messageAt(log: Log, index: number): Message {
	return cut(log).items[index]?.message ?? expect.unreachable();
}

describe("the stage truncate", () => {
	it("cuts a recorded message in its middle and names the ref that shows all of it", () => {
		const text = `begin ${words(20_000)} end`;
		const log = worked(text);
		record(log, 2_000, 3);
		expect(textOf(messageAt(log, 2))).toBe(
			`${text.slice(0, 2_000)}\n[… ${text.length - 4_000} characters left out; decompress({ id: "m00003" }) shows all …]\n${text.slice(-2_000)}`,
		);
		expect(textOf(log.branch().message(3)?.message ?? expect.unreachable())).toBe(text);
	});

	it("cuts messages of every role, and the arguments of calls", () => {
		const log = new Log();
		log.user(words(2_000));
		log.assistant(words(2_000), [{ name: "write", arguments: { content: words(2_000) } }]);
		log.message({ role: "custom", content: words(2_000) });
		record(log, 100, 1, 2, 3);
		for (const index of [0, 1, 2]) expect(textOf(messageAt(log, index))).toMatch(/left out; decompress\(\{ id: "m0000/);
		expect(toolCalls(messageAt(log, 1))[0]?.arguments).toMatchObject({ content: expect.stringContaining("m00002") });
	});

	it("cuts each long part, leaves short ones and images, and tears no character", () => {
		const long = `${"x".repeat(1_999)}${"😀".repeat(9_000)}`;
		const log = worked([{ type: "text", text: "short" }, image, { type: "text", text: long }]);
		record(log, 2_000, 3);
		const { content } = messageAt(log, 2);
		expect(content).toMatchObject([{ text: "short" }, image, { text: expect.stringContaining("left out") }]);
		expect(JSON.stringify(content)).not.toMatch(/\\ud[89a-f]/i);
	});

	it("keeps to what was recorded last, also where the message is shorter than that now", () => {
		const log = worked(words(20_000));
		record(log, 2_000, 3);
		record(log, 10, 3);
		expect(textOf(messageAt(log, 2)).length).toBeLessThan(120);
		log.edit("e3", { content: "tiny" });
		expect(textOf(messageAt(log, 2))).toBe("tiny");
	});

	it("cuts nothing twice, also where another copy of us has cut it", () => {
		const log = worked(words(20_000));
		record(log, 2_000, 3);
		const once = cut(log);
		expect(truncate(once, contextOf(log.branch()))).toEqual(once);
	});

	it("leaves blocks, foreign messages, hidden ones and everything unrecorded alone", () => {
		const log = worked(words(20_000));
		log.message({ role: "system", content: "rules" });
		const reductions = [{ id: "e3", ordinal: 3, rule: "hide" as const, savedTokens: 0 }];
		log.operation({ kind: "truncate", reductions, sizeTokens: 1 });
		const view = log.view();
		expect(truncate(view, contextOf(log.branch())).items.every((item, index) => item === view.items[index])).toBe(true);
	});
});
