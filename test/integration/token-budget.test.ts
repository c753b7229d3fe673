import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import type { Block } from "../../kernel/block.ts";
import {
	builtInPacks,
	foldText,
	nudgeText,
	type Problem,
	problemText,
	type Range,
	statusOf,
	statusText,
	uncalibrated,
	wordsOf,
} from "../../kernel/index.ts";
import { tag } from "../../kernel/ref.ts";
import type { Sessions } from "../../src/session.ts";
import { acpStatusTool } from "../../src/tools/acp-status.ts";
import { compressTool } from "../../src/tools/compress.ts";
import { decompressTool } from "../../src/tools/decompress.ts";
import { searchContextTool } from "../../src/tools/search-context.ts";
import { bareSettings, contextOf, Log, range, wideWindow, words } from "../support/log.ts";

const window = { limitTokens: 2_000_000, usableTokens: 1_899_900, source: "overflow" as const };
const reading = { sizeTokens: 1_888_800, errorTokens: 99_900 };

/** Ranges at the far end of a session as long as any. */
function ranges(count: number, over: Partial<Range> = {}): readonly Range[] {
	return Array.from({ length: count }, (_, index) => ({
		...{ from: 100_000 + 7 * index, to: 100_006 + 7 * index, messages: 12_345, sizeTokens: 123_400 + index },
		...{
			tools: ["read", "bash", "edit"],
			paths: ["src/hooks/context.ts", "test/nudge.test.ts"],
			words: "Find out why",
		},
		...over,
	}));
}

describe("what is in every request", () => {
	it.each([
		["default", 900],
		["lean", 350],
	] as const)("takes in the pack %s at most %i tokens: the section and the four tools", (pack, limitTokens) => {
		// Only what a definition declares is read here, and no definition asks a session for it.
		const sessions = {} as Sessions;
		const words = wordsOf(builtInPacks[pack]);
		const makers = [compressTool, decompressTool, searchContextTool, acpStatusTool];
		const declared = makers.map((make) => {
			const { name, description, parameters } = make(sessions, words);
			return { name, description, parameters };
		});
		expect(countTokens(words.section) + countTokens(JSON.stringify(declared))).toBeLessThanOrEqual(limitTokens);
	});

	it("takes at most 12 tokens for a tag", () => {
		for (const ordinal of [1, 12, 99_999, 100_000, 999_999]) {
			expect(countTokens(`\n${tag(ordinal)}`)).toBeLessThanOrEqual(12);
		}
	});
});

describe("a nudge takes at most 400 tokens", () => {
	const block = (number: number) => ({ number }) as Block;
	const run = { first: block(12_345), last: block(12_399), blocks: 55, messages: 1_234, sizeTokens: 1_234_567 };

	it.each<[string, Partial<Range>]>([
		["plain", {}],
		[
			"Chinese",
			{
				paths: ["源代码/配置管理器/解析器实现文件.ts", "文档/使用手册的第二个版本.md"],
				words: "請幫我找出為什麼這個訂單會被接受",
			},
		],
		["emoji", { tools: ["🎉🎊🎈🎁🎀"], paths: ["👩‍👩‍👧‍👦👩‍👩‍👧‍👦", "𓀀𓀁𓀂𓀃𓀄𓀅"], words: "🎉🎊🎈🎁🎀🎂🎃🎄🎅🎆" }],
		[
			"marks",
			{ tools: ["%%%%", "a_b_c_d", "~!@#$"], paths: ["x9_Q/Z7$a.k-1^q@8%L", "{}|:<>?`-=[]"], words: "zQ9 xW8 vK7" },
		],
		["many scripts", { paths: ["โครงการ/ระบบ.ts", "ქართული/ფაილი.ts"], words: "ಕನ್ನಡ ಪಠ್ಯ ಇಲ್ಲಿದೆ" }],
		[
			"endless",
			{ tools: ["t".repeat(9_000)], paths: ["p/".repeat(9_000), "q".repeat(9_000)], words: "w".repeat(9_000) },
		],
	])("of 2,000 ranges, %s", (_kind, over) => {
		for (const voice of ["soft", "pressure", "emergency"] as const) {
			for (const tier of [0, 1, 2, 3]) {
				const offer = { ranges: ranges(2_000, over), run: tier === 0 ? undefined : { ...run, tier } };
				const text = nudgeText(voice, offer, reading, window);
				expect(countTokens(text)).toBeLessThanOrEqual(400);
				expect(text.split("\n- startId m").length).toBeGreaterThan(5);
			}
		}
	});
});

describe("an answer", () => {
	it("to a compress call of ten ranges takes at most 600 tokens", () => {
		const log = new Log();
		log.user("task");
		for (let step = 0; step < 14; step++) log.step("read", { path: `${step}` }, words(1_200, `n${step}-`));
		const asked = Array.from({ length: 10 }, (_, index) => range(`m${2 * index + 2}`, `m${2 * index + 3}`));
		const plan = log.compress(asked, bareSettings);
		expect(plan.outcomes.every((outcome) => outcome.isApplied)).toBe(true);
		expect(countTokens(foldText(plan, { window, calibration: uncalibrated }))).toBeLessThanOrEqual(600);
	});

	it("to a status call takes at most 120 tokens", () => {
		const log = new Log();
		log.user("task");
		for (let step = 0; step < 14; step++) log.step("read", { path: `${step}` }, words(1_200, `n${step}-`));
		log.compress([range("m2", "m9")], bareSettings);
		const context = contextOf(log.branch(), { window: { ...wideWindow, source: "failures" }, settings: bareSettings });
		expect(countTokens(statusText(statusOf(log.view(bareSettings), context), "overview", 20))).toBeLessThanOrEqual(120);
	});

	it.each<Problem>([
		{ code: "arguments", reason: "content holds no range; it takes [{ startId, endId, summary }]" },
		{ code: "unreadableRef", text: "message 12 of the conversation, or so it seems" },
		{ code: "unknownMessage", ref: "m100526", last: 100_013 },
		{ code: "unknownBlock", ref: "b1277", known: Array.from({ length: 50 }, (_, index) => 1_200 + index) },
		{ code: "foreignRef", ref: "m100004@a1b2c3d4" },
		{ code: "notInView", range: "m100002-m100003" },
		{ code: "notFolded", ref: "m100002" },
		{ code: "alreadyFolded", range: "m100003-m100004", block: 1_234 },
		{ code: "nothingLeft", range: "m100008", reasons: ["m100008 (the last user message)"] },
		{ code: "overlap", range: "m100004-m100006", other: "m100002-m100005" },
		{ code: "emptySummary", range: "m100002-m100005" },
		{ code: "notSmaller", range: "m100002-m100003", textTokens: 12_320, sizeTokens: 12_210 },
		{ code: "topTier", block: 1_234 },
		{ code: "aborted" },
		{ code: "emptyQuery" },
		{ code: "noPage", page: 4, pages: 2 },
	])("that refuses takes at most 80 tokens: $code", (problem) => {
		expect(countTokens(problemText(problem, ranges(2)))).toBeLessThanOrEqual(80);
		expect(countTokens(problemText(problem, ranges(2_000)))).toBeLessThanOrEqual(160);
	});
});
