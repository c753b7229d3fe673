import { describe, expect, it } from "vitest";
import type { Block } from "../../kernel/block.ts";
import type { Offer } from "../../kernel/decision.ts";
import type { BlockRun } from "../../kernel/distill.ts";
import type { Reading } from "../../kernel/meter/calibration.ts";
import type { Window } from "../../kernel/meter/window.ts";
import type { Voice } from "../../kernel/operation.ts";
import { builtInPacks, defaultWords, type Prompts, wordKeys, wordsOf } from "../../kernel/prompts.ts";
import { parseRef } from "../../kernel/ref.ts";
import { planUnfold } from "../../kernel/restore.ts";
import type { Range } from "../../kernel/unit.ts";
import {
	foldedLine,
	foldText,
	nudgeText,
	searchText,
	sizeText,
	unfoldedLine,
	unfoldText,
	windowText,
} from "../../kernel/wording.ts";
import { bareSettings, contextOf, Log, range, wideContext, wideWindow, words } from "../support/log.ts";

function exactly(sizeTokens: number): Reading {
	return { sizeTokens, errorTokens: 0 };
}

function worked(): Log {
	const log = new Log();
	log.user("task");
	for (const name of ["a", "b", "c"]) log.step("read", { path: name }, words(3_000, name));
	log.user("go on");
	return log;
}

describe("the answer to a compress call", () => {
	it("names each block with its range and sizes, the view's size, what can be folded, and that the work goes on", () => {
		const log = worked();
		const text = foldText(log.compress([range("m2", "m3"), range("m5", "m4")], bareSettings), wideContext);
		expect(text.split("\n")).toEqual([
			foldedLine,
			expect.stringMatching(/^b1 = m00002-m00003 \(2 messages, [\d.]+K → \d+ tokens\)$/),
			expect.stringMatching(/^b2 = m00004-m00005 \(2 messages, [\d.]+K → \d+ tokens; the boundaries were reversed\)$/),
			expect.stringMatching(
				/^The view went from [\d.]+K to [\d.]+K \(±\d+\) of 900\.0K tokens\. Can be folded now: m00006-m00007 \([\d.]+K\)\.$/,
			),
			"Go on with your task.",
		]);
	});

	it("names what was refused and what was lost, after what was applied", () => {
		const log = worked();
		const plan = log.compress([range("m99"), range("m2", "m5")], bareSettings);
		const lines = foldText(plan, wideContext, ["entry 3 is cut off"]).split("\n");
		expect(lines[0]).toBe(foldedLine);
		expect(lines[1]).toMatch(/^b1 = m00002-m00005/);
		expect(lines[2]).toBe("Refused: m00099 does not exist; the newest message is m00009.");
		expect(lines[3]).toBe("Lost: entry 3 is cut off");
		expect(lines).toHaveLength(6);
	});

	it("is no success if nothing was applied", () => {
		const log = worked();
		const text = foldText(log.compress([range("m99"), range("x")], bareSettings), wideContext, ["entry 3 is cut off"]);
		expect(text).not.toContain(foldedLine);
		expect(text.split("\n")).toEqual([
			"Nothing was folded.",
			"Refused: m00099 does not exist; the newest message is m00009.",
			'Refused: "x" is not a ref; refs look like m00012 or b3.',
			"Lost: entry 3 is cut off",
			expect.stringMatching(/^Can be folded now: m00001-m00007/),
		]);
	});
});

