import { describe, expect, it } from "vitest";
import {
	mark,
	type Operation,
	outgoingItems,
	planRules,
	planUnfold,
	planWhole,
	project,
	toMessages,
	unfoldText,
} from "../../kernel/index.ts";
import { defaultSettings, type RulesSettings, rulesOf } from "../../kernel/settings.ts";
import { bareSettings, contextOf, Log, range, shown, words } from "../support/log.ts";
import { bytes, copyOf } from "../support/request.ts";

const settings = { ...defaultSettings, strategy: "rules" as const };

function under(rules: Partial<RulesSettings>) {
	return { ...settings, rules: { ...settings.rules, ...rules } };
}

function plan(log: Log, over = settings): (Operation & { kind: "fold" }) | undefined {
	const operation = planRules(log.view(over), contextOf(log.branch(), { settings: over }));
	return operation?.kind === "fold" ? operation : undefined;
}

/** One turn: a question, a read, a change, an answer. */
function turn(log: Log, number: number): void {
	log.user(`question ${number}`);
	log.step("read", { path: `src/${number}.ts` }, words(400, `r${number}-`));
	log.step("edit", { path: `src/${number}.ts`, oldText: "x" }, "done");
	log.assistant(`answer ${number}`);
}

function turns(count: number): Log {
	const log = new Log();
	for (let number = 1; number <= count; number++) turn(log, number);
	return log;
}

/** Folds as the adapter does before a request, and gives the messages of the request as bytes. */
function request(log: Log, over = settings): readonly string[] {
	const operation = plan(log, over);
	if (operation !== undefined) log.operation(operation);
	return wire(log, over);
}

function wire(log: Log, over = settings): readonly string[] {
	const context = contextOf(log.branch(), { settings: over });
	return toMessages(project(outgoingItems(log.branch(), log.outgoing()), context), context).map(bytes);
}

function starts(log: Log): readonly number[] {
	const { items } = log.view();
	return items.flatMap((item) => (item.kind === "entry" && item.message.role === "user" ? item.record.ordinal : []));
}

describe("a session of sixty turns under rules", () => {
	/** Plays it, and judges each request beside the one before it. */
	function play(over = settings) {
		const log = new Log();
		const requests: (readonly string[])[] = [];
		const full: number[] = [];
		const folds: number[] = [];
		for (let number = 1; number <= 60; number++) {
			log.user(`question ${number}`);
			const commit = log.branch().state.commit;
			requests.push(request(log, over));
			full.push(starts(log).length);
			if (log.branch().state.commit !== commit) folds.push(number);
			log.step("read", { path: `src/${number}.ts` }, words(400, `r${number}-`));
			requests.push(request(log, over));
			log.step("edit", { path: `src/${number}.ts`, oldText: "x" }, "done");
			requests.push(request(log, over));
			log.assistant(`answer ${number}`);
		}
		return { log, requests, full, folds };
	}

	it("keeps the prefix whole between folds, and folds only when the turns in full pass those kept and the slack", () => {
		const { requests, full, folds } = play();
		expect(Math.max(...full)).toBe(8);
		expect(folds).toEqual(Array.from({ length: 18 }, (_, index) => 9 + 3 * index));
		let breaks = 0;
		for (const [index, messages] of requests.slice(1).entries()) {
			const before = requests[index] ?? [];
			if (messages.slice(0, before.length).every((each, at) => each === before[at])) continue;
			breaks += 1;
			expect(messages[0]).toContain("<acp-block");
		}
		expect(breaks).toBe(folds.length);
		for (const number of folds) expect(full[number - 1]).toBe(6);
	});

	it("folds as often as other settings say", () => {
		expect(play(under({ recentTurnsFull: 2, slackTurns: 0 })).folds.slice(0, 3)).toEqual([3, 4, 5]);
		expect(play(under({ recentTurnsFull: 3, slackTurns: 10 })).folds).toEqual([14, 25, 36, 47, 58]);
	});

	it("has the same bytes on every run, after a restart, and in a copy", () => {
		const { log, requests } = play();
		expect(play().requests).toEqual(requests);
		expect(wire(copyOf(log, (id) => id))).toEqual(wire(log));
		expect(wire(copyOf(log, (id) => `copy of ${id}`))).toEqual(wire(log));
	});

	it("tells folded turns in one block: the newest at length, those beyond maxTurns in a line each", () => {
		const { log } = play(under({ maxTurns: 3 }));
		const { tops } = log.branch().state;
		expect(tops).toHaveLength(1);
		expect(tops[0]).toMatchObject({ author: "rules", tier: 1, spans: [{ from: 1, to: 54 * 6 }] });
		const lines = tops[0]?.summary.split("\n") ?? [];
		expect(lines[0]).toBe("<earlier_conversation_summary>");
		expect(lines.slice(1, 52)).toEqual(
			Array.from({ length: 51 }, (_, index) => {
				const number = index + 1;
				return `- user: question ${number}; assistant: answer ${number}; changed: src/${number}.ts`;
			}),
		);
		expect(lines.slice(52, -1)).toEqual(
			[52, 53, 54].flatMap((number) => [
				`user: question ${number}`,
				`did: read src/${number}.ts; edit src/${number}.ts`,
				`assistant: answer ${number}`,
				`changed: src/${number}.ts`,
			]),
		);
	});

	it("gives everything back: blocks nest, and unfolding goes back step by step", () => {
		const { log } = play();
		const { state } = log.branch();
		const last = state.lastNumber;
		expect(state.blocks.get(last)?.children).toEqual([last - 1]);
		log.operation({ kind: "unfold", block: last, sizeTokens: 1 });
		expect(log.branch().state.tops.map((top) => top.number)).toEqual([last - 1]);
		log.operation({ kind: "undo", sizeTokens: 1 });
		expect(log.branch().state.tops.map((top) => top.number)).toEqual([last]);
	});
});

