import { describe, expect, it } from "vitest";
import type { Reading } from "../../kernel/meter/calibration.ts";
import type { Window } from "../../kernel/meter/window.ts";
import { parseRef } from "../../kernel/ref.ts";
import { planUnfold } from "../../kernel/restore.ts";
import type { Range } from "../../kernel/unit.ts";
import {
	foldedLine,
	foldText,
	nudgeText,
	parameterDescriptions,
	promptSection,
	searchText,
	sizeText,
	toolDescriptions,
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
	const foldable: readonly Range[] = Array.from({ length: 10 }, (_, index) => ({
		from: 10 * index + 1,
		to: index === 0 ? 1 : 10 * index + 9,
		messages: 9,
		sizeTokens: 1_500,
		tools: index === 1 ? [] : ["read", "bash", "edit", "write"],
	}));

	it("gives the boundaries of each range as compress takes them, eight at most", () => {
		const lines = nudgeText(foldable, exactly(61_200), wideWindow).split("\n");
		expect(lines[0]).toContain("61.2K of 900.0K tokens");
		expect(lines[1]).toBe("- startId m00001, endId m00001 (9 messages, 1.5K tokens: read, bash, edit)");
		expect(lines[2]).toBe("- startId m00011, endId m00019 (9 messages, 1.5K tokens)");
		expect(lines[9]).toBe("- and 2 later ranges");
		expect(lines.at(-1)).toMatch(/go on with your task\.$/);
		expect(nudgeText(foldable.slice(0, 8), exactly(1), wideWindow)).not.toContain("later ranges");
	});

	it("quotes refs that read back", () => {
		for (const ref of nudgeText(foldable, exactly(1), wideWindow).match(/m\d+/g) ?? [])
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
		for (const name of ["compress", "decompress", "search_context"]) expect(promptSection).toContain(name);
		expect(Object.keys(toolDescriptions)).toEqual(["compress", "decompress", "search_context", "acp_status"]);
		for (const text of Object.values({ ...toolDescriptions, ...parameterDescriptions })) expect(text).not.toBe("");
	});

	it("shows no line that replay would take for a fold", () => {
		for (const text of [promptSection, ...Object.values(toolDescriptions)]) {
			expect(text).not.toContain(foldedLine);
			expect(text).not.toContain(unfoldedLine);
		}
	});
});
