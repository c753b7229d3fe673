import { describe, expect, it } from "vitest";
import type { FoldPlan } from "../../kernel/compress.ts";
import type { Part } from "../../kernel/message.ts";
import { problemText } from "../../kernel/problem.ts";
import { judgeSummary, type Quality } from "../../kernel/quality.ts";
import { piecesOf } from "../../kernel/unit.ts";
import { foldText } from "../../kernel/wording.ts";
import { bareSettings, Log, range, summaryOf, wideContext, words } from "../support/log.ts";

/** What is said of a summary of everything in view. */
function judged(log: Log, summary: string): Quality {
	return judgeSummary(summary, log.branch(), piecesOf(log.view().items));
}

function of(text: string | readonly Part[]): Log {
	const log = new Log();
	log.user(text);
	return log;
}

const english = "the parser reads one line after the other until it meets the end of the file";

describe("a summary", () => {
	it("is too short below fifty characters, of which those of wide scripts count twice", () => {
		const log = of(`${"x".repeat(50)} ${"解".repeat(25)}`);
		expect(judged(log, ` ${"x".repeat(49)}\n`)).toEqual({ kind: "tooShort", width: 49 });
		expect(judged(log, "x".repeat(50))).toEqual({ kind: "fine", lost: [] });
		expect(judged(log, "解".repeat(24))).toEqual({ kind: "tooShort", width: 48 });
		expect(judged(log, "解".repeat(25))).toEqual({ kind: "fine", lost: [] });
		expect(judged(log, `${"か".repeat(12)}한글`)).toEqual({ kind: "tooShort", width: 28 });
	});

	it("is filler without one word of its range; words that any text has are none", () => {
		const log = of(english);
		const filler = "Everything was done as it was asked for, and all of this works now.";
		expect(judged(log, filler)).toEqual({ kind: "filler" });
		expect(judged(log, `${filler} PARSER`)).toMatchObject({ kind: "fine" });
		expect(judged(log, `${filler} parsers`)).toEqual({ kind: "filler" });
	});

	it("may take its words from texts, thoughts, calls and their arguments", () => {
		const log = new Log();
		log.assistant("", [{ name: "probe", arguments: { deep: [{ text: "x\nwalnut" }] } }], { thinking: "perhaps hazel" });
		log.result("chestnut");
		for (const word of ["probe", "walnut", "hazel", "chestnut"]) {
			expect(judged(log, `${word} ${"unknown things ".repeat(4)}`)).toMatchObject({ kind: "fine" });
		}
		expect(judged(log, "unknown things ".repeat(4))).toEqual({ kind: "filler" });
	});

	it("takes them from the text that the host sends, not from the one that was written", () => {
		const log = of("the secret of the walnut");
		log.edit("e1", { content: "the secret of the hazel" });
		expect(judged(log, `walnut ${"unknown things ".repeat(4)}`)).toEqual({ kind: "filler" });
		expect(judged(log, `hazel ${"unknown things ".repeat(4)}`)).toMatchObject({ kind: "fine" });
	});

	it("takes words from a message under a block as it was, if that is taken back since", () => {
		const log = new Log();
		log.user("task");
		log.step("read", { path: "a" }, words(600));
		log.assistant(`the walnut ${words(600)}`);
		log.user("go on");
		log.compress([range("m2", "m4")], bareSettings);
		log.edit("e4", null);
		expect(judged(log, `walnut ${"unknown things ".repeat(4)}`)).toMatchObject({ kind: "fine" });
	});

	it("is no filler where the host sends an image in the place of words", () => {
		const log = of("the secret of the walnut");
		log.edit("e1", { content: [{ type: "image", data: "aGVsbG8=", mimeType: "image/png" }] });
		expect(judged(log, "unknown things ".repeat(4))).toMatchObject({ kind: "fine" });
	});

	it("shares pairs of characters with a text without blanks", () => {
		const log = of("身份验证流程从这里开始");
		expect(judged(log, "关于验证的说明以及后来所做的一切决定和它们的全部理由都写在此处了")).toMatchObject({
			kind: "fine",
		});
		expect(judged(log, "什么都没有发生，什么都没有发生，什么都没有发生，什么都没有发生")).toEqual({ kind: "filler" });
	});

	it("may be a translation into another script, in either direction", () => {
		expect(judged(of(english), "解析器逐行读取文件直到结束，没有发现任何问题，测试全部通过了。")).toMatchObject({
			kind: "fine",
		});
		expect(judged(of(english), "Разбор читает файл построчно до самого конца и не находит ошибок.")).toMatchObject({
			kind: "fine",
		});
		expect(judged(of("身份验证流程从这里开始"), `Authentication begins here: ${"checked ".repeat(4)}`)).toMatchObject({
			kind: "fine",
		});
	});

	it("is no filler where code cannot tell: of an image, and of a range without words", () => {
		const summary = "A login form in blue with two fields and a button below them.";
		expect(judged(of([{ type: "image", data: "aGVsbG8=", mimeType: "image/png" }]), summary)).toMatchObject({
			kind: "fine",
		});
		expect(judged(of("?! 12 -> 7"), summary)).toMatchObject({ kind: "fine" });
		const log = new Log();
		log.step("read", { path: "a.png" }, "");
		expect(judged(log, summary)).toEqual({ kind: "filler" });
	});

	it("that loses nearly all names of its range loses the five most frequent first", () => {
		const names = ["src/a.ts", "readLine", "user_id", "lexer.next", "http/2", "TokenKind"];
		const text = names.map((name, index) => `${name} `.repeat(9 - index)).join("\n");
		const key = `${"aB".repeat(50)} `;
		const log = of(`${key.repeat(20)}\n${text} onceOnly plain plain plain and/or`);
		expect(judged(log, `plain ${"and nothing more ".repeat(5)}`)).toEqual({ kind: "fine", lost: names.slice(0, 5) });
		expect(judged(log, `TokenKind ${"and nothing more ".repeat(5)}plain`)).toEqual({ kind: "fine", lost: [] });
	});

	it("is not warned about where the range has few names", () => {
		const log = of("readLine readLine user_id user_id src/a.ts src/a.ts lexer.next lexer.next plain");
		expect(judged(log, `plain ${"and nothing more ".repeat(5)}`)).toEqual({ kind: "fine", lost: [] });
	});

	it("is held beside messages spread over its range where that is very large", () => {
		const names = ["src/a.ts", "readLine", "user_id", "lexer.next", "TokenKind"];
		const log = new Log();
		for (let step = 0; step < 60; step++) {
			log.step("read", { path: "plain" }, `${"plain and long ".repeat(1_000)} ${names.join(" ")}`);
		}
		expect(judged(log, `plain ${"and nothing more ".repeat(5)}`)).toEqual({ kind: "fine", lost: names });
	});

	it("needs a tenth of the fifty most frequent names, however many the range has", () => {
		const names = Array.from({ length: 80 }, (_, index) => `nameOfPart${index}End`);
		const log = of(names.map((name) => `${name} `.repeat(100 - names.indexOf(name))).join("\n"));
		expect(judged(log, names.slice(40, 44).join(" "))).toMatchObject({ lost: names.slice(0, 5) });
		expect(judged(log, names.slice(40, 45).join(" "))).toMatchObject({ lost: [] });
		expect(judged(log, names.slice(70, 80).join(" "))).toMatchObject({ lost: names.slice(0, 5) });
	});
});