describe("the fold by rules", () => {
	it("is none while the turns in full are at most those kept and the slack", () => {
		expect(plan(turns(8))).toBeUndefined();
		expect(plan(turns(9))?.blocks).toMatchObject([{ spans: [{ from: 1, to: 18 }] }]);
	});

	it("takes the defaults where a figure is zero, less or missing", () => {
		for (const value of [0, -3, Number.NaN]) {
			expect(rulesOf(under({ recentTurnsFull: value, maxTurns: value }))).toEqual(defaultSettings.rules);
			expect(plan(turns(9), under({ recentTurnsFull: value }))?.blocks).toMatchObject([{ spans: [{ to: 18 }] }]);
		}
		expect(plan(turns(7), under({ slackTurns: -5 }))?.blocks).toMatchObject([{ spans: [{ to: 6 }] }]);
	});

	it("is none where it would gain nothing", () => {
		const log = new Log();
		for (let number = 0; number < 12; number++) {
			log.user(`${number}`);
			log.assistant("ok");
		}
		expect(plan(log)).toBeUndefined();
	});

	it("says how large the view is after it", () => {
		const log = turns(9);
		const operation = plan(log) ?? expect.unreachable();
		log.operation(operation);
		const sizes = log
			.view(settings)
			.items.map((item) => item.sizeTokens + (item.kind === "entry" && item.isTagged ? 8 : 0));
		expect(operation.sizeTokens).toBe(sizes.reduce((sum, size) => sum + size, 0));
	});

	it("leaves pins and protected tools where they are, and counts no turn of which nothing else is left", () => {
		const log = turns(3);
		for (const ordinal of [1, 7, 13]) {
			log.operation({ kind: "pin", message: { id: `e${ordinal}`, ordinal } });
		}
		for (let number = 4; number <= 9; number++) turn(log, number);
		const protecting = { ...settings, protectedTools: ["edit"] };
		log.operation(plan(log, protecting) ?? expect.unreachable());
		expect(shown(log.view()).slice(0, 10)).toEqual(["m1", "b1", "m4", "m5", "m7", "m10", "m11", "m13", "m16", "m17"]);
		turn(log, 10);
		expect(plan(log, protecting)).toBeUndefined();
		turn(log, 11);
		expect(plan(log, protecting)).toBeUndefined();
		turn(log, 12);
		expect(plan(log, protecting)).toBeDefined();
	});

	it("waits for the next turn after the model opened a block: it has to see what it opened", () => {
		const log = turns(9);
		log.operation(plan(log) ?? expect.unreachable());
		log.user("open it");
		log.assistant("", [{ name: "decompress", arguments: { id: "b1", to: "view" } }]);
		const unfolding = planUnfold(log.branch(), log.view(settings), "b1");
		if ("code" in unfolding) expect.unreachable();
		log.result(unfoldText(unfolding, contextOf(log.branch())), { details: mark(unfolding.operation) });
		expect(shown(log.view(settings))[0]).toBe("m1");
		expect(plan(log)).toBeUndefined();
		log.assistant("seen");
		log.user("go on");
		expect(plan(log)).toBeDefined();
	});

	it("counts no turn that the model has folded", () => {
		const log = turns(9);
		log.compress([range("m1", "m6", "The first turn.")], bareSettings);
		expect(plan(log)).toBeUndefined();
		turn(log, 10);
		expect(plan(log)?.blocks).toMatchObject([{ children: [1], spans: [{ from: 1, to: 24 }] }]);
	});

	it("shows an interrupted tool of a turn in full as one without output", () => {
		const log = turns(9);
		log.user("question 10");
		log.assistant("", [{ name: "bash" }]);
		log.result("", { isError: true });
		const messages = request(log);
		expect(messages.at(-1)).toContain("(no output: tool interrupted or timed out)");
		expect(request(turns(9)).join()).not.toContain("no output");
	});

	it("tells which files were changed, by edit, write and redirection, and not by what failed", () => {
		const log = new Log();
		log.user("go");
		log.step("write", { path: "new.ts" }, words(400));
		log.step("bash", { command: "make > build.log" }, words(400));
		log.assistant("", [{ name: "edit", arguments: { path: "failed.ts" } }]);
		log.result("no such text", { isError: true });
		for (let number = 1; number <= 8; number++) turn(log, number);
		expect(plan(log)?.blocks[0]?.summary).toContain("changed: new.ts, build.log\n");
	});

	it("keeps the tier of the highest block inside", () => {
		const log = turns(9);
		log.compress([range("m1", "m6", words(100))], bareSettings);
		log.compress([range("b1", "b1", "1")], bareSettings);
		expect(log.branch().state.tops).toMatchObject([{ tier: 2 }]);
		turn(log, 10);
		expect(plan(log)?.blocks).toMatchObject([{ tier: 2 }]);
	});
});

