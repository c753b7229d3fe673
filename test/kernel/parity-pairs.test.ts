import { describe, expect, it } from "vitest";
import { toolCalls } from "../../kernel/message.ts";
import { defaultSettings } from "../../kernel/settings.ts";
import { foldText } from "../../kernel/wording.ts";
import { bareSettings, Log, range, shown, summaryOf, wideContext, words } from "../support/log.ts";

/** Task and one answer with so many calls, all of them answered: m1, m2, and a result for each call. */
function parallel(calls: number): Log {
	const log = new Log();
	log.user("task");
	log.assistant(
		"",
		Array.from({ length: calls }, () => ({ name: "grep" })),
	);
	for (let call = 0; call < calls; call++) log.result(words(300, `g${call}-`), { call });
	log.user("go on");
	return log;
}

/** A range with a summary in words of its own. */
function told(log: Log, from: number, to: number) {
	return range(`m${from}`, `m${to}`, summaryOf(log.branch(), 1, to));
}

/** Fails unless each call that is sent has its results right behind it, and there is no other result. */
function expectPairs(log: Log): void {
	let open: string[] = [];
	for (const message of log.sent()) {
		if (message.role === "toolResult") {
			expect(open).toContain(message.toolCallId);
			open = open.filter((id) => id !== message.toolCallId);
			continue;
		}
		expect(open).toEqual([]);
		open = toolCalls(message).map((call) => call.id);
	}
}

describe("twenty-five calls in one answer", () => {
	it.each([
		["the first two results", 2, 4],
		["one in the middle", 15, 15],
		["the last two", 26, 27],
	])("are folded together, whichever part a range asks for: %s", (_, start, end) => {
		const log = parallel(25);
		const plan = log.compress([told(log, start, end)], bareSettings);
		expect(plan.operation).toMatchObject({ blocks: [{ spans: [{ from: 2, to: 27 }], messages: 26 }] });
		expect(shown(log.view()).slice(0, 3)).toEqual(["m1", "b1", "m28"]);
		expectPairs(log);
	});
});

describe("a range that ends at a call", () => {
	/** A heavy step, then a step whose result is recent. */
	function recent(): Log {
		const log = new Log();
		log.user("task");
		log.step("grep", { pattern: "a" }, words(6_000, "a"));
		log.assistant("", [{ name: "grep" }], { thinking: "what next" });
		log.result(words(9_000, "b"));
		log.assistant("found it");
		log.assistant("more of it");
		log.user("go on");
		return log;
	}

	it("whose result is recent leaves both in view, and says so", () => {
		const log = recent();
		const plan = log.compress([told(log, 2, 4)], defaultSettings);
		expect(foldText(plan, wideContext)).toMatch(/b1 = m00002-m00003 \(.*m00004-m00005 stays: recent messages/);
		expect(shown(log.view()).slice(0, 6)).toEqual(["m1", "b1", "m4", "m5", "m6", "m7"]);
		expectPairs(log);
	});

	it("loses no message, whatever the range: each is in view, or behind the one block", () => {
		const { lastOrdinal } = recent().branch();
		for (let from = 1; from <= lastOrdinal; from++) {
			for (let to = from; to <= lastOrdinal; to++) {
				const log = recent();
				log.compress([told(log, from, to)], defaultSettings);
				const spans = log.branch().state.tops.flatMap((top) => top.spans);
				const view = shown(log.view());
				for (let ordinal = 1; ordinal <= lastOrdinal; ordinal++) {
					const isFolded = spans.some((span) => span.from <= ordinal && ordinal <= span.to);
					expect(view.includes(`m${ordinal}`)).toBe(!isFolded);
				}
				expectPairs(log);
			}
		}
	});
});

describe("a call that was never answered", () => {
	it("is sent the same with and without a fold, and its thinking with it", () => {
		const log = new Log();
		log.user("task");
		log.step("read", {}, words(900));
		const thought = { type: "thinking", thinking: "let me try", thinkingSignature: "signed" };
		const call = { type: "toolCall", id: "unanswered", name: "bash", arguments: {} };
		log.message({ role: "assistant", content: [thought, call], stopReason: "toolUse" });
		log.user("why did you stop?");
		const before = log.sent().slice(3);
		log.compress([range("m2", "m3")], bareSettings);
		expect(shown(log.view()).slice(0, 4)).toEqual(["m1", "b1", "m4", "m5"]);
		expect(log.sent().slice(2, 4)).toEqual(before);
	});
});

describe("a spent call of ours", () => {
	it("leaves view with the thinking that led to it: no answer is left with thinking alone", () => {
		const log = new Log();
		log.user("task");
		for (const name of ["a", "b"]) log.step("read", { path: name }, words(900, name));
		log.user("go on");
		for (const ref of ["m2", "m4"]) {
			const ranges = [range(ref, `m${Number(ref.slice(1)) + 1}`)];
			const content = [{ name: "compress", arguments: { content: ranges } }];
			log.assistant("", content, { thinking: `time to fold ${ref}` });
			log.answer(ranges);
		}
		expect(shown(log.view())).toEqual(["m1", "b1", "b2", "m6", "m9", "m10"]);
		const text = JSON.stringify(log.sent());
		expect(text).not.toContain("time to fold m2");
		expect(text).toContain("time to fold m4");
		expectPairs(log);
	});
});