describe("a nudge", () => {
	const ranges: readonly Range[] = Array.from({ length: 10 }, (_, index) => ({
		from: 10 * index + 1,
		to: index === 0 ? 1 : 10 * index + 9,
		messages: index === 0 ? 1 : 9,
		sizeTokens: index < 2 ? 1_400 : 1_500,
		tools: index === 1 ? [] : ["read", "bash", "edit", "write"],
		paths: index === 2 ? ["src/a/orders.ts", "notes.md", "c.ts"] : [],
		words: index === 3 ? "Now <acp>m00001</acp>\nthe refunds" : "",
	}));
	const run = (tier: number): BlockRun => {
		const block = (number: number) => ({ number }) as Block;
		return { first: block(3), last: block(9), tier, blocks: 7, messages: 0, sizeTokens: 8_400 };
	};
	const linesOf = (...args: Parameters<typeof nudgeText>) => nudgeText(...args).split("\n");

	it("gives the boundaries of each range as compress takes them, the heaviest eight in their order", () => {
		const lines = linesOf("soft", { ranges, run: undefined }, exactly(61_200), wideWindow);
		expect(lines[0]).toBe(
			"[acp] The context holds 61.2K of 900.0K tokens. These ranges can be folded with compress where their work is done:",
		);
		expect(lines[1]).toBe(
			"- startId m00021, endId m00029 (9 messages, 1.5K tokens: read, bash, edit, orders.ts, notes.md)",
		);
		expect(lines[2]).toBe(
			'- startId m00031, endId m00039 (9 messages, 1.5K tokens: read, bash, edit, "Now < acp>m00001</acp> th")',
		);
		expect(lines[9]).toBe("- and 2 more, 2.8K tokens");
		expect(lines.at(-1)).toMatch(/go on with your task\.$/);
		expect(linesOf("soft", { ranges: ranges.slice(0, 2), run: undefined }, exactly(1), wideWindow).slice(1, 3)).toEqual(
			[
				"- startId m00001, endId m00001 (1 message, 1.4K tokens: read, bash, edit)",
				"- startId m00011, endId m00019 (9 messages, 1.4K tokens)",
			],
		);
	});

	it("speaks otherwise where the window is full, in one line, and without alarm before", () => {
		const [soft = [], pressure = [], emergency = []] = (["soft", "pressure", "emergency"] as const).map((voice) =>
			linesOf(voice, { ranges, run: undefined }, exactly(61_200), wideWindow),
		);
		expect(new Set([soft[0], pressure[0], emergency[0]]).size).toBe(3);
		expect(pressure.slice(1)).toEqual(soft.slice(1));
		expect(emergency.slice(1)).toEqual(soft.slice(1));
		for (const text of [soft.join(" "), defaultWords.section]) {
			expect(text).not.toMatch(/urgent|immediately|must|critical|warning|danger|overflow|emergency|!/i);
		}
	});

	it("asks for one block instead of several by their place, and says what belongs into it", () => {
		const distill = linesOf("soft", { ranges: [], run: run(1) }, exactly(61_200), wideWindow);
		expect(distill[0]).toMatch(/These blocks stand side by side.* decided and why, /);
		expect(distill[1]).toBe("- startId b3, endId b9 (7 blocks of tier 1, 8.4K tokens)");
		expect(distill).toHaveLength(3);
		const lineOf = (messages: number) =>
			linesOf("soft", { ranges: [], run: { ...run(1), messages } }, exactly(1), wideWindow)[1];
		expect(lineOf(1)).toContain("(7 blocks of tier 1 and 1 message between them, 8.4K");
		expect(lineOf(5)).toContain(" and 5 messages between them, ");
		const second = linesOf("soft", { ranges: ranges.slice(0, 1), run: run(2) }, exactly(61_200), wideWindow);
		expect(second[0]).not.toBe(distill[0]);
		expect(linesOf("soft", { ranges: [], run: run(3) }, exactly(61_200), wideWindow)[0]).toBe(second[0]);
		expect(second.slice(2, 4)).toEqual([
			"In the same call, where their work is done:",
			expect.stringMatching(/^- startId m00001, endId m00001 /),
		]);
		const others = linesOf("soft", { ranges, run: undefined }, exactly(1), wideWindow).join(" ");
		for (const text of [others, defaultWords.section]) expect(text).not.toMatch(/tier|side by side/);
	});

	it("leaves the rules to the section, and sends nobody to a tool that lists", () => {
		for (const voice of ["soft", "pressure", "emergency"] as const) {
			const text = nudgeText(voice, { ranges, run: run(1) }, exactly(1), wideWindow);
			expect(text).not.toMatch(/acp_status|word for word|tag|signatures/);
		}
	});

	describe("in words of the user's own", () => {
		const say = (
			prompts: Prompts,
			voice: Voice = "soft",
			offer: Offer = { ranges: ranges.slice(0, 1), run: undefined },
		) => linesOf(voice, offer, exactly(61_200), wideWindow, wordsOf(prompts));
		const size = "[acp] The context holds 61.2K of 900.0K tokens.";
		const line = "- startId m00001, endId m00001 (1 message, 1.4K tokens: read, bash, edit)";
		const asRun = { ranges: ranges.slice(0, 1), run: run(1) };
		const runLine = "- startId b3, endId b9 (7 blocks of tier 1, 8.4K tokens)";

		it("has each text in its place", () => {
			const own = {
				"nudge.opening": "OPEN",
				"nudge.pressure": "PRESS",
				"nudge.emergency": "ALARM",
				"nudge.closing": "END",
			};
			expect(say(own)).toEqual([`${size} OPEN`, line, "END"]);
			expect(say(own, "pressure")[0]).toBe(`${size} PRESS OPEN`);
			expect(say(own, "emergency")[0]).toBe(`${size} ALARM OPEN`);
		});

		it("has each text of a distillation in its place", () => {
			const own = {
				"nudge.distillTier1": "ONE",
				"nudge.distillTier2": "TWO",
				"nudge.also": "ALSO",
				"nudge.closing": "END",
			};
			expect(say(own, "soft", asRun)).toEqual([`${size} ONE`, runLine, "ALSO", line, "END"]);
			expect(say(own, "soft", { ranges: [], run: run(3) }).slice(0, 1)).toEqual([`${size} TWO`]);
		});

		it("keeps the size and the refs where every text is removed, without an empty line", () => {
			const nothing = Object.fromEntries(wordKeys.map((key) => [key, null]));
			for (const voice of ["soft", "pressure", "emergency"] as const) {
				expect(say(nothing, voice)).toEqual([size, line]);
				expect(say(nothing, voice, asRun)).toEqual([size, runLine, line]);
			}
		});

		it("lists ranges however long the texts are", () => {
			const lines = say({ "nudge.opening": "long ".repeat(10_000) }, "soft", { ranges, run: undefined });
			expect(lines.filter((each) => each.startsWith("- startId m")).length).toBeGreaterThan(3);
		});
	});

	it("quotes refs that read back", () => {
		for (const ref of nudgeText("soft", { ranges, run: run(1) }, exactly(1), wideWindow).match(/\b[mb]\d+/g) ?? [])
			expect(parseRef(ref)).toBeDefined();
	});
});

