import { describe, expect, it } from "vitest";
import { search } from "../../../kernel/search/index.ts";
import { bareSettings, Log, range, words } from "../../support/log.ts";

/** m1, b1 over two reads and b2 over an edit, a question. */
function folded(): Log {
	const log = new Log();
	log.user("task about the parser");
	log.step("read", { path: "src/login.ts" }, `${words(600, "a")} token expiry is checked twice`);
	log.step("read", { path: "src/parser.ts" }, `${words(600, "b")} 身份验证流程从这里开始`);
	log.step("edit", { path: "src/expiry.ts" }, words(900, "c"));
	log.user("go on");
	log.compress(
		[range("m2", "m5", "Login checks the expiry of a token.", "auth bug"), range("m6", "m7", "Wrote the fix.")],
		bareSettings,
	);
	return log;
}

function refs(query: string, limit = 20): readonly string[] {
	return search(folded().branch(), query, limit).map((hit) => hit.ref);
}

describe("a search", () => {
	it("finds blocks by summary and topic, and folded messages by text and calls", () => {
		expect(refs("auth")).toEqual(["b1"]);
		expect(refs("twice")).toEqual(["m00003"]);
		expect(refs("login.ts")).toContain("m00002");
		expect(refs("EXPIRY").toSorted()).toEqual(["b1", "b2", "m00003", "m00006"]);
	});

	it("puts what holds more of the words first, blocks before messages with as many", () => {
		expect(refs("token expiry")).toEqual(["b1", "m00003", "b2", "m00006"]);
		expect(refs("twice expiry")[0]).toBe("m00003");
	});

	it("weighs a word in a summary more than a few repetitions in a message", () => {
		const log = new Log();
		log.user("task");
		log.step("read", { path: "a" }, `${words(900)} quota quota quota`);
		log.user("go on");
		log.compress([range("m2", "m3", "Found the quota.")], bareSettings);
		expect(search(log.branch(), "quota", 9).map((hit) => hit.ref)).toEqual(["b1", "m00003"]);
	});

	it("finds a block by all of its record, also by what the block does not show", () => {
		const log = new Log();
		log.user("task");
		for (let step = 0; step < 90; step++) log.step("read", { path: `src/part-${step}x.ts` }, words(100));
		log.user("go on");
		log.compress([range("m2", "m181")], bareSettings);
		expect(log.branch().state.blocks.get(1)?.text).not.toContain("part-88x");
		expect(search(log.branch(), "part-88x", 9).map((hit) => hit.ref)).toContain("b1");
	});

	it("finds a word inside a run of text without blanks", () => {
		expect(refs("验证")).toEqual(["m00005"]);
	});

	it("shows the place, and the passage that matched", () => {
		const [block, message] = search(folded().branch(), "token expiry", 5);
		expect(block).toMatchObject({ ref: "b1", place: "m00002-m00005" });
		expect(block?.passage).toContain("expiry of a token");
		expect(message).toMatchObject({ ref: "m00003", place: "b1" });
		expect(message?.passage).toMatch(/^….*token expiry is checked twice$/);
	});

	it("finds nothing that is in view, nothing for no words, and no more than asked for", () => {
		expect(refs("about")).toEqual([]);
		expect(refs("nowhere")).toEqual([]);
		expect(refs(" ?! ")).toEqual([]);
		expect(refs("expiry", 2)).toHaveLength(2);
	});

	it("finds blocks that were folded into others and messages of blocks that the host dropped", () => {
		const log = folded();
		log.compress([range("b1", "b2", "x")], bareSettings);
		log.compaction("so far", null);
		expect(
			search(log.branch(), "expiry", 9)
				.map((hit) => hit.ref)
				.toSorted(),
		).toEqual(["b1", "b2", "b3", "m00003", "m00006"]);
	});
});
