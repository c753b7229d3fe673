import { describe, expect, it } from "vitest";
import { type Part, textOf } from "../../../kernel/message.ts";
import { messageTokens } from "../../../kernel/meter.ts";
import type { Operation } from "../../../kernel/operation.ts";
import { planTruncation, truncate } from "../../../kernel/pipeline/truncate.ts";
import { type View, viewTokens } from "../../../kernel/view.ts";
import { contextOf, Log, words } from "../../support/log.ts";

const image: Part = { type: "image", data: "aGk=", mimeType: "image/png" };

function worked(...outputs: readonly (string | readonly Part[])[]): Log {
	const log = new Log();
	log.user("task");
	for (const output of outputs) {
		log.assistant("", [{ name: "bash" }]);
		log.result(output);
	}
	return log;
}

function plan(log: Log, limitTokens: number): (Operation & { kind: "truncate" }) | undefined {
	const operation = planTruncation(log.view(), contextOf(log.branch()), limitTokens);
	return operation?.kind === "truncate" ? operation : undefined;
}

function cut(log: Log): View {
	return truncate(log.view(), contextOf(log.branch()));
}

describe("planning to cut", () => {
	it("plans nothing for a view that fits", () => {
		const log = worked(words(20_000));
		expect(plan(log, viewTokens(log.view()))).toBeUndefined();
	});

	it("cuts the largest results first, and no more of them than needed", () => {
		const log = worked(words(20_000, "a"), words(60_000, "b"), words(40_000, "c"));
		const total = viewTokens(log.view());
		expect(plan(log, total - 1)?.reductions.map((each) => each.ordinal)).toEqual([5]);
		expect(plan(log, 0)?.reductions.map((each) => each.ordinal)).toEqual([5, 7, 3]);
	});

	it("records how much each cut saves, and the size after them", () => {
		const log = worked(words(20_000, "a"), words(60_000, "b"));
		const operation = plan(log, 0) ?? expect.unreachable();
		const before = viewTokens(log.view());
		log.operation(operation);
		expect(operation.sizeTokens).toBe(viewTokens(log.view()));
		expect(before - operation.sizeTokens).toBe(operation.reductions.reduce((sum, each) => sum + each.savedTokens, 0));
		for (const item of cut(log).items) expect(item.sizeTokens).toBe(messageTokens(item.message));
	});

	it("leaves alone what is no tool result, small, cut already, or would not get smaller", () => {
		const log = worked(
			"short",
			Array.from({ length: 9 }, () => image),
			words(20_000),
		);
		log.user(words(20_000));
		log.assistant(words(20_000));
		log.operation(plan(log, 0) ?? expect.unreachable());
		expect([...log.branch().state.reductions.keys()]).toEqual([7]);
		expect(plan(log, 0)).toBeUndefined();
	});
});

describe("the stage truncate", () => {
	it("cuts a recorded result in its middle and names the ref that shows all of it", () => {
		const text = `begin ${words(20_000)} end`;
		const log = worked(text);
		log.operation(plan(log, 0) ?? expect.unreachable());
		const message = cut(log).items[2]?.message ?? expect.unreachable();
		expect(textOf(message)).toBe(
			`${text.slice(0, 2_000)}\n[… ${text.length - 4_000} characters left out; decompress({ id: "m00003" }) shows all …]\n${text.slice(-2_000)}`,
		);
		expect(textOf(log.branch().message(3)?.message ?? expect.unreachable())).toBe(text);
	});

	it("cuts each long part, leaves short ones and images, and tears no character", () => {
		const long = `${"x".repeat(1_999)}${"😀".repeat(9_000)}`;
		const log = worked([{ type: "text", text: "short" }, image, { type: "text", text: long }]);
		log.operation(plan(log, 0) ?? expect.unreachable());
		const content = cut(log).items[2]?.message.content;
		expect(content).toMatchObject([{ text: "short" }, image, { text: expect.stringContaining("left out") }]);
		expect(JSON.stringify(content)).not.toMatch(/\\ud[89a-f]/i);
	});

	it("keeps to what was recorded, also where the message is shorter than that now", () => {
		const log = worked(words(20_000));
		const [reduction] = plan(log, 0)?.reductions ?? [];
		if (reduction === undefined) expect.unreachable();
		const reductions = [{ ...reduction, rule: "truncate" as const, keepChars: 10 }];
		log.operation({ kind: "truncate", reductions, sizeTokens: 1 });
		expect(textOf(cut(log).items[2]?.message ?? expect.unreachable()).length).toBeLessThan(120);
		log.edit("e3", { content: "tiny" });
		expect(textOf(cut(log).items[2]?.message ?? expect.unreachable())).toBe("tiny");
	});

	it("cuts nothing twice, also where another copy of us has cut it", () => {
		const log = worked(words(20_000));
		log.operation(plan(log, 0) ?? expect.unreachable());
		const once = cut(log);
		expect(truncate(once, contextOf(log.branch()))).toEqual(once);
	});

	it("leaves blocks, foreign messages and everything unrecorded alone", () => {
		const log = worked(words(20_000));
		log.message({ role: "system", content: "rules" });
		const view = log.view();
		expect(truncate(view, contextOf(log.branch())).items.every((item, index) => item === view.items[index])).toBe(true);
	});
});
