import type { ExtensionUIContext } from "@earendil-works/pi-coding-agent";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type AcpOptions, type AcpSession, closeAcp, openAcp, range, textIn, work } from "../../support/acp.ts";

let notify: ReturnType<typeof vi.fn<ExtensionUIContext["notify"]>>;

beforeEach(() => {
	notify = vi.fn();
});
afterEach(async () => {
	vi.restoreAllMocks();
	await closeAcp();
});

/** A session with a user interface, in which m2 to m5 are folded. */
async function open(options: AcpOptions = {}): Promise<AcpSession> {
	const acp = await openAcp({ seed: work(4), bind: false, ...options });
	const uiContext: Partial<ExtensionUIContext> = { notify };
	await acp.session.bindExtensions({ uiContext: uiContext as ExtensionUIContext, mode: "tui" });
	return acp;
}

/** What a command shows the user. */
async function shownBy(acp: AcpSession, command: string): Promise<string | undefined> {
	notify.mockClear();
	await acp.prompt(command);
	expect(notify).toHaveBeenCalledExactlyOnceWith(expect.any(String), "info");
	return notify.mock.calls[0]?.[0];
}

describe("/acp", () => {
	it.each([
		["/acp", {}],
		["/acp overview", {}],
		["/acp   ranges ", { view: "ranges" }],
		["/acp blocks", { view: "blocks" }],
		["/acp messages", { view: "messages", limit: 40 }],
	])("%s shows what the model is told", async (command, args) => {
		const acp = await open();
		await acp.call("compress", { content: [range("m2", "m5")] });
		expect(await shownBy(acp, command)).toBe(textIn(await acp.execute("acp_status", args)));
	});

	it.each(["/acp help", "/acp block", "/acp blocks all"])("%s shows what it can do", async (command) => {
		const text = await shownBy(await open(), command);
		const commands = text?.split("\n").map((line) => /^\/acp( \w+)?(?= {2})/.exec(line)?.[0]);
		expect(commands).toEqual(["/acp", "/acp blocks", "/acp ranges", "/acp messages"]);
	});

	it("asks no model and leaves nothing in the log", async () => {
		const acp = await open();
		const before = acp.branch();
		await acp.prompt("/acp");
		expect(acp.requests).toEqual([]);
		expect(acp.branch()).toEqual(before);
	});

	it("works while folding is switched off", async () => {
		const acp = await open({ acp: { enabled: false } });
		expect(await shownBy(acp, "/acp")).toMatch(/^The view holds about /);
	});

	it("cuts a long list at its beginning", async () => {
		const acp = await open({ seed: work(60, 10) });
		const lines = (await shownBy(acp, "/acp messages"))?.split("\n");
		expect(lines).toHaveLength(41);
		expect(lines?.[0]).toMatch(/^\(21 earlier ones left out/);
		expect(lines?.at(-1)).toMatch(/^m00120-m00121 /);
	});

	it("writes to the error stream where there is no user interface", async () => {
		const stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
		const acp = await openAcp({ seed: work(1) });
		await acp.prompt("/acp");
		expect(stderr.mock.calls).toEqual([[expect.stringMatching(/^The view holds about .*\n$/s)]]);
	});

	it.each([
		["", ["overview", "blocks", "ranges", "messages"]],
		["b", ["blocks"]],
		["x", []],
	])("completes %j", async (prefix, expected) => {
		const { session } = await open();
		const completions = await session.extensionRunner.getCommand("acp")?.getArgumentCompletions?.(prefix);
		expect(completions?.map((item) => item.value)).toEqual(expected);
	});
});