describe("compress", () => {
	/** A task, two reads, a question; m2 to m5 can be folded. */
	function worked(): Log {
		const log = new Log();
		log.user("task");
		log.step("read", { path: "src/lexer.ts" }, `readLine TokenKind user_id src/a.ts lexer.next ${english} `.repeat(20));
		log.step("read", { path: "src/parser.ts" }, words(900));
		log.user("go on");
		return log;
	}

	function fold(log: Log, ...ranges: readonly (readonly [string, string, string])[]): FoldPlan {
		return log.compress(
			ranges.map(([startId, endId, summary]) => ({ startId, endId, summary })),
			bareSettings,
		);
	}

	it("refuses a summary that is too short or filler, says of which range, and folds the others", () => {
		const plan = fold(
			worked(),
			["m2", "m3", "twenty-eight characters long"],
			["m4", "m5", `src/parser.ts was read and holds nothing of interest to us now.`],
		);
		expect(plan.outcomes.map((outcome) => outcome.isApplied)).toEqual([false, true]);
		expect(foldText(plan, wideContext)).toContain(
			"Refused: The summary for m00002-m00003 has 28 characters; the least is 50.",
		);
		const [outcome] = fold(worked(), ["m3", "m5", "zzzz ".repeat(12)]).outcomes;
		if (outcome === undefined || outcome.isApplied) expect.unreachable();
		expect(outcome.problem).toEqual({ code: "filler", range: "m00002-m00005" });
		expect(problemText(outcome.problem, [])).toBe(
			"The summary for m00002-m00005 has not one word of what it replaces. Write what has to be known later into it: files, names, results, decisions.",
		);
	});

	it("accepts a summary that lost the names, and names them", () => {
		const plan = fold(worked(), ["m2", "m3", `${english}, which was read and looked at`]);
		expect(foldText(plan, wideContext)).toMatch(
			/^b1 = m00002-m00003 \(.* tokens; its summary lost the names readLine, TokenKind, user_id, src\/a\.ts, lexer\.next\)$/m,
		);
		expect(plan.operation).toBeDefined();
	});

	it("takes the words of a range of blocks from their texts and from their originals", () => {
		const log = worked();
		fold(log, ["m2", "m3", "The lexer is understood; nothing in it needs a walnut or a change."]);
		fold(log, ["m4", "m5", "src/parser.ts was read and holds nothing of interest to us now."]);
		const state = log.branch().state;
		for (const word of ["walnut", "until"]) {
			log.leafId = [...log.entries.keys()].at(-1) ?? null;
			const plan = fold(log, ["b1", "b2", `${word}: ${"zzzz ".repeat(12)}`]);
			expect(plan.outcomes).toMatchObject([{ isApplied: true }]);
			log.operation({ kind: "undo", sizeTokens: 1 });
		}
		const plan = fold(log, ["b1", "b2", "tier covers zzzz ".repeat(4)]);
		expect(plan.outcomes).toMatchObject([{ isApplied: false, problem: { code: "filler" } }]);
		expect(state.tops).toHaveLength(2);
	});

	it("accepts 2,500 characters over 40K tokens, and 4K of themes over eighty blocks", () => {
		const log = new Log();
		log.user("task");
		for (let step = 0; step < 80; step++) log.step("read", { path: `src/f${step}.ts` }, words(500, `f${step}-`));
		log.user("go on");
		const wide = fold(log, [
			"m2",
			"m161",
			`All of src was read. ${"The theme of it: parsing. ".repeat(95)}`.slice(0, 2_500),
		]);
		expect(wide.outcomes).toMatchObject([{ isApplied: true, notes: [] }]);
		log.operation({ kind: "undo", sizeTokens: 1 });
		const each = Array.from({ length: 80 }, (_, step) => {
			const summary =
				`${summaryOf(log.branch(), 2 + 2 * step, 3 + 2 * step)} and what came of it, in many more words`.repeat(2);
			return range(`m${2 + 2 * step}`, `m${3 + 2 * step}`, summary);
		});
		expect(log.compress(each, bareSettings).outcomes.every((outcome) => outcome.isApplied)).toBe(true);
		const themes = fold(log, [
			"b2",
			"b81",
			"Parsing, reading, and what was done about src. ".repeat(90).slice(0, 4_000),
		]);
		expect(themes.outcomes).toMatchObject([{ isApplied: true, notes: [] }]);
	});

	it("judges a call that is replayed as the call itself was", () => {
		const log = worked();
		log.assistant("", [
			{ name: "compress", arguments: { content: [{ startId: "m2", endId: "m3", summary: "short" }] } },
		]);
		log.result("Folded:\nanything");
		expect(log.branch().state.blocks.size).toBe(0);
	});
});
