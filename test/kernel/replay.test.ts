import { describe, expect, it } from "vitest";
import type { Entry } from "../../kernel/entry.ts";
import { mark } from "../../kernel/operation.ts";
import { replayCall } from "../../kernel/replay.ts";
import { type Branch, Timeline } from "../../kernel/timeline.ts";
import { viewTokens } from "../../kernel/view.ts";
import { unfoldedLine } from "../../kernel/wording.ts";
import { bareSettings, contextOf, Log, range, shown, words } from "../support/log.ts";

/** A log long enough that the default settings let its beginning be folded. */
function worked(): Log {
	const log = new Log();
	log.user("task");
	for (const name of ["a", "b", "c", "d"]) log.step("edit", { path: name }, words(1_500, name));
	for (let index = 0; index < 8; index++) log.assistant(words(3_000, `t${index}-`));
	log.user("go on");
	return log;
}

/** The log with the `details` of every tool result replaced. */
function withDetails(log: Log, details: (entry: Entry) => unknown): Log {
	const copy = new Log();
	copy.leafId = log.leafId;
	for (const entry of log.entries.values()) {
		const isResult = entry.kind === "message" && entry.message.role === "toolResult";
		const changed = isResult ? { ...entry, message: { ...entry.message, details: details(entry) } } : entry;
		copy.entries.set(entry.id, changed);
	}
	return copy;
}

describe("a compress result that lost its details", () => {
	it("makes the same blocks from the arguments of its call", () => {
		const log = worked();
		log.compress([range("m2", "m5", "First.", "topic"), range("m6", "nonsense"), range("m9", "m8", "Second.")]);
		log.compress([range("b1", "b2", "Both.")]);
		expect(log.branch().state.tops.map((top) => top.number)).toEqual([3]);
		for (const details of [undefined, null, {}, { other: "extension" }, "gone"]) {
			const replayed = withDetails(log, () => details);
			expect(told(replayed.branch())).toEqual(told(log.branch()));
			expect(JSON.stringify(replayed.sent())).toBe(JSON.stringify(withDetails(log, () => details).sent()));
		}
	});

	it("is replayed for each of two calls in one message, the second after the first", () => {
		const log = worked();
		const calls = [[range("m2", "m3", "First.")], [range("m4", "m5", "Second."), range("m2", "m3", "Again.")]];
		log.assistant(
			"",
			calls.map((content) => ({ name: "compress", arguments: { content } })),
		);
		for (const [call, ranges] of calls.entries()) log.answer(ranges, call);
		const replayed = withDetails(log, () => undefined);
		expect(replayed.branch().state.tops).toEqual(log.branch().state.tops);
		expect(shown(replayed.view())).toEqual(shown(log.view()));
	});

	it("is judged by the built-in defaults, never by today's settings", () => {
		const log = worked();
		log.compress([range("m2", "m17", "Everything.")], bareSettings);
		const cautious = worked();
		cautious.compress([range("m2", "m17", "Everything.")]);
		const whole = [{ from: 2, to: 17 }];
		const replayed = withDetails(log, () => undefined)
			.branch()
			.state.blocks.get(1)?.spans;
		expect(log.branch().state.blocks.get(1)?.spans).toEqual(whole);
		expect(replayed).toEqual(cautious.branch().state.blocks.get(1)?.spans);
		expect(replayed).not.toEqual(whole);
	});

	it("folds nothing if the call was refused, or another extension changed our first line", () => {
		const log = worked();
		log.assistant("", [{ name: "compress", arguments: { content: [range("m2", "m5")] } }]);
		const call = log.leafId;
		for (const text of ["Nothing was folded.", "Done. Folded:", "folded:", ""]) {
			log.leafId = call;
			log.result(text);
			expect(log.branch().state.tops).toEqual([]);
		}
		log.leafId = call;
		log.result("Folded:\nanything");
		expect(log.branch().state.tops).toHaveLength(1);
	});

	it("folds nothing without its call or with arguments that say nothing", () => {
		const log = worked();
		log.message({ role: "toolResult", toolName: "compress", toolCallId: "none", content: "Folded:" });
		for (const damaged of [{}, { content: [] }, { content: "prose" }, { content: [range("m99")] }]) {
			log.assistant("", [{ name: "compress", arguments: damaged }]);
			log.result("Folded:");
		}
		log.message({
			role: "assistant",
			content: [JSON.parse('{"type":"toolCall","id":"c","name":"compress","arguments":null}')],
		});
		log.result("Folded:");
		expect(log.branch().state.tops).toEqual([]);
	});
});

