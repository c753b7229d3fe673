import { describe, expect, it } from "vitest";
import { textOf } from "../../../kernel/message.ts";
import { project, standingView } from "../../../kernel/pipeline/index.ts";
import { outgoingItems } from "../../../kernel/sent.ts";
import { toMessages } from "../../../kernel/view.ts";
import { bareSettings, contextOf, Log, range, shown, words } from "../../support/log.ts";

const cut = { id: "e15", ordinal: 14, rule: "truncate" as const, keepChars: 50, savedTokens: 100 };
const hide = { id: "e10", ordinal: 10, rule: "hide" as const, savedTokens: 0 };

/** A log with something to do for each of the stages. */
function busy(): Log {
	const log = new Log();
	log.user("task");
	log.step("read", { path: "a" }, words(9_000));
	log.user("go on");
	log.compress([range("m2", "m3", "Read.")], bareSettings);
	log.step("bash", { command: "true" }, "");
	log.user("next");
	log.step("acp_status", {}, "status");
	log.step("read", { path: "b" }, words(9_000));
	log.step("bash", { command: "cat" }, words(9_000));
	log.user("and on");
	const reductions = [
		{ ...hide, id: "e10", ordinal: 10 },
		{ ...cut, id: "e15", ordinal: 15 },
	];
	log.operation({ kind: "truncate", reductions, sizeTokens: 0 });
	return log;
}

const settings = { ...bareSettings, compress: { ...bareSettings.compress, keepTokens: 10, stepTokens: 10 } };

describe("the pipeline", () => {
	it("runs all its stages: refs, blocks, placeholder, hidden units, cut results, ranges and nudge", () => {
		const log = busy();
		const branch = log.branch();
		const context = contextOf(branch, { settings });
		const view = project(outgoingItems(branch, log.outgoing()), context);
		expect(shown(view)).toEqual(["m1", "b1", "m4", "m5", "m6", "m7", "m8", "m9", "m12", "m13", "m14", "m15", "m16"]);
		expect([...view.standing].map((block) => block.number)).toEqual([1]);
		expect(view.foldable.length).toBeGreaterThan(0);
		const sent = toMessages(view, contextOf(branch));
		expect(sent.map(textOf)).toEqual([
			"task\n<acp>m00001</acp>",
			expect.stringMatching(/^<acp-block id="b1"/),
			"go on\n<acp>m00004</acp>",
			"",
			expect.stringMatching(/^Folded:.*<acp>m00006<\/acp>$/s),
			"",
			expect.stringMatching(/no output.*\n<acp>m00008<\/acp>$/),
			"next\n<acp>m00009</acp>",
			"",
			expect.stringMatching(/<acp>m00013<\/acp>$/),
			"",
			expect.stringMatching(/characters left out.*<acp>m00015<\/acp>$/s),
			"and on\n<acp>m00016</acp>",
			expect.stringMatching(/^\[acp\] The context holds/),
		]);
	});

	it("gives the same view each time and leaves its input as it was", () => {
		const log = busy();
		const branch = log.branch();
		const context = contextOf(branch, { settings });
		const outgoing = log.outgoing();
		const before = JSON.stringify(outgoing);
		const items = outgoingItems(branch, outgoing);
		const [one, two] = [project(items, context), project(items, context)];
		expect(one).toEqual(two);
		expect(JSON.stringify(outgoing)).toBe(before);
	});

	it("keeps every system message in its place, the first one first", () => {
		const log = new Log();
		log.message({ role: "system", content: "rules" });
		log.user("task");
		log.step("read", { path: "a" }, words(900));
		log.message({ role: "system", content: "more rules" });
		log.step("read", { path: "b" }, words(900));
		log.user("go on");
		log.compress([range("m1", "m5", "Read.")], bareSettings);
		expect(shown(log.view())).toEqual(["system", "b1", "system", "m6", "m7", "m8"]);
	});
});

describe("the view a call is judged against", () => {
	it("is the one that is sent, without advice", () => {
		const log = busy();
		const branch = log.branch();
		const context = contextOf(branch, { settings });
		const standing = standingView(branch, context);
		const sent = project(outgoingItems(branch, log.outgoing()), context);
		expect(shown(standing)).toEqual(shown(sent));
		expect(standing.items.map((item) => item.sizeTokens)).toEqual(sent.items.map((item) => item.sizeTokens));
		expect(standing).toMatchObject({ nudge: undefined, foldable: [] });
	});
});
