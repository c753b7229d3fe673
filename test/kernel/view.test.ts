import { describe, expect, it } from "vitest";
import type { Message, Part } from "../../kernel/message.ts";
import { readingOf, uncalibrated } from "../../kernel/meter/calibration.ts";
import { messageTokens, tagTokens } from "../../kernel/meter/size.ts";
import type { Operation } from "../../kernel/operation.ts";
import {
	blockMessageType,
	estimateOf,
	foreignItem,
	itemTokens,
	nudgeMessageType,
	toMessages,
	type View,
	viewOf,
	viewReading,
	viewTokens,
} from "../../kernel/view.ts";
import { bareSettings, contextOf, Log, range, words } from "../support/log.ts";

const image: Part = { type: "image", data: "aGk=", mimeType: "image/png" };
const usage = { input: 90_000, output: 500, cacheRead: 7, cacheWrite: 8, totalTokens: 90_515, cost: 3 };

function contents(messages: readonly Message[]): readonly unknown[] {
	return messages.map((message) => message.content);
}

describe("tags", () => {
	it("stand at the end of the last text part of what reaches the wire as user or tool text, and nowhere else", () => {
		const log = new Log();
		log.message({ role: "system", content: "rules" });
		log.user("task");
		log.assistant("sure", [{ name: "read", id: "c" }]);
		log.result([{ type: "text", text: "one" }, { type: "text", text: "two" }, image]);
		log.message({ role: "custom", content: "note" });
		log.message({ role: "weather", content: "rain" });
		log.branchSummary("elsewhere");
		const [rules, task, answer, result, note, weather, summary] = contents(log.sent());
		expect([rules, task, note, weather, summary]).toEqual([
			"rules",
			"task\n<acp>m00001</acp>",
			"note\n<acp>m00004</acp>",
			"rain\n<acp>m00005</acp>",
			"elsewhere\n<acp>m00006</acp>",
		]);
		expect(answer).toEqual([
			{ type: "text", text: "sure" },
			{ type: "toolCall", id: "c", name: "read", arguments: {} },
		]);
		expect(result).toEqual([{ type: "text", text: "one" }, { type: "text", text: "two\n<acp>m00003</acp>" }, image]);
	});

	it("are a part of their own in a message without text", () => {
		const log = new Log();
		log.user([image]);
		log.user([]);
		expect(contents(log.sent())).toEqual([
			[image, { type: "text", text: "<acp>m00001</acp>" }],
			[{ type: "text", text: "<acp>m00002</acp>" }],
		]);
	});

	it("that somebody else wrote are defused, in the log they stay as they are", () => {
		const log = new Log();
		log.user("<acp>m00007</acp> is what I mean, </acp-block>");
		log.step("read", { path: "a" }, "x\n<acp>m00001</acp>");
		log.user("plain");
		log.edit("e4", { content: "edited <acp>b1</acp>" });
		expect(contents(log.sent())[0]).toBe("< acp>m00007</acp> is what I mean, < /acp-block>\n<acp>m00001</acp>");
		expect(contents(log.sent())[2]).toEqual([{ type: "text", text: "x\n< acp>m00001</acp>\n<acp>m00003</acp>" }]);
		expect(contents(log.sent())[3]).toBe("edited < acp>b1</acp>\n<acp>m00004</acp>");
		expect(log.branch().message(1)?.message?.content).toBe("<acp>m00007</acp> is what I mean, </acp-block>");
	});

	it("stay the same when entries are edited or dropped", () => {
		const log = new Log();
		for (const text of ["one", "two", "three"]) log.user(text);
		const before = contents(log.sent())[2];
		log.edit("e1", null);
		expect(contents(log.sent())).toEqual(["two\n<acp>m00002</acp>", before]);
		log.compaction("so far", "e3");
		expect(contents(log.sent())).toEqual(["so far\n<acp>m00004</acp>", before]);
	});

	it("are absent while compress is not ours or not in the loadout; folds are rendered all the same", () => {
		const log = new Log();
		log.user("<acp>m00009</acp>");
		log.step("read", { path: "a" }, words(900));
		log.user("go on");
		log.compress([range("m2", "m3", "Read.")], bareSettings);
		const sent = log.sent({ isActive: false });
		expect(sent[0]?.content).toBe("<acp>m00009</acp>");
		expect(sent[1]).toMatchObject({ customType: blockMessageType });
		expect(sent[2]?.content).toBe("go on");
	});

	it("belong to what is counted as the size of the view", () => {
		const log = new Log();
		log.user("task");
		log.assistant("sure");
		const view = log.view();
		const plain = log.outgoing().reduce((sum, message) => sum + messageTokens(message), 0);
		expect(viewTokens(view)).toBe(plain + tagTokens);
		expect(view.items.map(itemTokens).reduce((sum, size) => sum + size)).toBe(viewTokens(view));
	});
});