describe("a foreign compress result", () => {
	it("folds nothing, whatever its details are", () => {
		const hostile: readonly unknown[] = [
			{ op: { kind: "fold" } },
			[{ acp: 1 }],
			{ acp: 2, op: mark({ kind: "unfold", block: 1, sizeTokens: 1 }).op },
			Number.NaN,
			{ acp: 1 },
			{ acp: 1, op: null },
			{ acp: 1, op: { kind: "fold", author: "model", blocks: [{}], reductions: [], sizeTokens: 1 } },
		];
		const log = worked();
		log.assistant("", [{ name: "compress", arguments: { content: [range("m2", "m5")] } }]);
		const call = log.leafId;
		for (const details of hostile) {
			log.leafId = call;
			log.result("Compressed 4 messages!", { details });
			expect(log.branch().state.tops).toEqual([]);
			expect(log.branch().state.commit).toBeUndefined();
		}
	});

	it("with our mark and our first line but no readable operation folds nothing either", () => {
		const log = worked();
		log.assistant("", [{ name: "compress", arguments: { content: [range("m2", "m5")] } }]);
		log.result("Folded:", { details: { acp: 1, op: { kind: "fold", blocks: "many" } } });
		expect(log.branch().state.tops).toEqual([]);
	});
});

describe("a decompress result that lost its details", () => {
	function opened(args: Readonly<Record<string, unknown>> | null, text = `${unfoldedLine}\nb1 is open.`): Log {
		const log = worked();
		log.compress([range("m2", "m5", "First.")]);
		const content = [{ type: "toolCall", id: "d1", name: "decompress", arguments: args ?? JSON.parse("null") }];
		log.message({ role: "assistant", content });
		log.result(text);
		return log;
	}

	it("opens the block that its call named, and the view has the size it says", () => {
		const log = opened({ id: "b1", to: "view" });
		expect(log.branch().state.tops).toEqual([]);
		const sizeTokens = log.branch().state.baseTokens ?? expect.unreachable();
		const actual = viewTokens(log.view()) - (log.view().items.at(-1)?.sizeTokens ?? 0);
		expect(Math.abs(sizeTokens - actual)).toBeLessThan(20);
	});

	it.each([
		["named no block", { id: "b9" }, undefined],
		["had no text as id", { id: 7 }, undefined],
		["has no arguments", null, undefined],
		["showed the originals only", { id: "b1" }, "[b1 (m00002-m00005): 4 messages]"],
	])("opens nothing if its call %s", (_, args, text) => {
		expect(opened(args, text).branch().state.tops).toHaveLength(1);
	});

	it("that is marked is taken at its word", () => {
		const log = worked();
		log.compress([range("m2", "m5", "First.")]);
		log.assistant("", [{ name: "decompress", arguments: { id: "b1", to: "view" } }]);
		log.result("opened", { details: mark({ kind: "unfold", block: 1, sizeTokens: 9_999 }) });
		expect(log.branch().state.tops).toEqual([]);
		expect(log.branch().state.baseTokens).toBe(9_999);
	});
});

describe("a result of another tool", () => {
	it("is nothing to replay", () => {
		const log = worked();
		log.assistant("", [{ name: "bash", arguments: { content: [range("m2", "m5")] } }]);
		const before = log.branch();
		const id = log.result("Folded:");
		const record = log.branch() && log.timeline.find(id);
		expect(record && replayCall(before, record)).toBeUndefined();
		expect(log.branch().state.tops).toEqual([]);
	});

	it("does not disturb a second memo of the same log", () => {
		const log = worked();
		log.compress([range("m2", "m5", "First.")]);
		const again = new Timeline(replayCall).branch(log.leafId, (id) => log.entries.get(id));
		expect(told(again)).toEqual(told(log.branch()));
		expect(contextOf(again).branch.lastOrdinal).toBe(log.branch().lastOrdinal);
	});
});

/** What a state says, as plain values. */
function told({ state }: Branch) {
	const { blocks, tops, reductions, lastNumber, pins, commit, baseTokens } = state;
	return {
		blocks: [...blocks],
		tops,
		intervals: state.intervals(),
		reductions: [...reductions],
		lastNumber,
		pins,
		commit,
		baseTokens,
	};
}
