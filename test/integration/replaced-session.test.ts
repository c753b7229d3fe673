import { readFileSync } from "node:fs";
import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import piBillionContext from "../../src/index.ts";
import { type AcpSession, callOfEach, closeAcp, openAcp, operationsIn, range, textIn, work } from "../support/acp.ts";
import { expectGrowth } from "../support/wire.ts";

beforeEach(() => {
	vi.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(async () => {
	vi.restoreAllMocks();
	await closeAcp();
});

/** A tool that does to the session what Pi does when the user opens another one. */
const replacing: { acp?: AcpSession } = {};
const replace: ExtensionFactory = (pi) => {
	pi.registerTool({
		name: "replace",
		label: "Replace",
		description: "Replaces the session.",
		parameters: { type: "object", properties: {} },
		execute: async () => {
			replacing.acp?.session.dispose();
			return { content: [{ type: "text", text: "replaced" }], details: {} };
		},
	});
};

describe("a session that was replaced", () => {
	it.each(callOfEach)("refuses a call of %s that comes too late, and throws nothing", async (name, args) => {
		const acp = await openAcp({ seed: work(2) });
		acp.session.dispose();
		const result = await acp.execute(name, args);
		expect(result).toMatchObject({ isError: true, details: undefined });
		expect(textIn(result)).toMatch(/^Something went wrong inside the extension; nothing changed\./);
	});

	it("finishes a call that was under way", async () => {
		const acp = await openAcp({ seed: work(2) });
		vi.stubEnv("TMPDIR", acp.home.tmpDir);
		const writing = acp.execute("decompress", { id: "m3", to: "file" });
		acp.session.dispose();
		vi.unstubAllEnvs();
		const path = / are in (.+)$/.exec(textIn(await writing))?.[1] ?? "";
		expect(readFileSync(path, "utf8")).toContain("needle1");
	});

	it("throws in no hook that is still run", async () => {
		const acp = await openAcp({ seed: work(2) });
		const { extensionRunner, messages } = acp.session;
		acp.session.dispose();
		const list = [...messages];
		expect(await extensionRunner.emitContext(list)).toEqual(list);
		await extensionRunner.emit({ type: "session_start", reason: "resume" });
		await extensionRunner.emit({ type: "session_shutdown", reason: "quit" });
		expect(acp.extensionErrors).toEqual([]);
	});

	it("in the middle of a message takes its other calls with it, and folds nothing", async () => {
		const acp = await openAcp({ seed: work(2), extensions: [replace, piBillionContext] });
		replacing.acp = acp;
		const args = { content: [range("m2", "m3")] };
		acp.replies({
			toolCalls: [
				{ name: "replace", arguments: {} },
				{ name: "compress", arguments: args },
			],
		});
		await acp.prompt("Replace, then fold").catch((error: unknown) => expect(String(error)).toMatch(/stale|abort/i));
		expect(operationsIn(acp.branch())).toEqual([]);
		expect(acp.extensionErrors.filter(({ error }) => error.includes("stale"))).toEqual([]);
	});

	it("goes on in the next one that is opened on its log", async () => {
		const first = await openAcp({ seed: work(3) });
		await first.call("compress", { content: [range("m2", "m3")] });
		first.session.dispose();
		const { home, sessionFile } = first;
		const second = await openAcp({ home, sessionFile });
		await second.prompt("hello");
		expectGrowth([...first.requests.slice(-1), ...second.requests]);
	});
});
