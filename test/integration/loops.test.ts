import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type AcpSession, closeAcp, openAcp, operationsIn, range, resultsIn, textIn, work } from "../support/acp.ts";
import { textOf } from "../support/wire.ts";

beforeEach(() => {
	vi.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(async () => {
	vi.restoreAllMocks();
	await closeAcp();
});

/** What the model is told for each of these calls, made in one turn. */
async function told(acp: AcpSession, ...calls: readonly [name: string, args: Record<string, unknown>][]) {
	const before = resultsIn(acp.branch()).length;
	for (const [name, args] of calls) acp.replies({ toolCalls: [{ name, arguments: args }] });
	await acp.prompt("Go on");
	return resultsIn(acp.branch()).slice(before).map(textIn);
}

const dead = ["compress", { content: [range("m00526", "m00530")] }] as [string, Record<string, unknown>];
const live = ["compress", { content: [range("m2", "m5")] }] as [string, Record<string, unknown>];

describe("a call that is refused again and again", () => {
	it("is told what is possible, then to stop; another one still works", async () => {
		const acp = await openAcp({ seed: work(5) });
		const [first, second, third, fourth] = await told(acp, dead, dead, dead, live);
		expect(first).toContain("m00526 does not exist");
		expect(first).not.toContain("11 messages");
		expect(second).toContain("m00526 does not exist");
		expect(second).toMatch(/\nm00001-m00011, 11 messages, [\d.]+K tokens: read$/);
		expect(third).toMatch(/^Stop: this call was refused 2 times before\. .*go on with your task\.\nm00001-m00011/);
		expect(fourth).toMatch(/^Folded:\nb1 = m00002-m00005/);
	});

	it("begins anew once the user says something, and a restart forgets nothing", async () => {
		const acp = await openAcp({ seed: work(5) });
		await told(acp, dead, dead);
		expect((await told(acp, dead))[0]).not.toContain("11 messages");
		await acp.dispose();
		const again = await openAcp({ home: acp.home, sessionFile: acp.sessionFile });
		expect(textIn(await again.execute(...dead))).toMatch(/\nm00001-m00011, 11 messages/);
	});

	it("adds no text to later requests", async () => {
		const acp = await openAcp({ seed: work(5) });
		const steps = Array.from({ length: 20 }, () => ["acp_status", {}] as [string, Record<string, unknown>]);
		await told(acp, dead, ...steps.slice(0, 3), live);
		for (const request of acp.requests) {
			expect(textOf(request.body.messages.at(-1))).not.toMatch(/^\[acp\]/);
		}
		expect(operationsIn(acp.branch())).toHaveLength(1);
	});

	it("is known again where Pi made its arguments fit the parameters", async () => {
		const acp = await openAcp({ seed: work(5) });
		const odd = ["compress", { content: 5 }] as [string, Record<string, unknown>];
		expect((await told(acp, odd, odd, odd))[2]).toMatch(/^Stop: /);
	});

	it("lists the blocks where one was to be opened", async () => {
		const acp = await openAcp({ seed: work(5) });
		await told(acp, live);
		const open = ["decompress", { id: "b9" }] as [string, Record<string, unknown>];
		const [, second, third] = await told(acp, open, open, open);
		expect(second).toMatch(/\nb1 tier 1, m00002-m00005/);
		expect(third).toMatch(/^Stop: /);
	});

	it("is only told to stop where there is nothing to list", async () => {
		const acp = await openAcp({ seed: work(1) });
		const search = ["search_context", { query: " " }] as [string, Record<string, unknown>];
		const [first, second, third] = await told(acp, search, search, search);
		expect(second).toBe(first);
		expect(third).toMatch(/^Stop: .*go on with your task\.(\n\n\[This was the third identical call.*\])?$/);
	});
});

describe("the status, asked for again and again", () => {
	it("is answered ever more briefly until something else was done", async () => {
		const acp = await openAcp({ seed: work(5) });
		const ask = (view?: string) =>
			["acp_status", view === undefined ? {} : { view }] as [string, Record<string, unknown>];
		const texts = await told(acp, ask(), ask("overview"), ask(), ask("blocks"), live, ask());
		expect(texts[0]).toMatch(/^The view holds .*\nNothing is folded\.\nCan be folded now: /);
		expect(texts[1]).toMatch(/^The view holds [^\n]*\nNothing else has changed\. Go on with your task\.$/);
		expect(texts[2]).toBe("Unchanged. Go on with your task.");
		expect(texts[3]).toBe("There are no blocks.");
		expect(texts[5]).toMatch(/^The view holds .*\n1 block stands for/);
	});
});

it("a text of the model that looks like our results changes nothing", async () => {
	const acp = await openAcp({ seed: work(5) });
	acp.replies({ text: "Folded:\nb1 = m00002-m00005 (4 messages, 5.0K → 300 tokens)\nGo on with your task." });
	await acp.prompt("Fold it");
	expect(operationsIn(acp.branch())).toEqual([]);
	expect((await told(acp, ["acp_status", { view: "blocks" }]))[0]).toBe("There are no blocks.");
});
