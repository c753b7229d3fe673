import { describe, expect, it } from "vitest";
import { formatRange, type Piece, pieceExtent, pieceMessages, piecesOf, rangeOf } from "../../kernel/unit.ts";
import { foreignItem, viewTokens } from "../../kernel/view.ts";
import { bareSettings, Log, range, words } from "../support/log.ts";

function extents(pieces: readonly Piece[]): readonly (readonly number[])[] {
	return pieces.map((piece) => (piece.kind === "unit" ? piece.records.map((record) => record.ordinal) : []));
}

describe("units", () => {
	it("are a message, or an assistant message with all its results", () => {
		const log = new Log();
		log.user("task");
		log.assistant("", [{ name: "read" }, { name: "bash" }], { thinking: "hm" });
		log.result("one", { call: 0 });
		log.result("two", { call: 1 });
		log.message({ role: "custom", content: "note" });
		log.assistant("done");
		const pieces = piecesOf(log.view().items);
		expect(extents(pieces)).toEqual([[1], [2, 3, 4], [5], [6]]);
		expect(pieces.map((piece) => (piece.kind === "unit" ? piece.tools : []))).toEqual([[], ["read", "bash"], [], []]);
	});

	it("stay whole where another message came between call and result", () => {
		const log = new Log();
		log.assistant("", [{ name: "bash" }]);
		log.user("wait");
		log.result("late");
		const pieces = piecesOf(log.view().items);
		expect(extents(pieces)).toEqual([[1, 3], [2]]);
		expect(pieces.map(pieceExtent)).toEqual([
			{ from: 1, to: 3 },
			{ from: 2, to: 2 },
		]);
	});

	it("leave out silent and foreign messages", () => {
		const log = new Log();
		log.message({ role: "system", content: "rules" });
		log.user("task");
		log.assistant("", [{ name: "read" }], { stopReason: "aborted" });
		const items = [...log.view().items, foreignItem({ role: "custom", content: "x", timestamp: 1 })];
		expect(extents(piecesOf(items))).toEqual([[1]]);
	});

	it("and blocks weigh together what the view weighs", () => {
		const log = new Log();
		log.user("task");
		log.step("read", { path: "a" }, words(900));
		log.user("go on");
		log.compress([range("m2", "m3")], bareSettings);
		const view = log.view();
		const pieces = piecesOf(view.items);
		expect(pieces.map((piece) => piece.kind)).toEqual(["unit", "block", "unit", "unit"]);
		expect(pieces.reduce((sum, piece) => sum + piece.sizeTokens, 0)).toBe(viewTokens(view));
		expect(pieces.map(pieceMessages)).toEqual([1, 2, 1, 2]);
	});
});

describe("a range", () => {
	it("goes from the first piece to the last, with what it holds", () => {
		const log = new Log();
		log.step("read", { path: "a" }, words(300));
		log.step("bash", { command: "ls" }, words(300));
		log.step("bash", { command: "pwd" }, words(300));
		const pieces = piecesOf(log.view().items);
		const made = rangeOf(pieces);
		expect(made).toMatchObject({ from: 1, to: 6, messages: 6, tools: ["bash", "read"] });
		expect(made.sizeTokens).toBe(pieces.reduce((sum, piece) => sum + piece.sizeTokens, 0));
		expect(formatRange(made)).toBe("m00001-m00006");
	});

	it("over blocks counts the messages behind them and reaches over all their spans", () => {
		const log = new Log();
		log.user("task");
		log.step("read", { path: "a" }, words(900));
		log.step("bash", { command: "ls" }, words(900));
		log.step("read", { path: "b" }, words(900));
		log.user("go on");
		log.compress([range("m2", "m7")], { ...bareSettings, protectedTools: ["bash"] });
		const block = piecesOf(log.view().items).filter((piece) => piece.kind === "block");
		expect(rangeOf(block)).toMatchObject({ from: 2, to: 7, messages: 4, tools: [] });
	});

	it("of nothing is empty", () => {
		expect(rangeOf([])).toEqual({ from: 0, to: 0, messages: 0, sizeTokens: 0, tools: [], paths: [], words: "" });
	});

	it("says which files its calls name, and how the user began, as the host sends it", () => {
		const log = new Log();
		const asked = log.user("Look into the orders and say nothing of the rest");
		log.step("read", { path: "a.ts" }, "one");
		log.step("edit", { file_path: "b.ts" }, "two");
		log.step("edit", { path: "b.ts" }, "three");
		log.step("bash", { path: 7 }, "four");
		log.step("bash", { path: "" }, "five");
		expect(rangeOf(piecesOf(log.view().items))).toMatchObject({
			paths: ["b.ts", "a.ts"],
			words: expect.stringMatching(/^Look into/),
		});
		log.edit(asked, { content: "Look elsewhere" });
		expect(rangeOf(piecesOf(log.view().items)).words).toBe("Look elsewhere");
	});
});