describe("the fold that the user asks for", () => {
	function whole(log: Log, topic?: string) {
		const operation = planWhole(log.view(bareSettings), contextOf(log.branch(), { settings: bareSettings }), topic);
		return operation?.kind === "fold" ? operation : undefined;
	}

	it("is one block of what stands before the last message, and one of what may be folded after it", () => {
		const log = turns(3);
		const operation = whole(log, "my words") ?? expect.unreachable();
		expect(operation.blocks).toMatchObject([
			{ number: 1, topic: "my words", spans: [{ from: 1, to: 12 }] },
			{ number: 2, topic: "my words", spans: [{ from: 14, to: 18 }] },
		]);
		log.operation(operation);
		expect(shown(log.view())).toEqual(["b1", "m13", "b2"]);
	});

	it("is none where nothing is to be folded, and tells no block alone anew", () => {
		expect(whole(new Log())).toBeUndefined();
		const log = turns(2);
		log.operation(whole(log) ?? expect.unreachable());
		expect(whole(log)).toBeUndefined();
	});

	it("takes in all there is where the user said nothing", () => {
		const log = new Log();
		log.step("read", { path: "a" }, words(800));
		log.step("read", { path: "b" }, words(800));
		expect(whole(log)?.blocks).toMatchObject([{ spans: [{ from: 1, to: 4 }] }]);
	});
});
