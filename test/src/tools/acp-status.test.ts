import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AcpSession, closeAcp, openAcp, range, textIn, work } from "../../support/acp.ts";

let acp: AcpSession;

beforeEach(async () => {
	acp = await openAcp({ seed: work(5) });
});
afterEach(closeAcp);

const status = async (args: Record<string, unknown> = {}) => textIn(await acp.execute("acp_status", args));

const foldTwo = () => acp.call("compress", { content: [{ ...range("m2", "m3"), topic: "lexer" }, range("m6", "m7")] });

describe("the status", () => {
	it("says how full the context is and what can be folded, if nothing else is asked", async () => {
		expect(await status()).toMatch(
			/^The view holds \d+\.\dK \(±\d+\.\dK\) of 191\.8K tokens\.\nNothing is folded\.\nCan be folded now: m00002-m00011 \(\d+\.\dK\)\.$/,
		);
		expect(await status({ view: "overview" })).toBe(await status());
	});

	it("counts the blocks and what they stand for", async () => {
		await foldTwo();
		expect(await status()).toMatch(/\n2 blocks stand for \d\.\dK tokens in \d+\.\n/);
	});

	it("takes a limit that is too small for the smallest", async () => {
		const least = await status({ view: "messages", limit: 1 });
		expect(least).toMatch(/^\(\d+ earlier ones left out; ask with a larger limit\)\n[^\n]+$/);
		for (const limit of [0, -5]) expect(await status({ view: "messages", limit })).toBe(least);
	});

	it("lists the blocks", async () => {
		expect(await status({ view: "blocks" })).toBe("There are no blocks.");
		await foldTwo();
		const [first, second] = (await status({ view: "blocks" })).split("\n");
		expect(first).toMatch(/^b1 tier 1, m00002-m00003, 2 messages, \d\.\dK → \d+ tokens: lexer$/);
		expect(second).toMatch(/^b2 tier 1, m00006-m00007, 2 messages, /);
	});

	it("lists the ranges that can be folded, each of which compress takes", async () => {
		await foldTwo();
		const lines = (await status({ view: "ranges" })).split("\n");
		expect(lines).toEqual([
			expect.stringMatching(/^m00004-m00005, 2 messages, .* tokens: read$/),
			expect.stringMatching(/^m00008-m00011, 4 messages, .* tokens: read$/),
		]);
		const [start = "", end = ""] = lines.map((line) => /^m\d+/.exec(line)?.[0]);
		const result = await acp.call("compress", { content: [range(start, start), range(end, end)] });
		expect(textIn(result)).not.toContain("Refused");
	});

	it("lists the messages and why they stay", async () => {
		await foldTwo();
		const lines = (await status({ view: "messages" })).split("\n");
		expect(lines.map((line) => line.split(" ")[0])).toEqual([
			...["m00001", "b1", "m00004-m00005", "b2", "m00008-m00009", "m00010-m00011", "m00012", "m00013-m00014", "m00015"],
		]);
		expect(lines[6]).toMatch(/user Call compress \(stays: the last user message\)$/);
	});

	it("keeps the end of a long list and says what is left out", async () => {
		const lines = (await status({ view: "messages", limit: 2 })).split("\n");
		expect(lines).toEqual([expect.stringContaining("4 earlier ones"), expect.any(String), expect.any(String)]);
		expect(lines[2]).toContain("m00010-m00011");
	});

	it("reaches the model as a plain result that holds no operation", async () => {
		const result = await acp.call("acp_status", { view: "blocks" });
		expect(result).toMatchObject({ isError: false, content: [{ type: "text", text: "There are no blocks." }] });
		expect(result.details).toBeUndefined();
	});
});
