import { describe, expect, it } from "vitest";
import { type EarlierLimits, earlierSummary } from "../../kernel/earlier.ts";
import { estimateTokens } from "../../kernel/meter/estimate.ts";
import { piecesOf } from "../../kernel/unit.ts";
import { bareSettings, Log, range, said, words } from "../support/log.ts";

/** The lines between the tags of the summary of a whole view. */
function told(log: Log, limits: Partial<EarlierLimits> = {}): readonly string[] {
	const text = earlierSummary(log.branch(), piecesOf(log.view().items), {
		maxTurns: 40,
		limitTokens: 4_000,
		...limits,
	});
	const lines = text.split("\n");
	expect(lines[0]).toBe("<earlier_conversation_summary>");
	expect(lines.at(-1)).toBe("</earlier_conversation_summary>");
	return lines.slice(1, -1);
}

/** Turns of a question, a change and an answer. */
function turns(count: number, more = ""): Log {
	const log = new Log();
	for (let turn = 1; turn <= count; turn++) {
		log.user(`question ${turn}`);
		log.step("edit", { path: `src/${turn}.ts` }, words(600));
		log.assistant(`answer ${turn}${more}`);
	}
	return log;
}

/** Folds a range by rules. */
function foldByRules(log: Log, from: string, to: string): void {
	const { leafId } = log;
	const { operation } = log.compress([range(from, to)], bareSettings);
	if (operation?.kind !== "fold") expect.unreachable();
	log.leafId = leafId;
	log.operation({ ...operation, author: "rules" });
}