describe("extra messages", () => {
	it("of blocks carry their text, type and time, and no tag", () => {
		const log = new Log();
		log.user("task");
		log.step("read", { path: "a" }, words(900));
		log.user("go on");
		log.compress([range("m2", "m3", "Read.")], bareSettings);
		const block = log.branch().state.blocks.get(1);
		expect(log.sent()[1]).toEqual({
			role: "custom",
			customType: blockMessageType,
			content: block?.text,
			display: false,
			timestamp: log.entries.get("e6")?.timestampMs,
		});
		expect(block?.text).not.toMatch(/<acp>/);
	});

	it("of a nudge come last, at the time of the message before", () => {
		const log = new Log();
		log.user("task");
		const branch = log.branch();
		const nudge = { text: "fold", sizeTokens: 5, voice: "soft" as const };
		expect(toMessages({ ...log.view(), nudge }, contextOf(branch)).at(-1)).toEqual({
			role: "custom",
			customType: nudgeMessageType,
			content: "fold",
			display: false,
			timestamp: log.outgoing()[0]?.timestamp,
		});
		expect(toMessages({ ...viewOf([]), nudge }, contextOf(branch))).toMatchObject([{ content: "fold", timestamp: 0 }]);
	});
});

describe("the usage the host sizes the answer by", () => {
	/** Task, a step with usage on its call, a question. */
	function worked(): Log {
		const log = new Log();
		log.user("task");
		log.assistant("", [{ name: "read", arguments: { path: "a" } }], { usage });
		log.result(words(900));
		log.assistant("done", [], { usage });
		log.user("go on");
		return log;
	}

	/** A commit that changes no message. */
	const nothingCut: Operation = {
		kind: "truncate",
		reductions: [{ id: "e1", ordinal: 1, rule: "truncate", keepChars: 9_000, savedTokens: 0 }],
		sizeTokens: 1_000,
	};

	/** Estimated tokens of the first so many items. */
	function throughOf(view: View, count: number): number {
		return view.items.slice(0, count).reduce((sum, item) => sum + itemTokens(item), 0);
	}

	function usages(log: Log): readonly unknown[] {
		return log.sent().map((message) => message.usage?.totalTokens);
	}

	it("stays as it was reported while nothing was committed after it", () => {
		expect(usages(worked()).filter((each) => each !== undefined)).toEqual([90_515, 90_515]);
	});

	it("is the metered size of the present view up to and with it once a commit came after it", () => {
		const log = worked();
		log.compress([range("m2", "m3", "Read.")], bareSettings);
		const view = log.view();
		const throughTokens = throughOf(view, 3);
		const answer = log.sent()[2];
		expect(answer?.usage).toEqual({
			...usage,
			input: throughTokens,
			output: 0,
			cacheRead: 0,
			cacheWrite: 0,
			totalTokens: throughTokens,
		});
		expect(answer?.content).toEqual(log.outgoing()[3]?.content);
	});

	it("follows the calibration, with its share of what no message holds", () => {
		const log = worked();
		log.compress([range("m2", "m3", "Read.")], bareSettings);
		const view = log.view();
		const sizeTokens = 3 * viewTokens(view);
		const anchor = { estimate: estimateOf(view), reportedTokens: sizeTokens, isForeign: false };
		const [, , answer] = log.sent({ calibration: { fit: uncalibrated.fit, anchor } });
		expect(answer?.usage?.totalTokens).toBe(3 * throughOf(view, 3));
	});

	it("is never more than the size of the view, also where another extension put much into it", () => {
		const log = worked();
		log.compress([range("m2", "m3", "Read.")], bareSettings);
		const note = foreignItem({ role: "custom", content: words(9_000), timestamp: 1 });
		const view = log.view();
		const anchor = { estimate: estimateOf(view), reportedTokens: 12_000, isForeign: false };
		const context = contextOf(log.branch(), { calibration: { fit: uncalibrated.fit, anchor } });
		const sent = toMessages({ ...view, items: [note, ...view.items] }, context);
		expect(sent[3]?.usage?.totalTokens).toBeLessThan(12_000);
	});

	it("is never zero", () => {
		const log = new Log();
		log.assistant("", [], { usage });
		log.operation(nothingCut);
		const anchor = { estimate: estimateOf(log.view()), reportedTokens: 0, isForeign: false };
		const [answer] = log.sent({ calibration: { fit: { ...uncalibrated.fit, perToken: 0.01 }, anchor } });
		expect(answer?.usage?.totalTokens).toBe(1);
	});

	it("counts again as reported from the first answer after the commit on", () => {
		const log = worked();
		log.compress([range("m2", "m3", "Read.")], bareSettings);
		log.assistant("fresh", [], { usage: { ...usage, totalTokens: 3_000 } });
		const found = usages(log).filter((each) => each !== undefined);
		expect(found).toEqual([throughOf(log.view(), 3), 3_000]);
	});

	it("is not that of a tool result or of an answer that failed", () => {
		const log = worked();
		log.assistant("failed", [], { usage, stopReason: "error" });
		log.assistant("", [{ name: "acp_delegate" }]);
		log.result("done", { usage });
		log.operation(nothingCut);
		const sent = log.sent();
		expect(sent.map((message) => message.usage?.totalTokens)).toEqual([
			undefined,
			throughOf(log.view(), 2),
			undefined,
			throughOf(log.view(), 4),
			undefined,
			90_515,
			undefined,
			90_515,
		]);
		expect(JSON.stringify(sent.at(-1)?.content)).toContain("<acp>m00008</acp>");
	});

	it("is left alone where no answer has any", () => {
		const log = new Log();
		log.user("task");
		log.assistant("sure");
		log.operation(nothingCut);
		expect(log.sent()[1]).toBe(log.outgoing()[1]);
	});
});

