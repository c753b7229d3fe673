import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { bareAcp, closeAcp, openAcp, range, work } from "../../support/acp.ts";
import { hasNudge } from "../../support/wire.ts";

beforeEach(() => {
	vi.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(async () => {
	vi.restoreAllMocks();
	await closeAcp();
});

it("each request is a line in the log: its size by the meter, the window, and why it was nudged or not", async () => {
	const acp = await openAcp({ seed: work(4), acp: { ...bareAcp, compress: { keepTokens: 1_000, stepTokens: 6_000 } } });
	await acp.prompt("hello");
	await acp.prompt("again");
	const lines = (await acp.logText()).split("\n").filter((line) => line.includes("[context]"));
	const fields = String.raw`sizeTokens=\d+ errorTokens=\d+ usableTokens=191808 source=model blocks=0`;
	expect(acp.requests.map(hasNudge)).toEqual([true, false]);
	const figures = String.raw`unfoldedTokens=\d+ offeredTokens=\d+`;
	expect(lines).toEqual([
		expect.stringMatching(
			new RegExp(`\\[info\\] \\[context\\] ${fields} nudge=soft why=new ${figures} dueTokens=3000$`),
		),
		expect.stringMatching(
			new RegExp(
				`\\[info\\] \\[context\\] ${fields} nudge=none why="grown little" ${figures} grownTokens=\\d+ dueTokens=4500$`,
			),
		),
	]);
});

it("each fold and each refusal is a line in the log, without what was said", async () => {
	const acp = await openAcp({ seed: work(4) });
	const secret =
		"a summary that nobody but the model needs to see: the parser of the file reads one line after the other";
	await acp.call("compress", { content: [range("m2", "m3", secret)] });
	await acp.call("compress", { content: [range("m2", "m3", secret)] });
	const log = await acp.logText();
	expect(log).toMatch(/\[info\] \[compress\] ranges=1 beforeTokens=\d+ afterTokens=\d+\n/);
	expect(log).toMatch(/\[info\] \[compress\] refused="/);
	expect(log).not.toContain("nobody but the model");
	for (const value of log.matchAll(/="((?:[^"\\]|\\.)*)"/g)) expect(value[1]?.length).toBeLessThanOrEqual(90);
});

it("where we stand down, the line says who manages the context", async () => {
	vi.stubEnv("BILLION_CONTEXT_PROXY", "1");
	const acp = await openAcp({ seed: work(1) });
	await acp.prompt("hello");
	vi.unstubAllEnvs();
	expect(await acp.logText()).toMatch(/\[context\] .* owner="a proxy's" nudge=none why=inactive /);
});
