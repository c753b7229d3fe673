import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { defaultSettings } from "../../../kernel/index.ts";
import piBillionContext from "../../../src/index.ts";
import { type AcpOptions, bareAcp, closeAcp, openAcp, rival, work, writeAcp } from "../../support/acp.ts";
import { said } from "../../support/log.ts";
import { systemText } from "../../support/wire.ts";

let stderr: { mock: { calls: unknown[][] } };

beforeEach(() => {
	stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(async () => {
	vi.restoreAllMocks();
	await closeAcp();
});

const section = `<context_folding>\n${defaultSettings.words.section}\n</context_folding>`;

describe("the section of the system prompt", () => {
	it("is there from the first request on and never changes", async () => {
		const acp = await openAcp({ seed: work(3) });
		await acp.prompt("hello");
		await acp.call("compress", { content: [{ startId: "m2", endId: "m5", summary: said("What was found.") }] });
		await acp.prompt("again");
		const texts = acp.requests.map(systemText);
		expect(texts[0]).toContain(section);
		expect(new Set(texts).size).toBe(1);
	});

	it("is there in a session whose extensions were never started", async () => {
		const acp = await openAcp({ bind: false });
		await acp.prompt("hello");
		expect(systemText(acp.requests[0])).toContain(section);
	});

	it.each<[string, AcpOptions]>([
		["folding is switched off", { acp: { enabled: false } }],
		["compress is not in the loadout", { sessionOptions: { tools: ["read"] } }],
		["compress is another extension's", { extensions: [rival, piBillionContext] }],
	])("is not there where %s", async (_state, options) => {
		const acp = await openAcp(options);
		await acp.prompt("hello");
		expect(systemText(acp.requests[0])).not.toContain("context_folding");
	});

	it("goes when folding is switched off and comes back with it", async () => {
		const acp = await openAcp();
		for (const enabled of [true, false, true]) {
			writeAcp(acp.home, { ...bareAcp, enabled });
			await acp.prompt("hello");
		}
		expect(acp.requests.map((request) => systemText(request).includes(section))).toEqual([true, false, true]);
	});
});

describe("standing down", () => {
	it("is said once a session", async () => {
		const acp = await openAcp({ extensions: [rival, piBillionContext] });
		await acp.prompt("hello");
		await acp.prompt("again");
		expect(stderr.mock.calls).toEqual([[expect.stringMatching(/^pi-billion-context stands down: another extension /)]]);
		expect((await acp.logText()).match(/\[warn\] \[notice\] text="pi-billion-context stands down/g)).toHaveLength(1);
	});

	it("is not said where folding is switched off anyway", async () => {
		const acp = await openAcp({ extensions: [rival, piBillionContext], acp: { enabled: false } });
		await acp.prompt("hello");
		expect(stderr.mock.calls).toEqual([]);
	});
});
