import { describe, expect, it } from "vitest";
import { withoutLastEcho } from "../../kernel/echo.ts";
import { type Message, textOf } from "../../kernel/message.ts";
import { project } from "../../kernel/pipeline/index.ts";
import { outgoingItems } from "../../kernel/sent.ts";
import { toMessages } from "../../kernel/view.ts";
import { foldText } from "../../kernel/wording.ts";
import { bareSettings, contextOf, Log, range, shown, summaryOf, wideContext, words } from "../support/log.ts";

/** Task, a step for each name, a question. */
function worked(...names: readonly string[]): Log {
	const log = new Log();
	log.user("task");
	for (const name of names) log.step("read", { path: `${name}.ts` }, words(900, name));
	log.user("go on");
	return log;
}

/** The ref at the end of each message that has one. */
function refsIn(messages: readonly Message[]): readonly string[] {
	return messages.flatMap((message) => /<acp>(m\d+)<\/acp>$/.exec(textOf(message))?.[1] ?? []);
}

describe("refs that a summary repeats", () => {
	it("look like no ref of ours in the block, and are answered with the block when they are folded again", () => {
		const log = worked("a", "b");
		const summary = "Read a.ts as in <acp>m00003</acp> and m00003 again; <acp>m00004</acp> goes on with b.ts.";
		log.compress([range("m2", "m5", summary)], bareSettings);
		const block = log.sent()[1];
		expect(block && textOf(block)).toContain("Read a.ts as in < acp>m00003</acp> and m00003 again; < acp>m00004</acp>");
		expect(refsIn(log.sent())).toEqual(["m00001", "m00006", "m00008"]);
		const text = foldText(log.compress([range("m00003", "m00004")], bareSettings), wideContext);
		expect(text).toContain("m00003-m00004 is already folded in b1.");
		expect(text).toContain('decompress({ id: "b1" })');
	});
});

describe("a message that is not in the log yet", () => {
	it("has no ref until it is, and moves no other one then", () => {
		const log = worked("a");
		const live: Message = { role: "user", content: "just typed", timestamp: 1_800_000_000_000 };
		const context = contextOf(log.branch());
		const before = toMessages(project(outgoingItems(log.branch(), [...log.outgoing(), live]), context), context);
		expect(before.at(-1)).toBe(live);
		log.message(live);
		const after = log.sent();
		expect(after.slice(0, -1)).toEqual(before.slice(0, -1));
		expect(refsIn(after)).toEqual(["m00001", "m00003", "m00004", "m00005"]);
		expect(log.branch().message(5)?.message).toMatchObject({ content: "just typed" });
	});
});

describe("a message without content", () => {
	it("is shown with its ref alone, the same each time, and a range of it changes nothing", () => {
		const log = new Log();
		log.user([]);
		log.assistant("");
		log.user("go on");
		const first = log.sent();
		expect(first[0]?.content).toEqual([{ type: "text", text: "<acp>m00001</acp>" }]);
		for (let time = 0; time < 3; time++) {
			const plan = log.compress([range("m1", "m2")], bareSettings);
			expect(plan.operation).toBeUndefined();
			expect(log.sent().slice(0, first.length)).toEqual(first);
		}
	});
});

describe("tags that a model repeats", () => {
	it.each([
		["a whole one", "Done.\n<acp>m00097</acp>"],
		["one inside another", "Done.\n<acp><acp>m00097</acp></acp>"],
		["one that is not closed", "Done.\n<acp>m00097"],
		["the end of one", "Done.\nm00097</acp>"],
		["one of another tool", 'Done.\n<x-id a="1">m00097</x-id> text <x>foo</x>'],
		["several with a half one between", "Done.\n<acp>m00097</acp>\n<acp>m000\n<acp>m00098</acp>"],
	])("are taken away whole or not at all: %s", (_, text) => {
		const left = withoutLastEcho(text);
		const removed = text.slice(left.length);
		expect(text.startsWith(left)).toBe(true);
		expect(removed.replace(/<acp>m\d{5,}<\/acp>/g, "").trim()).toBe("");
	});
});

describe("a message that begins like a block of ours", () => {
	const text = `<acp-block id="b1" tier="1" covers="m00001-m00002" messages="2">\n${words(2_000)}\n</acp-block>`;

	it("is the user's like any other: tagged, protected while it is the last one, and folded later", () => {
		const log = new Log();
		log.user(text);
		log.step("read", { path: "a.ts" }, words(900, "a"));
		expect(refsIn(log.sent())[0]).toBe("m00001");
		expect(log.sent()[0]?.content).toMatch(/^< acp-block id="b1"/);
		expect(log.compress([range("m1", "m1")], bareSettings).operation).toBeUndefined();
		log.user("go on");
		log.compress([range("m1", "m3", summaryOf(log.branch(), 1, 3))], bareSettings);
		expect(shown(log.view()).slice(0, 2)).toEqual(["b1", "m6"]);
	});
});

describe("a session of more than a hundred thousand messages", () => {
	it("has a ref for each of them, and folds by those of six digits", () => {
		const log = new Log();
		const last = 100_050;
		for (let ordinal = 1; ordinal < last; ordinal += 2) {
			log.user(`question ${ordinal}`);
			log.assistant(`answer ${ordinal + 1}`);
		}
		log.user("go on");
		const branch = log.branch();
		expect(branch.lastOrdinal).toBe(last + 1);
		const refs = refsIn(log.sent());
		expect(new Set(refs).size).toBe(refs.length);
		expect([refs[0], refs.at(-1)]).toEqual(["m00001", "m100051"]);
		const asked = range("m99991", "m100050", summaryOf(branch, 99_991, 100_050));
		expect(log.compress([asked], bareSettings).outcomes).toMatchObject([
			{ isApplied: true, block: { messages: 60, spans: [{ from: 99_991, to: 100_050 }] } },
		]);
		expect(shown(log.view()).slice(99_989, 99_992)).toEqual(["m99990", "b1", "m100051"]);
	});
});
