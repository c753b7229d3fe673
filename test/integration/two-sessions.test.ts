import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AcpSession, bareAcp, closeAcp, openAcp, operationsIn, range, textIn, work } from "../support/acp.ts";
import { createHome } from "../support/home.ts";
import { blocksIn, expectGrowth, hasNudge, outline } from "../support/wire.ts";

let one: AcpSession;
let other: AcpSession;

/** Two sessions in one process, each with its own home and settings. */
beforeEach(async () => {
	one = await openAcp({ seed: work(3) });
	other = await openAcp({ seed: work(3), acp: { ...bareAcp, protectedTools: ["read"], modelContextLimit: 50_000 } });
});
afterEach(closeAcp);

const fold = { content: [range("m2", "m3")] };

describe("two sessions that take turns in one process", () => {
	it("have their own folds", async () => {
		await one.prompt("hello");
		await other.prompt("hello");
		await one.call("compress", fold);
		await other.prompt("again");
		await one.prompt("again");
		expect(outline(one.requests.at(-1)).slice(1, 4)).toEqual(["user m00001", "b1", "assistant"]);
		for (const request of other.requests) expect(blocksIn(request)).toEqual([]);
		expectGrowth(other.requests);
		expectGrowth(one.requests.slice(2));
		expect(operationsIn(other.branch())).toEqual([]);
	});

	it("have their own settings", async () => {
		expect(await one.call("compress", fold)).toMatchObject({ isError: false });
		const result = await other.call("compress", fold);
		expect(textIn(result)).toContain("a protected tool");
		expect(textIn(await one.execute("acp_status", {}))).toContain(" of 191.8K tokens");
		expect(textIn(await other.execute("acp_status", {}))).toContain(" of 41.8K tokens");
		expect(await one.call("compress", { content: [range("m4", "m5")] })).toMatchObject({ isError: false });
	});

	it("have the settings of their own projects, as these say now", async () => {
		const inProject = async (settings: object) => {
			const home = createHome();
			mkdirSync(join(home.cwd, ".pi"));
			writeFileSync(join(home.cwd, ".pi", "acp.json"), JSON.stringify(settings));
			return openAcp({ home, seed: work(3) });
		};
		const guarded = await inProject({ protectedTools: ["read"] });
		const recent = await inProject({ preserveRecentMessages: 1_000, neverPreserveRecentTools: [] });
		const says = async (acp: AcpSession) => textIn(await acp.call("compress", fold));
		expect(await says(guarded)).toContain("a protected tool");
		expect(await says(recent)).not.toMatch(/protected tool|b1 = /);
		expect(await says(guarded)).toContain("a protected tool");
		expect(await says(one)).toContain("b1 = ");
		writeFileSync(join(guarded.home.cwd, ".pi", "acp.json"), "{  }");
		expect(await says(guarded)).toContain("b1 = ");
		expect(await says(recent)).not.toMatch(/protected tool|b1 = /);
	});

	it("have their own log files and sidecars", async () => {
		await one.call("compress", fold);
		await other.call("compress", fold);
		const ids = [one, other].map((acp) => acp.session.sessionId);
		const [first, second] = [await one.logText(), await other.logText()];
		expect(first).toContain(ids[0]);
		expect(first).not.toContain(ids[1]);
		expect(second).toContain("refused=");
		expect(first).not.toContain("refused=");
		expect(readFileSync(`${one.sessionFile}.acp.json`, "utf8")).toContain('"b1"');
		expect(existsSync(`${other.sessionFile}.acp.json`)).toBe(false);
	});

	it("run at the same time without mixing", async () => {
		const large = { compress: { keepTokens: 1_000, stepTokens: 1_000 } };
		const nudged = await openAcp({ seed: work(5), acp: { ...bareAcp, ...large } });
		await Promise.all([one.call("compress", fold), nudged.prompt("hello"), other.prompt("hello")]);
		expect(nudged.requests.map(hasNudge)).toEqual([true]);
		expect([...one.requests, ...other.requests].some(hasNudge)).toBe(false);
		expect(operationsIn(nudged.branch())).toMatchObject([{ kind: "nudge" }]);
		expect(operationsIn(one.branch())).toMatchObject([{ kind: "fold" }]);
		expect(operationsIn(other.branch())).toEqual([]);
	});

	it("may be two on one log: each goes on from what the file held when it was opened", async () => {
		await one.call("compress", fold);
		const { home, sessionFile } = one;
		const twin = await openAcp({ home, sessionFile });
		await twin.prompt("hello");
		await one.prompt("hello");
		expect([one, twin].map((acp) => blocksIn(acp.requests.at(-1)))).toEqual([["b1"], ["b1"]]);
	});
});
