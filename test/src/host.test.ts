import type { ExtensionAPI, ExtensionContext, ExtensionUIContext } from "@earendil-works/pi-coding-agent";
import { afterEach, describe, expect, it, vi } from "vitest";
import { compressOwner, hostOf } from "../../src/host.ts";
import { type AcpOptions, type AcpSession, closeAcp, openAcp, work } from "../support/acp.ts";

afterEach(async () => {
	vi.restoreAllMocks();
	await closeAcp();
});

/** A real session without us, and what an extension in it is given. */
async function open(options: AcpOptions = {}): Promise<{ acp: AcpSession; pi: ExtensionAPI; ctx: ExtensionContext }> {
	const given: { pi?: ExtensionAPI } = {};
	const acp = await openAcp({ ...options, extensions: [(pi) => void Object.assign(given, { pi })] });
	if (given.pi === undefined) throw new Error("the extension was not loaded");
	return { acp, pi: given.pi, ctx: acp.session.extensionRunner.createContext() };
}

describe("the host", () => {
	it("is what Pi's context says, at that moment", async () => {
		const { acp, ctx } = await open({ seed: work(1), models: [{ contextWindow: 64_000, maxTokens: 4_000 }] });
		const host = hostOf(ctx);
		expect(host).toMatchObject({
			sessionId: acp.session.sessionId,
			sessionFile: acp.sessionFile,
			cwd: acp.home.cwd,
			leafId: acp.branch().at(-1)?.id,
			model: { provider: "loopback", id: "scripted-1", windowTokens: 64_000, answerMaxTokens: 4_000 },
		});
		expect(host.isProjectTrusted()).toBe(ctx.isProjectTrusted());
		acp.session.sessionManager.appendCustomEntry("x");
		expect(hostOf(ctx).leafId).not.toBe(host.leafId);
	});

	it("has no session file for a session in memory", async () => {
		const { ctx } = await open({ inMemory: true });
		expect(hostOf(ctx)).toMatchObject({ sessionFile: undefined, sessionId: expect.any(String) });
	});

	it("reads entries by id, those of other branches as well", async () => {
		const { acp, ctx } = await open({ seed: work(1) });
		const [first, , last] = acp.branch();
		if (first === undefined || last === undefined) throw new Error("the seed is shorter than thought");
		acp.session.sessionManager.branch(first.id);
		expect(hostOf(ctx).entry(last.id)).toMatchObject({ id: last.id, parentId: last.parentId });
		expect(hostOf(ctx).entry("nowhere")).toBeUndefined();
	});

	it("knows no limits of a model that declares none, and no model where there is none", async () => {
		const { acp, ctx } = await open();
		const { model } = acp.session;
		if (model === undefined) throw new Error("there is no model");
		vi.spyOn(acp.session, "model", "get").mockReturnValue({ ...model, contextWindow: 0, maxTokens: 0 });
		expect(hostOf(ctx).model).toMatchObject({ windowTokens: undefined, answerMaxTokens: undefined });
		vi.spyOn(acp.session, "model", "get").mockReturnValue(undefined);
		expect(hostOf(ctx).model).toBeUndefined();
	});

	it("knows how the model in use counts", async () => {
		const { acp, ctx } = await open({ models: [{ input: ["text"] }] });
		expect(hostOf(ctx).model).toMatchObject({ key: "loopback/scripted-1", countsAnswer: true, takesImages: false });
		const { model } = acp.session;
		if (model === undefined) throw new Error("there is no model");
		const input: ("text" | "image")[] = ["text", "image"];
		const claude = { ...model, api: "anthropic-messages", input };
		vi.spyOn(acp.session, "model", "get").mockReturnValue(claude);
		expect(hostOf(ctx).model).toMatchObject({ countsAnswer: false, takesImages: true });
	});

	it("takes the window of the model that answered last where the one in use only sends requests on", async () => {
		const { acp, ctx } = await open();
		const { model } = acp.session;
		if (model === undefined) throw new Error("there is no model");
		const usage = vi.spyOn(acp.session, "getContextUsage");
		vi.spyOn(acp.session, "model", "get").mockReturnValue({ ...model, api: "pi-virtual", contextWindow: 9_000 });
		usage.mockReturnValue({ tokens: null, percent: null, contextWindow: 64_000 });
		expect(hostOf(ctx).model).toMatchObject({ key: undefined, windowTokens: 64_000 });
		usage.mockReturnValue(undefined);
		expect(hostOf(ctx).model).toMatchObject({ key: undefined, windowTokens: 9_000 });
	});

	it("throws once the session was replaced, as the context does", async () => {
		const { acp, ctx } = await open();
		acp.session.dispose();
		expect(() => hostOf(ctx)).toThrow(/stale/);
	});

	it("shows a text in the footer where there is one, and takes it away", async () => {
		const { acp, ctx } = await open();
		hostOf(ctx).setStatus("nobody sees this");
		const setStatus = vi.fn();
		const uiContext: Partial<ExtensionUIContext> = { setStatus };
		await acp.session.bindExtensions({ uiContext: uiContext as ExtensionUIContext });
		hostOf(ctx).setStatus("acp 1/2");
		hostOf(ctx).setStatus(undefined);
		expect(setStatus.mock.calls).toEqual([
			["acp", "acp 1/2"],
			["acp", undefined],
		]);
	});

	it("tells the user where there is a user interface, else on the error stream", async () => {
		const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
		const { acp, ctx } = await open();
		hostOf(ctx).notify("to the stream", "info");
		expect(stderr).toHaveBeenCalledExactlyOnceWith("to the stream\n");
		const notify = vi.fn();
		const uiContext: Partial<ExtensionUIContext> = { notify };
		await acp.session.bindExtensions({ uiContext: uiContext as ExtensionUIContext });
		hostOf(ctx).notify("to the user", "warning");
		expect(notify).toHaveBeenCalledExactlyOnceWith("to the user", "warning");
		expect(stderr).toHaveBeenCalledTimes(1);
	});
});

describe("the owner of compress", () => {
	const parameters = { type: "object" as const, properties: {} };
	const isOurs = (each: object) => each === parameters;
	const isAnother = (each: object) => each !== parameters;
	const tool = { label: "C", description: "C", execute: async () => ({ content: [], details: {} }) };

	it("is told by the parameters that the tool has", async () => {
		const { pi } = await open();
		pi.registerTool({ ...tool, name: "compress", parameters });
		expect(compressOwner(pi, isOurs)).toBe("ours");
		expect(compressOwner(pi, isAnother)).toBe("another extension's");
	});

	it("is ours, but not offered, where the loadout leaves the tool out", async () => {
		const { pi } = await open({ sessionOptions: { tools: ["read"] } });
		expect(compressOwner(pi, isOurs)).toBe("ours, not in the loadout");
		pi.registerTool({ ...tool, name: "compress", parameters });
		expect(compressOwner(pi, isOurs)).toBe("ours, not in the loadout");
	});

	it("is ours, but not offered, while the tool is switched off", async () => {
		const { acp, pi } = await open();
		pi.registerTool({ ...tool, name: "compress", parameters });
		acp.session.setActiveToolsByName(["read"]);
		expect(compressOwner(pi, isOurs)).toBe("ours, not in the loadout");
		expect(compressOwner(pi, isAnother)).toBe("another extension's");
	});
});
