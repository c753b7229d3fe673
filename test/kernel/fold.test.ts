import { describe, expect, it } from "vitest";
import type { Block } from "../../kernel/block.ts";
import { foldPieces, repeatedOpening } from "../../kernel/fold.ts";
import { estimateTokens } from "../../kernel/meter/estimate.ts";
import { layout } from "../../kernel/resolve.ts";
import { fullRecord } from "../../kernel/restore.ts";
import { bareSettings, Log, range, words } from "../support/log.ts";

function block(log: Log, number: number): Block {
	return log.branch().state.blocks.get(number) ?? expect.unreachable();
}

/** What a block shows below its summary. */
function record(log: Log, number: number): string {
	return block(log, number).text.split("[record made by code]\n")[1]?.replace("\n</acp-block>", "") ?? "";
}

/** A first request, twelve turns with an edit, a read, a failed command and a rule each, and a question. */
function worked(first = "the first request"): Log {
	const log = new Log();
	log.user(first);
	for (let turn = 0; turn < 12; turn++) {
		log.user(`question ${turn}: ${words(60, `q${turn}-`)}\nNever touch part ${turn}.`);
		log.step("edit", { path: `src/edited-${turn}.ts` }, words(200));
		log.step("read", { path: `src/read-${turn}.ts` }, words(200));
		log.assistant("", [{ name: "bash", arguments: { command: `npm test -- part-${turn}` } }]);
		log.result(`failure ${turn}`, { isError: true });
	}
	log.user("go on");
	return log;
}

/** Folds the turns by threes, those blocks by twos, and what comes of it into one. */
function rise(log: Log): void {
	const turns = [0, 3, 6, 9].map((turn) => range(`m${turn === 0 ? 1 : 2 + 7 * turn}`, `m${1 + 7 * (turn + 3)}`));
	for (const ranges of [turns, [range("b1", "b2"), range("b3", "b4")], [range("b5", "b6")]]) {
		expect(log.compress(ranges, bareSettings).outcomes.every((outcome) => outcome.isApplied)).toBe(true);
	}
}

describe("the record under a block", () => {
	it("is made of all covered originals at each tier: no file and no rule of the user is lost in merging", () => {
		const log = worked();
		rise(log);
		expect([1, 5, 7].map((number) => block(log, number).tier)).toEqual([1, 2, 3]);
		const full = fullRecord(log.branch(), block(log, 7));
		for (let turn = 0; turn < 12; turn++) {
			for (const fact of [
				"src/edited-#.ts (edited 1×)",
				"src/read-#.ts (read)",
				"Never touch part #.",
				"part-# (failed)",
				"failure #",
			]) {
				expect(full).toContain(fact.replace("#", `${turn}`));
			}
			expect(record(log, 7)).toContain(`src/edited-${turn}.ts (edited 1×)`);
			expect(record(log, 7)).toContain(`Never touch part ${turn}.`);
		}
		expect(record(log, 7)).toContain("last error: failure 11");
	});

	it("takes at most 400 tokens at any tier, the session's first user message apart", () => {
		const log = worked(words(1_500));
		rise(log);
		for (const number of [1, 2, 3, 4, 5, 6, 7]) {
			const [first = "", ...others] = record(log, number).split("\n");
			const isFirst = [1, 5, 7].includes(number);
			expect(first === `user: "${words(1_500)}"`).toBe(isFirst);
			expect(estimateTokens((isFirst ? others : [first, ...others]).join("\n"))).toBeLessThanOrEqual(400);
		}
	});

	it("repeats as much of the first user message as its maker asks for", () => {
		const log = worked(`begin ${words(3_000)} end`);
		const placed = layout(log.branch(), log.view(), undefined);
		const of = { number: 1, summary: "s", tier: 1 };
		const line = (openingTokens?: number) => {
			const { block } = foldPieces(placed, placed.pieces.slice(0, 8), {
				...of,
				...(openingTokens && { openingTokens }),
			});
			return /^user: "begin .* end"$/m.exec(block.text)?.[0] ?? "";
		};
		expect(estimateTokens(line())).toBeGreaterThan(1_700);
		expect(estimateTokens(line())).toBeLessThanOrEqual(2_000);
		expect(estimateTokens(line(300))).toBeLessThanOrEqual(300);
		expect(estimateTokens(line(300))).toBeGreaterThan(250);
		const { block } = foldPieces(placed, placed.pieces.slice(0, 8), { ...of, hasRecord: false });
		expect(block.text).not.toContain("record");
	});
});

describe("the session's first user message", () => {
	it("is the first with text that is sent, and counts as it is sent", () => {
		const log = new Log();
		expect(repeatedOpening(log.branch())).toBeUndefined();
		log.assistant("hello");
		log.message({ role: "user", content: "excluded" }, true);
		log.user([{ type: "image", data: "aGVsbG8=", mimeType: "image/png" }]);
		log.user("taken back");
		log.user(words(90));
		log.user("second");
		log.edit("e4", null);
		const whole = repeatedOpening(log.branch());
		expect(whole?.record.ordinal).toBe(5);
		expect(whole?.sizeTokens).toBe(whole?.record.sizeTokens);
		log.edit("e5", { content: words(900) });
		expect(repeatedOpening(log.branch())?.sizeTokens).toBeGreaterThan(5 * (whole?.sizeTokens ?? 0));
		log.edit("e5", { content: words(9_000) });
		expect(repeatedOpening(log.branch())?.sizeTokens).toBe(2_000);
	});
});
