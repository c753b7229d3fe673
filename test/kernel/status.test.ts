import { describe, expect, it } from "vitest";
import { readingOf, uncalibrated } from "../../kernel/meter/calibration.ts";
import { formatTokens } from "../../kernel/problem.ts";
import { type StatusView, statusOf, statusText } from "../../kernel/status.ts";
import { estimateOf } from "../../kernel/view.ts";
import { bareSettings, contextOf, Log, range, words } from "../support/log.ts";

/** m1, b1 over m2 and m3, four messages of work, m8, the call. */
function folded(): Log {
	const log = new Log();
	log.user("the  task\nat hand");
	for (const name of ["a", "b"]) log.step("read", { path: name }, words(3_000, name));
	log.step("edit", { path: "c" }, words(10));
	log.user("go on");
	log.compress([range("m2", "m3", "First.", "reading")], bareSettings);
	return log;
}

function text(log: Log, show: StatusView, limit = 20): string {
	return statusText(statusOf(log.view(), contextOf(log.branch(), { settings: bareSettings })), show, limit);
}

describe("the figures", () => {
	it("are those of the view", () => {
		const log = folded();
		const status = statusOf(log.view(), contextOf(log.branch(), { settings: bareSettings }));
		const block = log.branch().state.blocks.get(1);
		expect(status.reading).toEqual(readingOf(uncalibrated, estimateOf(log.view())));
		expect(status.foldedTokens).toBe(block?.sizeTokens);
		expect(status.foldable.map((each) => [each.from, each.to])).toEqual([[4, 7]]);
		expect(status.blockTokens).toBeLessThan(100);
		expect(status.pieces).toHaveLength(6);
	});

	it("are all in the provider's tokens", () => {
		const log = folded();
		const figures = (perToken: number) => {
			const calibration = { fit: { perToken, perMessage: 0, errorShare: 0.02 }, anchor: undefined };
			return statusOf(log.view(), contextOf(log.branch(), { settings: bareSettings, calibration }));
		};
		const [plain, double] = [figures(1), figures(2)];
		expect(double.reading.sizeTokens).toBe(2 * plain.reading.sizeTokens);
		expect(double.foldedTokens).toBe(2 * plain.foldedTokens);
		expect(double.blockTokens).toBe(2 * plain.blockTokens);
		expect(double.foldable.map((each) => each.sizeTokens)).toEqual(plain.foldable.map((each) => 2 * each.sizeTokens));
		for (const [show, sizes] of [
			["blocks", [plain.foldedTokens, plain.blockTokens]],
			["ranges", plain.foldable.map((each) => each.sizeTokens)],
			["messages", plain.pieces.map(plain.pieceTokens)],
		] as const) {
			for (const size of sizes) expect(statusText(double, show, 20)).toContain(formatTokens(2 * size));
		}
	});
});

describe("the overview", () => {
	it("says how full the view is, what is folded and what can be", () => {
		expect(text(folded(), "overview")).toMatch(
			/^The view holds [\d.K]+ \(±\d+\) of 900\.0K tokens\.\n1 block stands for [\d.K]+ tokens in \d+\.\nCan be folded now: m00004-m00007 \([\d.K]+\)\.$/,
		);
	});

	it("counts several blocks, and says that there are none", () => {
		const log = folded();
		log.compress([range("m4", "m5", "Second.")], bareSettings);
		expect(text(log, "overview")).toContain("2 blocks stand for");
		expect(text(new Log(), "overview")).toBe(
			"The view holds 0 of 900.0K tokens.\nNothing is folded.\nNothing can be folded now; go on with your task.",
		);
	});
});

describe("the lists", () => {
	it("show each block with its tier, place, size and topic", () => {
		const log = folded();
		log.compress([range("m4", "m5", "Second.")], bareSettings);
		const [first, second] = text(log, "blocks").split("\n");
		expect(first).toMatch(/^b1 tier 1, m00002-m00003, 2 messages, [\d.K]+ → \d+ tokens: reading$/);
		expect(second).toMatch(/^b2 tier 1, m00004-m00005, 2 messages, [\d.K]+ → \d+ tokens$/);
	});

	it("show each range with its size and tools", () => {
		expect(text(folded(), "ranges")).toMatch(/^m00004-m00007, 4 messages, [\d.K]+ tokens: read, edit$/);
		const log = new Log();
		log.user(words(9_000));
		log.user("go on");
		expect(text(log, "ranges")).toMatch(/^m00001, 1 messages, [\d.K]+ tokens$/);
	});

	it("show each unit and block in a line, with the reason if it stays", () => {
		const lines = text(folded(), "messages").split("\n");
		expect(lines).toEqual([
			expect.stringMatching(/^m00001 \d+ user the task at hand$/),
			expect.stringMatching(/^b1 \d+ reading$/),
			expect.stringMatching(/^m00004-m00005 [\d.K]+ assistant \[read\]$/),
			expect.stringMatching(/^m00006-m00007 \d+ assistant \[edit\]$/),
			expect.stringMatching(/^m00008 \d+ user go on \(stays: the last user message\)$/),
			expect.stringMatching(/^m00009-m00010 \d+ assistant \[compress\]$/),
		]);
	});

	it("keep the newest lines within a limit and say how many were left out", () => {
		const lines = text(folded(), "messages", 2).split("\n");
		expect(lines).toHaveLength(3);
		expect(lines[0]).toBe("(4 earlier ones left out; ask with a larger limit)");
		expect(lines[2]).toMatch(/^m00009/);
	});

	it("say so if there is nothing", () => {
		const empty = new Log();
		expect(text(empty, "blocks")).toBe("There are no blocks.");
		expect(text(empty, "ranges")).toBe("Nothing can be folded now.");
		expect(text(empty, "messages")).toBe("There are no messages.");
	});

	it("show a block without a topic by its size alone", () => {
		const log = folded();
		log.compress([range("m4", "m5", "Second.")], bareSettings);
		expect(statusText(statusOf(log.view(), contextOf(log.branch())), "messages", 20)).toMatch(/^b2 \d+ $/m);
	});
});
