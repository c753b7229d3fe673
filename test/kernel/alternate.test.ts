import { describe, expect, it } from "vitest";
import { alternate } from "../../kernel/alternate.ts";
import { type Message, parts, textOf } from "../../kernel/message.ts";

type Sketch = readonly [role: string, text: string];

/** The messages after merging, each as its role and its texts; ours are those of role `ours`. */
function merged(...sketch: readonly Sketch[]): readonly (readonly string[])[] {
	const messages = sketch.map(
		([role, content], timestamp): Message => ({ role: role === "ours" ? "custom" : role, content, timestamp }),
	);
	const ours = new Set(messages.filter((_, index) => sketch[index]?.[0] === "ours"));
	return alternate(messages, (message) => ours.has(message)).map((message) => [
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

	it("take a custom message of others for the user's: it goes on the wire as that", () => {
		expect(merged(["ours", "b1"], ["custom", "a note"])).toEqual([["custom", "b1", "a note"]]);
	});

	it("are otherwise the objects that came in, fields unknown to us included", () => {
		const user = { role: "user", content: [{ type: "text", text: "task", x: 1 }], timestamp: 5, y: 2 };
		const answer: Message = { role: "assistant", content: "ok", timestamp: 6 };
		const block: Message = { role: "custom", content: "b1", timestamp: 4 };
		expect(alternate([user, answer], () => false)).toEqual([user, answer]);
		expect(alternate([user, answer], () => false)[0]).toBe(user);
		const [first, second] = alternate([block, user, answer], (message) => message === block);
		expect(first).toEqual({ ...user, content: [{ type: "text", text: "b1" }, ...user.content] });
		expect(second).toBe(answer);
		expect(user.content).toHaveLength(1);
	});
});
