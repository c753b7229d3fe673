import type { ExtensionUIContext } from "@earendil-works/pi-coding-agent";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import {
	type AcpOptions,
	type AcpSession,
	closeAcp,
	openAcp,
	openWithUi,
	operationsIn,
	range,
	textIn,
	work,
} from "../../support/acp.ts";
import { blocksIn, expectGrowth, outline } from "../../support/wire.ts";

let notify: ReturnType<typeof vi.fn<ExtensionUIContext["notify"]>>;

beforeEach(() => {
	notify = vi.fn();
});
afterEach(async () => {
	vi.restoreAllMocks();
	await closeAcp();
});

/** A session with a user interface. */
async function open(options: AcpOptions = {}): Promise<AcpSession> {
	return openWithUi(notify, { seed: work(4), ...options });
}

/** One in which m2 to m5 are folded. */
async function openFolded(): Promise<AcpSession> {
	const acp = await open();
	await acp.call("compress", { content: [range("m2", "m5")] });
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
		["/acp blocks of mine", { view: "blocks" }],
		["/acp messages", { view: "messages", limit: 40 }],
	])("%s shows what the model is told", async (command, args) => {
		const acp = await openFolded();
		expect(await shownBy(acp, command)).toBe(textIn(await acp.execute("acp_status", args)));
	});

	it.each(["/acp help", "/acp block", "/acp BLOCKS", "/acp constructor"])(
		"%s shows what it can do",
		async (command) => {
			const text = await shownBy(await open(), command);
			const commands = text?.split("\n").map((line) => line.slice(0, 20).trim());
			expect(commands).toEqual([
				...["/acp", "/acp blocks", "/acp ranges", "/acp messages"],
				...["/acp undo [b3]", "/acp redo", "/acp pin m00012", "/acp unpin m00012", "/acp handover"],
				...["/acp why", "/acp doctor"],
			]);
		},
	);

	it("asks no model and leaves nothing in the log", async () => {
		const acp = await open();
		const before = acp.branch();
		await acp.prompt("/acp");
		expect(acp.requests).toEqual([]);
		expect(acp.branch()).toEqual(before);
	});

	it("works while folding is switched off", async () => {
		const acp = await open({ acp: { enabled: false } });
		expect(await shownBy(acp, "/acp")).toMatch(/^The view holds \d/);
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
		expect(stderr.mock.calls).toEqual([[expect.stringMatching(/^The view holds \d.*\n$/s)]]);
	});

	it.each([
		["", ["overview", "blocks", "ranges", "messages", "undo", "redo", "pin", "unpin", "handover", "why", "doctor"]],
		["b", ["blocks"]],
		["un", ["undo", "unpin"]],
		["x", []],
	])("completes %j", async (prefix, expected) => {
		const { session } = await open();
		const completions = await session.extensionRunner.getCommand("acp")?.getArgumentCompletions?.(prefix);
		expect(completions?.map((item) => item.value)).toEqual(expected);
	});
});

describe("/acp undo and /acp redo", () => {
	it("take the last fold back and make it again, to the same bytes", async () => {
		const acp = await openFolded();
		expect(await shownBy(acp, "/acp undo")).toBe("Taken back: b1 (m00002-m00005) no longer folded.");
		await acp.prompt("hello");
		expect(blocksIn(acp.requests.at(-1))).toEqual([]);
		expect(await shownBy(acp, "/acp redo")).toBe("Done again: b1 (m00002-m00005) folded again.");
		await acp.prompt("again");
		expectGrowth([acp.requests[1], acp.requests[3]].flatMap((request) => request ?? []));
		expect(operationsIn(acp.branch())).toMatchObject([{ kind: "fold" }, { kind: "undo" }, { kind: "redo" }]);
		expect(await acp.logText()).toMatch(/\[info\] \[command\] kind=undo\n[\s\S]*\[info\] \[command\] kind=redo\n/);
	});

	it("open one block", async () => {
		const acp = await openFolded();
		await acp.call("compress", { content: [range("m6", "m7")] });
		expect(await shownBy(acp, "/acp undo b1")).toBe("Opened b1; back in view: m00002-m00005.");
		await acp.prompt("hello");
		expect(blocksIn(acp.requests.at(-1))).toEqual(["b2"]);
	});

	it.each([
		["/acp undo", /nothing/i],
		["/acp redo", /nothing/i],
		["/acp undo b7", /b7/],
		["/acp undo that", /"that" is not a ref/],
	])("say why not, and change nothing: %s", async (command, reason) => {
		const acp = await open();
		expect(await shownBy(acp, command)).toMatch(reason);
		expect(operationsIn(acp.branch())).toEqual([]);
	});
});

describe("/acp pin and /acp unpin", () => {
	it("keep a message in view, and let go of it again", async () => {
		const acp = await open();
		expect(await shownBy(acp, "/acp pin m3")).toMatch(/^m00003 stays in view/);
		expect(textIn(await acp.call("compress", { content: [range("m2", "m5")] }))).toMatch(/m00002-m00003 stays/);
		expect(outline(acp.requests.at(-1)).slice(1, 5)).toEqual(["user m00001", "assistant", "tool m00003", "b1"]);
		expect(await shownBy(acp, "/acp unpin m3")).toBe("m00003 may be folded again.");
		expect(textIn(await acp.call("compress", { content: [range("m2", "m3")] }))).toMatch(/^Folded:/);
	});

	it.each([
		["/acp pin", /not a ref/],
		["/acp pin b1", /not a ref/],
		["/acp pin m99", /m00099/],
		["/acp pin m2", /already folded in b1/],
	])("say why not, and change nothing: %s", async (command, reason) => {
		const acp = await openFolded();
		expect(await shownBy(acp, command)).toMatch(reason);
		expect(operationsIn(acp.branch())).toHaveLength(1);
	});
});