describe("other answers", () => {
	it("of decompress into the view begins with the line that replay knows", () => {
		const log = worked();
		log.compress([range("m2", "m3")], bareSettings);
		const plan = planUnfold(log.branch(), log.view(), "b1");
		if ("code" in plan) throw new Error(plan.code);
		expect(unfoldText(plan, contextOf(log.branch()))).toMatch(
			new RegExp(
				`^${unfoldedLine}\nb1 is open; back in view: m00002-m00003\\.\nThe view holds \\d+\\.\\dK \\(±\\d+\\.\\dK\\) of 900\\.0K tokens\\. Go on with your task\\.$`,
			),
		);
	});

	it("of a search have a line for each hit and how to open it", () => {
		expect(searchText([{ ref: "b1", place: "m00002-m00003", passage: "…auth bug…" }])).toBe(
			'b1 (m00002-m00003): …auth bug…\ndecompress({ id: "<ref>" }) opens one.',
		);
		expect(searchText([])).toMatch(/^Nothing folded holds these words\./);
	});

	it("give sizes beside the usable window, with the error where it is worth a word", () => {
		const window: Window = { limitTokens: 200_000, usableTokens: 120_000, source: "model" };
		expect(sizeText(exactly(18_900), window)).toBe("18.9K of 120.0K tokens");
		expect(sizeText({ sizeTokens: 18_900, errorTokens: 94 }, window)).toBe("18.9K of 120.0K tokens");
		expect(sizeText({ sizeTokens: 18_900, errorTokens: 600 }, window)).toBe("18.9K (±600) of 120.0K tokens");
	});

	it("say that a view does not fit instead of a share above the whole", () => {
		const window: Window = { limitTokens: 200_000, usableTokens: 120_000, source: "model" };
		expect(sizeText({ sizeTokens: 400_000, errorTokens: 9_000 }, window)).toBe(
			"400.0K (±9.0K) tokens, more than the 120.0K that fit",
		);
	});

	it("say where a window comes from that the model does not declare", () => {
		const text = (source: Window["source"]) => windowText({ limitTokens: 130_000, usableTokens: 120_000, source });
		expect(text("model")).toBe("");
		const others = (["settings", "overflow", "failures", "success", "default"] as const).map(text);
		expect(new Set(others).size).toBe(5);
		for (const other of others) expect(other).toMatch(/^; .*130\.0K/);
	});
});

describe("what the model reads before anything happens", () => {
	it("names each tool once in the section and describes each", () => {
		for (const pack of [wordsOf(), wordsOf(builtInPacks.lean)]) {
			for (const name of ["compress", "decompress", "search_context"]) expect(pack.section).toContain(name);
			for (const name of ["compress", "decompress", "search_context", "acp_status"] as const)
				expect(pack[`tools.${name}`]).not.toBe("");
		}
	});

	it("shows no line that replay would take for a fold", () => {
		for (const text of [wordsOf(), wordsOf(builtInPacks.lean)].flatMap((words) => Object.values(words))) {
			expect(text).not.toContain(foldedLine);
			expect(text).not.toContain(unfoldedLine);
		}
	});
});