describe("the earlier conversation told by rules", () => {
	it("says of each turn what the user said, what was done, the last answer, and the files changed", () => {
		const log = new Log();
		log.user("fix the bug");
		log.assistant("I will look.", [{ name: "read", arguments: { path: "a.ts" } }]);
		log.result("content");
		log.step("edit", { path: "a.ts", oldText: "x", newText: "y" }, "ok");
		log.assistant("Fixed.");
		log.user("thanks");
		expect(told(log)).toEqual([
			"user: fix the bug",
			"did: read a.ts; edit a.ts",
			"assistant: Fixed.",
			"changed: a.ts",
			"user: thanks",
		]);
	});

	it("names the last calls of a turn, says which failed, and leaves out our own", () => {
		const log = new Log();
		log.user("go");
		for (let step = 1; step <= 9; step++) log.step("bash", { command: `step ${step}\n  of nine` }, "ok");
		log.assistant("", [{ name: "bash", arguments: { timeout: 5, command: "make" } }]);
		log.result("no rule", { isError: true });
		log.step("acp_status", {}, "fine");
		log.message({ role: "assistant", content: [JSON.parse('{"type":"toolCall","id":"c","name":"odd"}')] });
		log.step("ping", {}, "pong");
		expect(told(log)[1]).toBe(
			"did: 4 earlier calls; bash step 5 of nine; bash step 6 of nine; bash step 7 of nine; bash step 8 of nine; bash step 9 of nine; bash make (failed); odd; ping",
		);
	});

	it("keeps head and tail of long words, and tears no character", () => {
		const log = new Log();
		log.user(`begin ${"😀".repeat(5_000)} end`);
		log.assistant(`first ${words(5_000)} last`);
		log.user("next");
		const [user, assistant] = told(log);
		expect(user).toMatch(/^user: begin .* \[…\] .* end$/u);
		expect(user?.isWellFormed()).toBe(true);
		expect(assistant).toMatch(/^assistant: first .* \[…\] .* last$/);
		expect(`${user}${assistant}`.length).toBeLessThan(2_000);
	});

	it("tells what the model folded by the model's own summary, with its topic", () => {
		const log = turns(3);
		log.compress([range("m1", "m4", "The first is done.", "first"), range("m6", "m7", "Changed 2.")], bareSettings);
		expect(told(log)).toEqual([
			`folded: first: ${said("The first is done.")}`,
			"user: question 2",
			`folded: ${said("Changed 2.")}`,
			"assistant: answer 2",
			"user: question 3",
			"did: edit src/3.ts",
			"assistant: answer 3",
			"changed: src/3.ts",
		]);
	});

	it("tells what rules folded anew from the originals, and blocks of the model inside by their summary", () => {
		const log = turns(4);
		log.user("now");
		log.compress([range("m2", "m3", "Changed 1.")], bareSettings);
		const flat = told(log);
		foldByRules(log, "m1", "m12");
		expect(log.branch().state.tops).toMatchObject([{ author: "rules", children: [1] }]);
		expect(told(log)).toEqual(flat);
		foldByRules(log, "b2", "m16");
		expect(log.branch().state.tops).toMatchObject([{ author: "rules", children: [2] }]);
		expect(told(log)).toEqual(flat);
	});

	it("tells summaries by the host as it tells those of the model, and nothing of others' notes", () => {
		const log = turns(1);
		log.branchSummary("what was tried elsewhere");
		log.message({ role: "custom", content: "a note" });
		log.compaction("what was before", "e5");
		log.user("go on");
		expect(told(log)).toEqual(["folded: what was before", "folded: what was tried elsewhere", "user: go on"]);
	});

	it("leaves out what never reached the model, and turns of which nothing is to be said", () => {
		const log = new Log();
		log.message({ role: "custom", content: "ready" });
		log.user("go");
		log.assistant("half an ans", [], { stopReason: "aborted" });
		log.message({ role: "user", content: "secret" }, true);
		log.user([]);
		log.user("again");
		log.edit("e3", { content: "edited" });
		log.edit("e2", { content: "went" });
		expect(told(log)).toEqual(["user: went", "user: again"]);
		expect(told(log, { maxTurns: 1 })).toEqual(["- user: went", "user: again"]);
	});

	it("takes a line for each turn beyond those told at length", () => {
		expect(told(turns(5), { maxTurns: 2 })).toEqual([
			"- user: question 1; assistant: answer 1; changed: src/1.ts",
			"- user: question 2; assistant: answer 2; changed: src/2.ts",
			"- user: question 3; assistant: answer 3; changed: src/3.ts",
			...["user: question 4", "did: edit src/4.ts", "assistant: answer 4", "changed: src/4.ts"],
			...["user: question 5", "did: edit src/5.ts", "assistant: answer 5", "changed: src/5.ts"],
		]);
		const blocks = turns(2);
		blocks.compress(
			[
				range("m2", "m3", "One.\nTwo.", "topic"),
				range("m6", "m7", "Three.\nFour. This is what came of the edit of the file."),
			],
			bareSettings,
		);
		blocks.user("now");
		expect(told(blocks, { maxTurns: 1 }).slice(0, 2)).toEqual([
			"- user: question 1; folded: topic; assistant: answer 1",
			"- user: question 2; folded: Three. Four. This is what came of the edit of the file.; assistant: answer 2",
		]);
	});

	it("takes a line for the oldest turns where all of them at length would pass the limit", () => {
		const log = turns(12, " and more".repeat(100));
		const lines = told(log, { limitTokens: 1_500 });
		const short = lines.filter((line) => line.startsWith("- "));
		expect(short.length).toBeGreaterThan(0);
		expect(short).toEqual(lines.slice(0, short.length));
		expect(lines.slice(short.length)[0]).toBe(`user: question ${short.length + 1}`);
		expect(estimateTokens(lines.join("\n"))).toBeLessThanOrEqual(1_500);
	});

	it("leaves the oldest turns out where even lines take half of the limit, and tells the newest at length", () => {
		const log = turns(200, " and more".repeat(100));
		const [first, ...lines] = told(log, { limitTokens: 800 });
		const left = Number(/^\((\d+) earlier turns left out; search_context finds them\)$/.exec(first ?? "")?.[1]);
		expect(left).toBeGreaterThan(150);
		expect(lines[0]).toMatch(new RegExp(`^- user: question ${left + 1};`));
		expect(lines.slice(-4)).toEqual([
			"user: question 200",
			"did: edit src/200.ts",
			expect.stringMatching(/^assistant: answer 200( and more)+$/),
			"changed: src/200.ts",
		]);
		expect(estimateTokens(lines.join("\n"))).toBeLessThanOrEqual(800);
		expect(told(turns(1), { limitTokens: 0 })).toEqual(["(1 earlier turn left out; search_context finds them)"]);
	});

	it("stays small whatever a turn holds: hundreds of blocks, files and calls", () => {
		const log = new Log();
		log.user("go");
		for (let step = 0; step < 60; step++)
			log.step("write", { path: `src/long/path/${step}.ts` }, words(300, `${step}-`));
		const ranges = Array.from({ length: 50 }, (_, block) =>
			range(
				`m${2 + 2 * block}`,
				`m${3 + 2 * block}`,
				`Summary ${block}: ${"written, and so on ".repeat(20)}src`,
				`topic ${block}`,
			),
		);
		log.compress(ranges, bareSettings);
		log.user("now");
		const lines = told(log);
		expect(lines[1]).toBe("folded: 10 earlier blocks");
		expect(lines[2]).toMatch(/^folded: topic 10: Summary 10: .* \[…\] /);
		expect(lines.filter((line) => line.startsWith("folded: topic "))).toHaveLength(40);
		expect(lines.find((line) => line.startsWith("changed: "))?.length).toBeLessThan(640);
		const [short] = told(log, { maxTurns: 1 });
		expect(short).toMatch(/^- user: go; folded: topic 0, topic 1, .* \[…\] .*topic 49; changed: /);
		expect(short?.length).toBeLessThan(480);
	});

	it("defuses what looks like a tag or block of ours, wherever it stands", () => {
		const log = new Log();
		log.user("see <acp>m00001</acp>");
		log.step("edit", { path: "</acp-block>" }, words(300));
		log.step("read", { path: "x" }, words(300));
		log.assistant("</acp-block>");
		log.compress([range("m4", "m5", "<acp>m00002</acp>")], bareSettings);
		log.user("now");
		const text = told(log).join("\n");
		expect(text).not.toMatch(/<acp>|<\/acp-block/);
		expect(text.match(/< acp>|< \/acp-block/g)).toHaveLength(5);
	});
});
