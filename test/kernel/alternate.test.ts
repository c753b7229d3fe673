import { describe, expect, it } from "vitest";
import { alternate } from "../../kernel/alternate.ts";
import { type Message, parts, textOf } from "../../kernel/message.ts";
import { bareSettings, Log, range, words } from "../support/log.ts";

type Sketch = readonly [role: string, text: string];

const roles: Readonly<Record<string, string>> = { ours: "custom", unsent: "assistant" };

/** The messages after merging, each as its role and its texts; ours and unsent ones are those of such roles. */
function merged(...sketch: readonly Sketch[]): readonly (readonly string[])[] {
	const messages = sketch.map(
		([role, content], timestamp): Message => ({ role: roles[role] ?? role, content, timestamp }),
	);
	const originOf = ({ timestamp }: Message) => {
		const role = sketch[timestamp]?.[0];
		return role === "ours" || role === "unsent" ? role : "other";
	};
	return alternate(messages, originOf).map((message) => [
		message.role,
		...parts(message).map((part) => textOf({ ...message, content: [part] })),
	]);
}

describe("messages for a provider that needs alternation", () => {
	it("have a block as the first text of the user message right after it", () => {
		expect(merged(["system", "rules"], ["ours", "b1"], ["user", "go on"], ["assistant", "ok"])).toEqual([
			["system", "rules"],
			["user", "b1", "go on"],
			["assistant", "ok"],
		]);
	});

	it("have both user messages and the block in one where all between them is folded", () => {
		expect(merged(["user", "task"], ["ours", "b1"], ["user", "go on"], ["assistant", "ok"])).toEqual([
			["user", "task", "b1", "go on"],
			["assistant", "ok"],
		]);
		expect(
			merged(["user", "1"], ["ours", "b1"], ["custom", "2"], ["ours", "b2"], ["user", "3"], ["ours", "nudge"]),
		).toEqual([["user", "1", "b1", "2", "b2", "3", "nudge"]]);
	});

	it("are left as they are where others' messages follow each other: that is none of ours", () => {
		expect(merged(["user", "one"], ["user", "two"])).toEqual([
			["user", "one"],
			["user", "two"],
		]);
	});

	it("have it as the last text of the user message or tool result right before it, if an answer follows", () => {
		expect(merged(["user", "task"], ["ours", "b1"], ["assistant", "ok"])).toEqual([
			["user", "task", "b1"],
			["assistant", "ok"],
		]);
		expect(merged(["assistant", "call"], ["toolResult", "out"], ["ours", "b1"], ["assistant", "ok"])).toEqual([
			["assistant", "call"],
			["toolResult", "out", "b1"],
			["assistant", "ok"],
		]);
	});

	it("keep it alone between two answers, and where nothing is before it", () => {
		expect(merged(["assistant", "one"], ["ours", "b1"], ["assistant", "two"])).toEqual([
			["assistant", "one"],
			["custom", "b1"],
			["assistant", "two"],
		]);
		expect(merged(["ours", "b1"])).toEqual([["custom", "b1"]]);
		expect(merged(["system", "rules"], ["ours", "b1"], ["assistant", "ok"])[1]).toEqual(["custom", "b1"]);
	});

	it("have several of ours in a row in one message, in their order", () => {
		expect(merged(["ours", "b1"], ["ours", "b2"], ["assistant", "ok"])).toEqual([
			["custom", "b1", "b2"],
			["assistant", "ok"],
		]);
		expect(merged(["ours", "b1"], ["ours", "b2"], ["user", "go on"])).toEqual([["user", "b1", "b2", "go on"]]);
	});

	it("have the nudge as the last text of the last message", () => {
		expect(merged(["user", "task"], ["ours", "nudge"])).toEqual([["user", "task", "nudge"]]);
		expect(merged(["assistant", "call"], ["toolResult", "out"], ["ours", "nudge"])).toEqual([
			["assistant", "call"],
			["toolResult", "out", "nudge"],
		]);
		expect(merged(["user", "task"], ["assistant", "ok"], ["ours", "nudge"]).at(-1)).toEqual(["custom", "nudge"]);
	});

	it("look past what never reaches the wire", () => {
		expect(merged(["ours", "b1"], ["unsent", "failed"], ["user", "go on"])).toEqual([
			["assistant", "failed"],
			["user", "b1", "go on"],
		]);
		expect(merged(["user", "task"], ["unsent", "failed"], ["ours", "b1"], ["assistant", "ok"])).toEqual([
			["user", "task", "b1"],
			["assistant", "failed"],
			["assistant", "ok"],
		]);
		expect(merged(["assistant", "one"], ["ours", "b1"], ["unsent", "failed"])).toEqual([
			["assistant", "one"],
			["assistant", "failed"],
			["custom", "b1"],
		]);
	});

	it("take a custom message of others for the user's: it goes on the wire as that", () => {
		expect(merged(["ours", "b1"], ["custom", "a note"])).toEqual([["custom", "b1", "a note"]]);
	});

	it("are otherwise the objects that came in, fields unknown to us included", () => {
		const user = { role: "user", content: [{ type: "text", text: "task", x: 1 }], timestamp: 5, y: 2 };
		const answer: Message = { role: "assistant", content: "ok", timestamp: 6 };
		const block: Message = { role: "custom", content: "b1", timestamp: 4 };
		expect(alternate([user, answer], () => "other")).toEqual([user, answer]);
		expect(alternate([user, answer], () => "other")[0]).toBe(user);
		const [first, second] = alternate([block, user, answer], (message) => (message === block ? "ours" : "other"));
		expect(first).toEqual({ ...user, content: [{ type: "text", text: "b1" }, ...user.content] });
		expect(second).toBe(answer);
		expect(user.content).toHaveLength(1);
	});
});

describe("a view for such a provider", () => {
	/** Roles as providers see them. */
	function roles(messages: readonly Message[]): readonly string[] {
		return messages.flatMap(({ role, stopReason }) =>
			stopReason === "error" ? [] : role === "custom" ? "user" : role,
		);
	}

	it("has no two of the user's in a row, and none after a tool result, because of us", () => {
		const log = new Log();
		log.user("task");
		for (const name of ["a", "b", "c", "d"]) log.step("read", { path: name }, words(1_500, name));
		log.assistant("half", [], { stopReason: "error" });
		log.user("go on");
		log.step("read", { path: "e" }, words(1_500, "e"));
		log.compress([range("m2", "m5", "Read a and b."), range("m6", "m9", "Read c and d.")], bareSettings);
		const window = { limitTokens: 8_000, usableTokens: 6_000, source: "model" as const };
		const settings = { ...bareSettings, compress: { ...bareSettings.compress, keepTokens: 10, stepTokens: 10 } };
		const pairsOf = (isAlternating: boolean) => {
			const shown = roles(log.sent({ isAlternating, window, settings }));
			return shown.slice(1).map((role, index) => `${shown[index]} ${role}`);
		};
		expect(pairsOf(false)).toEqual(expect.arrayContaining(["user user", "toolResult user"]));
		expect(pairsOf(true).filter((pair) => pair === "user user" || pair === "toolResult user")).toEqual([]);
		const texts = log.sent({ isAlternating: true }).map(textOf).join("\n");
		for (const block of log.branch().state.tops) expect(texts).toContain(block.text);
	});
});
