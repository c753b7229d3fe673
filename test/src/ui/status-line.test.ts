import type { ExtensionUIContext } from "@earendil-works/pi-coding-agent";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import piBillionContext from "../../../src/index.ts";
import {
	type AcpOptions,
	type AcpSession,
	bareAcp,
	closeAcp,
	openWithUi,
	range,
	rival,
	work,
	writeAcp,
} from "../../support/acp.ts";

let setStatus: ReturnType<typeof vi.fn<ExtensionUIContext["setStatus"]>>;
let notify: ReturnType<typeof vi.fn<ExtensionUIContext["notify"]>>;

beforeEach(() => {
	setStatus = vi.fn();
	notify = vi.fn();
});
afterEach(closeAcp);

async function open(options: AcpOptions = {}): Promise<AcpSession> {
	return openWithUi(notify, { seed: work(4), ...options }, setStatus);
}

/** What stands in the footer now. */
const shown = () => setStatus.mock.lastCall?.[1];

/** The figures of `/acp`. */
async function figures(acp: AcpSession): Promise<string> {
	await acp.prompt("/acp");
	const [, size, whole] = /^The view holds (\S+) .*of (\S+) tokens/.exec(notify.mock.lastCall?.[0] ?? "") ?? [];
	return `${size}/${whole}`;
}

describe("the status line", () => {
	it("shows from the start how full the context is, and what is folded", async () => {
		const acp = await open();
		expect(shown()).toBe(`acp ${await figures(acp)}`);
		await acp.call("compress", { content: [range("m2", "m3")] });
		expect(shown()).toBe(`acp ${await figures(acp)}, 1 block`);
		await acp.call("compress", { content: [range("m4", "m5")] });
		expect(shown()).toBe(`acp ${await figures(acp)}, 2 blocks`);
		expect(new Set(setStatus.mock.calls.map(([key]) => key))).toEqual(new Set(["acp"]));
	});

	it("follows a command, and a move in the tree", async () => {
		const acp = await open();
		await acp.call("compress", { content: [range("m2", "m9")] });
		expect(shown()).toContain("1 block");
		await acp.prompt("/acp undo");
		expect(shown()).toBe(`acp ${await figures(acp)}`);
		await acp.prompt("/acp redo");
		expect(shown()).toContain("1 block");
		const [first] = acp.branch();
		await acp.session.navigateTree(first?.id ?? "none");
		expect(shown()).toBe(`acp ${await figures(acp)}`);
		expect(shown()).not.toContain("block");
	});

	it("changes while a turn is at work", async () => {
		const acp = await open();
		const lines: unknown[] = [];
		acp.session.subscribe((event) => {
			if (event.type === "message_start") lines.push(shown());
		});
		acp.replies({ toolCalls: [{ name: "acp_status", arguments: {} }], usage: { promptTokens: 50_000 } });
		await acp.prompt("hello");
		expect(lines.at(-1)).toMatch(/^acp 50\.\dK\//);
	});

	it("is not there if the user does not want it, and goes away when that changes", async () => {
		const acp = await open({ acp: { ...bareAcp, ui: { statusLine: false } } });
		await acp.prompt("hello");
		expect(setStatus.mock.calls.filter(([, text]) => text !== undefined)).toEqual([]);
		writeAcp(acp.home, bareAcp);
		await acp.prompt("hello");
		expect(shown()).toMatch(/^acp /);
		writeAcp(acp.home, { ...bareAcp, ui: { statusLine: false } });
		await acp.prompt("hello");
		expect(shown()).toBeUndefined();
	});

	it.each<[string, AcpOptions]>([
		["folding is switched off", { acp: { ...bareAcp, enabled: false } }],
		["another extension owns compress", { extensions: [rival, piBillionContext] }],
		["compress is not in the loadout", { sessionOptions: { tools: ["read"] } }],
	])("is not there where %s", async (_state, options) => {
		const acp = await open(options);
		await acp.prompt("hello");
		expect(setStatus.mock.calls.filter(([, text]) => text !== undefined)).toEqual([]);
	});
});
