import { afterEach, beforeEach, expect, it } from "vitest";
import { type AcpSession, closeAcp, openAcp, range, textIn, work } from "../../support/acp.ts";

let acp: AcpSession;

/** A session in which m2 to m5 are folded as b1; m6 and m7 are not. */
beforeEach(async () => {
	acp = await openAcp({ seed: work(3) });
	await acp.call("compress", { content: [range("m2", "m5", "The umlauts are lost in the lexer.")] });
});
afterEach(closeAcp);

const search = (args: Record<string, unknown>) => acp.execute("search_context", args);

it("finds words in folded messages and says how to open them", async () => {
	const result = await acp.call("search_context", { query: "needle2" });
	expect(result.isError).toBe(false);
	expect(textIn(result)).toMatch(/^m00005 \(b1\): needle2 The parser .*…\ndecompress\(/);
});

it("finds words in the summaries of blocks", async () => {
	expect(textIn(await search({ query: "UMLAUTS" }))).toMatch(/^b1 \(m00002-m00005\): .*umlauts are lost/);
});

it("finds nothing in what was never folded, and says what to try", async () => {
	const result = await search({ query: "needle3" });
	expect(result.isError).not.toBe(true);
	expect(textIn(result)).toMatch(/^Nothing folded holds these words\./);
});

it("gives as many hits as are asked for", async () => {
	const lines = async (limit: number) => textIn(await search({ query: "parser lexer", limit })).split("\n").length - 1;
	expect([await lines(1), await lines(2), await lines(50)]).toEqual([1, 2, 3]);
	expect([await lines(-1), await lines(0), await lines(1e9)]).toEqual([1, 1, 3]);
});

it.each(["", " \n"])("refuses a query without words: %j", async (query) => {
	const result = await search({ query });
	expect(result).toMatchObject({ isError: true });
	expect(textIn(result)).toMatch(/^The query is empty\. /);
});
