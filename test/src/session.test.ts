import { existsSync, readFileSync, statSync } from "node:fs";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { wordsOf } from "../../kernel/index.ts";
import { createSessions, type Sessions } from "../../src/session.ts";
import { compressParameters } from "../../src/tools/compress-parameters.ts";
import { type AcpOptions, type AcpSession, bareAcp, closeAcp, openAcp, work, writeAcp } from "../support/acp.ts";

let stderr: { mock: { calls: unknown[][] } };

beforeEach(() => {
	stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(async () => {
	vi.restoreAllMocks();
	await closeAcp();
});

/** Sessions in a real session that we take no other part in. */
async function open(options: AcpOptions = {}) {
	const given: { pi?: ExtensionAPI } = {};
	const acp = await openAcp({ ...options, extensions: [(pi) => void Object.assign(given, { pi })] });
	const { pi } = given;
	if (pi === undefined) throw new Error("the extension was not loaded");
	const ctx = acp.session.extensionRunner.createContext();
	return { acp, pi, ctx, sessions: createSessions(pi) };
}

const compress = {
	...{ name: "compress", label: "C", description: "C", parameters: compressParameters(wordsOf()) },
	execute: async () => ({ content: [], details: {} }),
};

/** What a log file of a session holds, once it is written. */
async function logText({ home }: AcpSession, sessions: Sessions, ctx: ExtensionContext): Promise<string> {
	await sessions.at(ctx).session.log.flush();
	return readFileSync(`${home.path}/.pi/acp.log`, "utf8");
}

describe("a moment of a session", () => {
	it("is that of the same session each time, at its present leaf", async () => {
		const { acp, ctx, sessions } = await open({ seed: work(1) });
		const first = sessions.at(ctx);
		expect(first.branch.lastOrdinal).toBe(3);
		acp.session.sessionManager.appendCustomMessageEntry("note", "more", false);
		const second = sessions.at(ctx);
		expect(second.session).toBe(first.session);
		expect([first.branch.lastOrdinal, second.branch.lastOrdinal]).toEqual([3, 4]);
	});

	it("knows the window that requests have to fit into", async () => {
		const models = [{ contextWindow: 100_000, maxTokens: 8_000 }];
		const { acp, ctx, sessions } = await open({ models });
		expect(sessions.at(ctx).context.window).toEqual({ limitTokens: 100_000, usableTokens: 92_000, source: "model" });
		writeAcp(acp.home, { ...bareAcp, modelContextLimit: 20_000, outputHeadroomMaxPct: 0.1 });
		expect(sessions.at(ctx).context.window).toEqual({ limitTokens: 20_000, usableTokens: 18_000, source: "settings" });
	});

	it("has the pace of a smaller window under compress.maxContextLimit, and cuts at the same size as without it", async () => {
		const compress = { keepTokens: 16_000, stepTokens: 8_000 };
		const { acp, ctx, sessions } = await open({ acp: { ...bareAcp, compress } });
		const before = sessions.at(ctx);
		writeAcp(acp.home, { ...bareAcp, compress: { ...compress, maxContextLimit: "32K" } });
		const after = sessions.at(ctx);
		expect(before.context.settings.compress).toMatchObject(compress);
		expect(after.context.settings.compress).toMatchObject({ keepTokens: 4_000, stepTokens: 2_000 });
		expect(after.context.window).toEqual(before.context.window);
		expect(after.emergencyTokens).toBe(before.emergencyTokens);
	});

	it("says whether we fold: not beside another's compress, only if enabled, and active only in the loadout", async () => {
		const { acp, pi, ctx, sessions } = await open();
		const fold = () => {
			const { mayFold, context } = sessions.at(ctx);
			return { mayFold, isActive: context.isActive };
		};
		expect(fold()).toEqual({ mayFold: true, isActive: false });
		pi.registerTool(compress);
		expect(fold()).toEqual({ mayFold: true, isActive: true });
		acp.session.setActiveToolsByName(["read"]);
		expect(fold()).toEqual({ mayFold: true, isActive: false });
		acp.session.setActiveToolsByName(["compress"]);
		writeAcp(acp.home, { enabled: false });
		expect(fold()).toEqual({ mayFold: false, isActive: false });
		writeAcp(acp.home, bareAcp);
		pi.registerTool({ ...compress, parameters: { ...compress.parameters } });
		expect(fold()).toEqual({ mayFold: false, isActive: false });
	});
});

describe("sessions", () => {
	it("commit an operation to the log and go on from there", async () => {
		const { acp, ctx, sessions } = await open({ seed: work(1) });
		const moment = sessions.commit(ctx, { kind: "nudge", sizeTokens: 77 });
		expect(moment.branch.state.baseTokens).toBe(77);
		expect(acp.branch().at(-1)).toMatchObject({
			type: "custom",
			customType: "acp-operation",
			data: { acp: 1, op: { kind: "nudge", sizeTokens: 77 } },
		});
	});

	it("tell the user something once, and keep it in the log", async () => {
		const { acp, ctx, sessions } = await open();
		for (let round = 0; round < 3; round++) sessions.notice(sessions.at(ctx), "mind the gap", "warning");
		sessions.notice(sessions.at(ctx), "and the doors", "info");
		expect(stderr.mock.calls).toEqual([["mind the gap\n"], ["and the doors\n"]]);
		const text = await logText(acp, sessions, ctx);
		expect(text.match(/\[warn\] \[notice\] text=/g)).toHaveLength(2);
	});

	it("put a failure into the log, with its stack", async () => {
		const { acp, ctx, sessions } = await open();
		sessions.at(ctx);
		sessions.report("somewhere", new TypeError("odd"));
		sessions.report("elsewhere", "just text");
		const text = await logText(acp, sessions, ctx);
		expect(text).toMatch(/\[error\] \[somewhere\] message="TypeError: odd" stack="TypeError: odd\\n +at /);
		expect(text).toMatch(/\[error\] \[elsewhere\] message="just text"\n/);
		expect(stderr.mock.calls).toEqual([]);
	});

	it("put a failure on the error stream while there is no log", async () => {
		const { sessions } = await open();
		sessions.report("somewhere", new Error("early"));
		expect(stderr.mock.calls).toEqual([["pi-billion-context: somewhere: Error: early\n"]]);
	});
});

describe("the sidecar of a session", () => {
	const block = {
		number: 1,
		tier: 1,
		summary: "sum",
		text: '<acp-block id="b1">sum</acp-block>',
		spans: [{ fromId: "?", from: 2, toId: "?", to: 3 }],
		children: [],
		messages: 2,
		sizeTokens: 2_000,
	};
	const fold = { kind: "fold", author: "model", blocks: [block], reductions: [], sizeTokens: 100 } as const;

	it("is written once something was folded", async () => {
		const { acp, ctx, sessions } = await open({ seed: work(1) });
		const path = `${acp.sessionFile}.acp.json`;
		await sessions.saveSidecar(sessions.commit(ctx, { kind: "nudge", sizeTokens: 5 }));
		expect(existsSync(path)).toBe(false);
		await sessions.saveSidecar(sessions.commit(ctx, fold));
		expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ blocks: [{ blockId: "b1", summary: "sum" }] });
	});

	it("is left alone while nothing more was folded", async () => {
		const { acp, ctx, pi, sessions } = await open({ seed: work(1) });
		const path = `${acp.sessionFile}.acp.json`;
		await sessions.saveSidecar(sessions.commit(ctx, fold));
		const { mtimeNs } = statSync(path, { bigint: true });
		await sessions.saveSidecar(sessions.at(ctx));
		await sessions.saveSidecar(sessions.commit(ctx, { kind: "nudge", sizeTokens: 5 }));
		await createSessions(pi).saveSidecar(sessions.at(ctx));
		expect(statSync(path, { bigint: true }).mtimeNs).toBe(mtimeNs);
	});

	it("does not exist for a session in memory", async () => {
		const { acp, ctx, sessions } = await open({ inMemory: true });
		work(1)(acp.session.sessionManager);
		const moment = sessions.commit(ctx, fold);
		expect(moment.branch.state.blocks.size).toBe(1);
		await sessions.saveSidecar(moment);
		expect(existsSync(`${acp.sessionFile}.acp.json`)).toBe(false);
		expect(existsSync("undefined.acp.json")).toBe(false);
	});

	it("that cannot be written is one line in the log", async () => {
		const { acp, ctx, sessions } = await open({ seed: work(1) });
		vi.spyOn(acp.session.sessionManager, "getSessionFile").mockReturnValue(`${acp.sessionFile}/no/folder`);
		await sessions.saveSidecar(sessions.commit(ctx, fold));
		await sessions.saveSidecar(sessions.commit(ctx, { kind: "nudge", sizeTokens: 5 }));
		expect((await logText(acp, sessions, ctx)).match(/\[warn\] \[sidecar\] problem="/g)).toHaveLength(1);
	});
});