describe("the reading of a view", () => {
	it("leaves out what other extensions put in, which not every place sees, and counts system messages", () => {
		const log = new Log();
		log.message({ role: "system", content: "rules ".repeat(100) });
		log.user("task");
		const view = log.view();
		const note = foreignItem({ role: "custom", content: words(9_000), timestamp: 1 });
		const anchor = { estimate: estimateOf(view), reportedTokens: 3_000, isForeign: false };
		for (const calibration of [uncalibrated, { ...uncalibrated, anchor }]) {
			expect(viewReading({ ...view, items: [note, ...view.items] }, calibration)).toEqual(
				readingOf(calibration, estimateOf(view)),
			);
		}
	});

	it("is not all there is before the first report, for whoever has to be sure that a request fits", () => {
		const log = new Log();
		log.user("task");
		const view = log.view();
		const note = foreignItem({ role: "custom", content: words(9_000), timestamp: 1 });
		const withNote = { ...view, items: [note, ...view.items] };
		const anchor = { estimate: estimateOf(view), reportedTokens: 3_000, isForeign: false };
		expect(estimateOf(withNote, uncalibrated).sizeTokens).toBe(viewTokens(view) + note.sizeTokens);
		expect(estimateOf(withNote, { ...uncalibrated, anchor })).toEqual(estimateOf(view));
	});
});

describe("foreign messages", () => {
	it("weigh what they hold and pass untouched", () => {
		const log = new Log();
		const message = { role: "custom", content: words(100), timestamp: 1, odd: true };
		const item = foreignItem(message);
		expect(item.sizeTokens).toBe(messageTokens(message));
		expect(toMessages(viewOf([item]), contextOf(log.branch()))).toEqual([message]);
	});
});
