import { describe, expect, it } from "vitest";
import { textOf } from "../../../kernel/message.ts";
import { begun, foldFirst, shownMessage } from "../../support/filtering.ts";
import { words } from "../../support/log.ts";
import { copyOf } from "../../support/request.ts";

type Inputs = Readonly<Record<string, unknown>>;

function callTwice(name: string, first: Inputs, second: Inputs = first) {
	const log = begun();
	log.step(name, first, words(300, "old"));
	log.step(name, second, words(300, "new"));
	return log;
}

describe("what a call returned", () => {
	it.each([
		["bash", { command: "npm test" }, { command: "npm test" }],
		["grep", { pattern: "x", in: { b: [1, 2], a: 1 } }, { in: { a: 1, b: [1, 2] }, pattern: "x" }],
	])("gives way to a marker once a later call is the same: %s", (name, first, second) => {
		const log = callTwice(name, first, second);
		expect(foldFirst(log)).toEqual(["m5 repeatedCalls"]);
		expect(textOf(shownMessage(log, 5) ?? expect.unreachable())).toBe(
			'[left out: a later call is the same; decompress({ id: "m00005" }) shows this result]',
		);
		expect(textOf(shownMessage(log, 7) ?? expect.unreachable())).toBe(words(300, "new"));
	});

	it("stays where anything in the inputs differs, and where the rule is off", () => {
		expect(foldFirst(callTwice("grep", { in: [1, 2] }, { in: [2, 1] }))).toEqual([]);
		expect(foldFirst(callTwice("bash", { command: "ls" }), { repeatedCalls: false })).toEqual([]);
	});

	it.each(["edit", "write", "decompress", "search_context", "acp_delegate"])(
		"stays where it is a call of %s",
		(name) => {
			expect(foldFirst(callTwice(name, { path: "a.ts" }))).toEqual([]);
		},
	);

	it("stays where the later call failed, and goes where it failed itself", () => {
		const log = begun();
		for (const isError of [false, true, true]) {
			log.assistant("", [{ name: "bash", arguments: { command: "ls" } }]);
			log.result(words(300, "out"), { isError });
			if (log.branch().lastOrdinal === 7) expect(foldFirst(copyOf(log, (id) => id))).toEqual([]);
		}
		log.step("bash", { command: "ls" }, "all well");
		expect(foldFirst(log)).toEqual(["m5 repeatedCalls", "m7 repeatedCalls", "m9 repeatedCalls"]);
	});

	it("is told apart from what a user says, and stays whole beside a result that goes", () => {
		const log = begun();
		const calls = ["ls a", "ls b"].map((command) => ({ name: "bash", arguments: { command } }));
		log.assistant("", calls);
		log.result(words(200, "a"), { call: 0 });
		log.result(words(200, "b"), { call: 1 });
		log.user("again");
		log.step("bash", { command: "ls b" }, words(200, "b"));
		expect(foldFirst(log)).toEqual(["m6 repeatedCalls"]);
		expect(shownMessage(log, 5)?.content).toEqual([{ type: "text", text: words(200, "a") }]);
	});
});
