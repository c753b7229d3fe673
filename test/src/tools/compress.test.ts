import { afterEach, describe, expect, it } from "vitest";
import { type AcpSession, closeAcp, openAcp, operationsIn, range, resultsIn, textIn, work } from "../../support/acp.ts";
import { said } from "../../support/log.ts";
import { blocksIn, expectWholePairs, outline, stableLines, textOf } from "../../support/wire.ts";

afterEach(closeAcp);

/** The names and spans of the blocks that the log holds operations for. */
function foldedIn(acp: AcpSession): unknown {
	return operationsIn(acp.branch()).flatMap((op) => {
		const { blocks } = op as { blocks: { number: number; spans: { from: number; to: number }[] }[] };
		return blocks.map(({ number, spans: [span] }) => `b${number} ${span?.from}-${span?.to}`);
	});
}

describe("a compress call", () => {
	it("applies the ranges that are right as one commit and names those that are not", async () => {
		const acp = await openAcp({ seed: work(4) });
		const ranges = [range("m2", "m3", "First file."), range("m99", "m100"), range("m6", "m7", " "), range("m8", "m9")];
		const result = await acp.call("compress", { content: ranges });
		expect(result.isError).toBe(false);
		expect(textIn(result).split("\n")).toEqual([
			"Folded:",
			expect.stringMatching(/^b1 = m00002-m00003 \(2 messages, \d\.\dK → \d+ tokens\)$/),
			expect.stringMatching(/^b2 = m00008-m00009 \(2 messages, /),
			expect.stringMatching(/^Refused: .*m00099/),
			expect.stringMatching(/^Refused: .*m00006-m00007 is empty/),
			expect.stringMatching(
				/^The view went from .* of 191\.8K tokens\. Can be folded now: m00004-m00007 \(\d\.\dK\)\.$/,
			),
			"Go on with your task.",
		]);
		expect(outline(acp.requests.at(-1))).toEqual([
			...["system", "user m00001", "b1", "assistant", "tool m00005", "assistant", "tool m00007", "b2"],
			...["user m00010", "assistant", "tool m00012"],
		]);
		expect(textOf(acp.requests.at(-1)?.body.messages[2])).toContain(`\n${said("First file.")}\n`);
		expectWholePairs(acp.requests.at(-1));
		expect(foldedIn(acp)).toEqual(["b1 2-3", "b2 8-9"]);
		expect(await acp.logText()).toMatch(/\[info\] \[compress\] ranges=4 beforeTokens=\d+ afterTokens=\d+\n/);
	});

	it("changes nothing itself: what it returns holds once the log shows it", async () => {
		const acp = await openAcp({ seed: work(2) });
		const args = { content: [range("m2", "m3")] };
		const before = acp.branch();
		const first = await acp.execute("compress", args);
		expect(first).toEqual(await acp.execute("compress", args));
		expect(acp.branch()).toEqual(before);
		await acp.prompt("And now?");
		expect(blocksIn(acp.requests[0])).toEqual([]);
	});

	it("is an error that changes no byte before it if no range is right", async () => {
		const acp = await openAcp({ seed: work(2) });
		const result = await acp.call("compress", { content: [range("b7", "b8"), range("xyz", "m3")] });
		expect(result).toMatchObject({ isError: true });
		expect(textIn(result)).toMatch(
			/^Nothing was folded\.\nRefused: .*b7.*\nRefused: "xyz" is not a ref.*\nacp_status\(/,
		);
		const [before, after] = [stableLines(acp.requests[0]), stableLines(acp.requests[1])];
		expect(after.slice(0, before.length)).toEqual(before);
		expect(operationsIn(acp.branch())).toEqual([]);
		expect(await acp.logText()).toMatch(/\[info\] \[compress\] refused="Nothing was folded\.\\n/);
	});

	it("never folds its own unit or what comes after it", async () => {
		const acp = await openAcp({ seed: work(2) });
		const result = await acp.call("compress", { content: [range("m4", "m7")] });
		expect(textIn(result)).toContain("m00006 stays: the last user message; m00007 stays: the call in progress");
		expect(foldedIn(acp)).toEqual(["b1 4-5"]);
	});

	it.each<[string, Record<string, unknown>]>([
		["one range as an object", { content: range("m2", "m3") }],
		["JSON text", { content: JSON.stringify([range("m2", "m3")]) }],
		["JSON in a code fence", { content: `\`\`\`json\n${JSON.stringify(range("m2", "m3"))}\n\`\`\`` }],
		["the range itself", { ...range("m2", "m3") }],
		["other names for refs", { content: [{ start: "M2", endRef: "m00003", summary: said("What was found.") }] }],
	])("reads %s", async (_form, args) => {
		const acp = await openAcp({ seed: work(2) });
		expect(await acp.call("compress", args)).toMatchObject({ isError: false });
		expect(foldedIn(acp)).toEqual(["b1 2-3"]);
	});

	it("applies what is whole of damaged text and names what is lost", async () => {
		const acp = await openAcp({ seed: work(2) });
		const whole = JSON.stringify(range("m2", "m3"));
		const result = await acp.call("compress", { content: `[${whole}, {"startId": "m4", "endId": "m5", "summ` });
		expect(result.isError).toBe(false);
		expect(textIn(result)).toMatch(/^Folded:\nb1 = m00002-m00003 .*\nLost: .*m4/);
		expect(foldedIn(acp)).toEqual(["b1 2-3"]);
	});

	it.each<[string, Record<string, unknown>]>([
		["no arguments", {}],
		["an empty list", { content: [] }],
		["text that is no list", { content: "fold everything" }],
	])("refuses %s and says what can be folded", async (_form, args) => {
		const acp = await openAcp({ seed: work(2) });
		const result = await acp.call("compress", args);
		expect(result.isError).toBe(true);
		expect(textIn(result)).toMatch(/Can be folded now: m00001-m00005 \(\d\.\dK\)\.$/);
		expect(operationsIn(acp.branch())).toEqual([]);
	});

	it("is refused once it was aborted", async () => {
		const acp = await openAcp({ seed: work(2) });
		const result = await acp.execute("compress", { content: [range("m2", "m3")] }, AbortSignal.abort());
		expect(result).toMatchObject({ isError: true, details: undefined });
		expect(textIn(result)).toBe("The call was aborted; nothing changed. Go on with your task.");
	});
});

describe("two compress calls in one message", () => {
	async function callTwice(first: object, second: object) {
		const acp = await openAcp({ seed: work(4) });
		const calls = [first, second].map((args) => ({ name: "compress", arguments: { content: [args] } }));
		acp.replies({ toolCalls: calls });
		await acp.prompt("Fold");
		return { acp, texts: resultsIn(acp.branch()).slice(-2).map(textIn) };
	}

	it("are numbered one after the other and both hold", async () => {
		const { acp, texts } = await callTwice(range("m2", "m3"), range("m6", "m9"));
		expect(texts).toEqual([
			expect.stringContaining("b1 = m00002-m00003"),
			expect.stringContaining("b2 = m00006-m00009"),
		]);
		expect(foldedIn(acp)).toEqual(["b1 2-3", "b2 6-9"]);
		expect(blocksIn(acp.requests.at(-1))).toEqual(["b1", "b2"]);
		expectWholePairs(acp.requests.at(-1));
	});

	it("see each other: the second cannot fold again what the first folded", async () => {
		const { acp, texts } = await callTwice(range("m2", "m5"), range("m2", "m3"));
		expect(texts[1]).toContain("Refused: m00002-m00003 is already folded in b1.");
		expect(blocksIn(acp.requests.at(-1))).toEqual(["b1"]);
	});

	it("may nest: the second folds the first one's block into a larger one", async () => {
		const { acp, texts } = await callTwice(range("m2", "m3"), range("b1", "m7"));
		expect(texts[1]).toContain("b2 = m00002-m00007");
		expect(blocksIn(acp.requests.at(-1))).toEqual(["b2"]);
	});
});
