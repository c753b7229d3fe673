import type { ExtensionUIContext } from "@earendil-works/pi-coding-agent";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type AcpOptions, type AcpSession, bareAcp, closeAcp, openWithUi, work } from "../../support/acp.ts";

let notify: ReturnType<typeof vi.fn<ExtensionUIContext["notify"]>>;

beforeEach(() => {
	notify = vi.fn();
});
afterEach(closeAcp);

const eager = { ...bareAcp, compress: { keepTokens: 1_000, stepTokens: 6_000 } };

/** What `/acp why` says, in one line: the terminal breaks lines where it has to. */
async function why(acp: AcpSession): Promise<string> {
	notify.mockClear();
	await acp.prompt("/acp why");
	const text = notify.mock.calls[0]?.[0] ?? "";
	return text.replaceAll("\n", " ");
}

function open(options: AcpOptions = {}): Promise<AcpSession> {
	return openWithUi(notify, { seed: work(4), ...options });
}

describe("/acp why", () => {
	it("says how it stands before the first request", async () => {
		const text = await why(await open({ acp: eager }));
		expect(text).toMatch(
			/^Last request: none since the session was opened\. The context holds [\d.]+K .* of 191\.8K tokens\./,
		);
		expect(text).toMatch(/Now: the model is asked to fold \(soft\): enough is unfolded, and it was not asked before\./);
		expect(text).toMatch(/Unfolded: 7\.\dK, of which 7\.\dK can be folded\. Nothing was asked or folded before\./);
		expect(text).toMatch(/Pace balanced: it is asked once 1\.0K and 6\.0K more are unfolded, and 6\.0K were added\./);
		expect(text).toMatch(/From 1\d\d\.\dK in all .* getting full, from 1\d\d\.\dK as nearly full\.$/);
	});

	it("says why the last request asked, and that the next one will not", async () => {
		const acp = await open({ acp: eager });
		await acp.prompt("hello");
		const text = await why(acp);
		expect(text).toMatch(/^Last request: the model is asked to fold \(soft\): enough is unfolded/);
		expect(text).toMatch(
			/Now: the model is not asked to fold: too little was added since it was asked, or folded, last\./,
		);
		expect(text).toMatch(/Added since it was asked, or folded, last: \d+\./);
	});

	it.each<[string, AcpOptions, RegExp]>([
		["folding is off", { acp: { enabled: false } }, /compress is not ours, or not offered to the model\./],
		["rules fold alone", { acp: { strategy: "rules" } }, /strategy "rules" asks no model to fold\./],
		["little is unfolded", { acp: bareAcp }, /not asked to fold: too little is unfolded\./],
		["nothing can be folded", { seed: work(0), acp: bareAcp }, /there is nothing that it could fold\./],
	])("says so where %s", async (_state, options, reason) => {
		const acp = await open(options);
		await acp.prompt("hello");
		expect(await why(acp)).toMatch(reason);
	});
});
