import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { collapseMessage, planCollapse } from "../../kernel/degenerate.ts";
import { type Message, type Part, textOf } from "../../kernel/message.ts";
import { bareSettings, Log, range, words } from "../support/log.ts";

function answer(content: Message["content"]): Message {
	return { role: "assistant", content, timestamp: 1 };
}

function collapsed(text: string): string {
	return textOf(collapseMessage(answer([{ type: "text", text }])));
}

describe("an answer that ran into repetition", () => {
	it.each([
		["one character", "x".repeat(5_000), "xxx [… the same 4997 times more"],
		["a word", "and ".repeat(1_000), "and and and [… the same 997 times more"],
		["lines", "- item\n".repeat(400), "- item\n- item\n- item\n [… the same 397 times more"],
	])("keeps a few repetitions and a word about the rest: %s", (_what, run, shown) => {
		const text = collapsed(`before ${run} after`);
		expect(text).toContain(shown);
		expect(text).toMatch(/^before [\s\S]* after$/);
		expect(text.length).toBeLessThan(250);
	});

	it("is left alone below 200 characters, and where lines only resemble each other", () => {
		const table = Array.from({ length: 200 }, (_, row) => `| row ${row} | value ${row * 7} |`).join("\n");
		for (const text of ["=".repeat(199), "ha".repeat(99), table]) expect(collapsed(text)).toBe(text);
	});

	it("is shortened in unsigned thinking, never where a part is signed", () => {
		const thinking = { type: "thinking", thinking: "hm ".repeat(500) };
		expect(JSON.stringify(collapseMessage(answer([thinking])))).toContain("the same 497 times more");
		const signature: Part = { ...thinking, ...{ thinkingSignature: "sig" } };
		const signed = answer([signature, { type: "text", text: "z".repeat(900) }]);
		expect(collapseMessage(signed)).toBe(signed);
	});

	it("collapses to what collapses no further", () => {
		fc.assert(
			fc.property(
				fc.array(fc.tuple(fc.string({ minLength: 1, maxLength: 20 }), fc.nat(300)), { maxLength: 6 }),
				(runs) => {
					const once = collapsed(runs.map(([pattern, times]) => pattern.repeat(times)).join(" "));
					expect(collapsed(once)).toBe(once);
				},
			),
			{ seed: 20_261_130, numRuns: 300 },
		);
	});
});

describe("the reduction", () => {
	function degenerated(): Log {
		const log = new Log();
		log.user("task");
		log.assistant(`so ${"on ".repeat(900)}`);
		log.user("go on");
		return log;
	}

	it("is recorded once, shown from then on, and leaves the original to be opened", () => {
		const log = degenerated();
		const operation = planCollapse(log.view()) ?? expect.unreachable();
		log.operation(operation);
		expect(planCollapse({ ...log.view(), items: log.view().items.slice(0, 1) })).toBeUndefined();
		const [, shown] = log.sent();
		expect(textOf(shown ?? expect.unreachable())).toContain("times more");
		expect(log.view().items[1]?.sizeTokens).toBeLessThan(60);
		log.compress([range("m1", "m2")], bareSettings);
		expect(textOf(log.branch().message(2)?.message ?? expect.unreachable())).toContain("on on on on on on on");
	});

	it("is planned for the last answer only: older ones were sent as they are", () => {
		const log = degenerated();
		log.assistant("fine");
		expect(planCollapse(log.view())).toBeUndefined();
		expect(planCollapse(new Log().view())).toBeUndefined();
	});

	it("is not planned for a failed answer, which is never sent", () => {
		const log = new Log();
		log.user("task");
		log.assistant("a".repeat(900), [], { stopReason: "aborted" });
		log.user(words(20));
		expect(planCollapse(log.view())).toBeUndefined();
	});
});
