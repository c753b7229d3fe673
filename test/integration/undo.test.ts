import { readFileSync } from "node:fs";
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
} from "../support/acp.ts";
import type { RecordedRequest } from "../support/provider.ts";
import { blocksIn, expectGrowth, expectWholePairs, outline, stableLines } from "../support/wire.ts";

let notify: ReturnType<typeof vi.fn<ExtensionUIContext["notify"]>>;

beforeEach(() => {
	notify = vi.fn();
});
afterEach(closeAcp);

/** A session with a user interface; m(2n) and m(2n + 1) are steps of work. */
async function open(options: AcpOptions = { seed: work(4) }): Promise<AcpSession> {
	return openWithUi(notify, options);
}

/** What a command says to the user. */
async function said(acp: AcpSession, command: string): Promise<string | undefined> {
	notify.mockClear();
	await acp.prompt(command);
	expect(notify).toHaveBeenCalledOnce();
	return notify.mock.calls[0]?.[0];
}

/** The next request, checked to be whole. */
async function nextRequest(acp: AcpSession): Promise<RecordedRequest> {
	await acp.prompt("Go on");
	const request = acp.requests.at(-1);
	if (request === undefined) throw new Error("no request was made");
	expectWholePairs(request);
	return request;
}

/** The next request of another process on the same log. */
async function requestAfterRestart({ home, sessionFile }: AcpSession): Promise<RecordedRequest> {
	return nextRequest(await openAcp({ home, sessionFile }));
}

/** A session with two folds, one after the other. */
async function folded(): Promise<AcpSession> {
	const acp = await open();
	await acp.call("compress", { content: [range("m2", "m3")] });
	await acp.call("compress", { content: [range("m4", "m5")] });
	return acp;
}

describe("/acp undo", () => {
	it("takes back one fold after the other, the last one first, and a restart keeps it", async () => {
		const acp = await folded();
		const whole = acp.requests[0];
		expect(await said(acp, "/acp undo")).toBe("Taken back: b2 (m00004-m00005) no longer folded.");
		const one = await nextRequest(acp);
		expect(blocksIn(one)).toEqual(["b1"]);
		expect(stableLines(one).slice(3, 5)).toEqual(stableLines(whole).slice(4, 6));
		expect(await said(acp, "/acp undo")).toBe("Taken back: b1 (m00002-m00003) no longer folded.");
		const none = await nextRequest(acp);
		expect(blocksIn(none)).toEqual([]);
		expect(stableLines(none).slice(0, stableLines(whole).length)).toEqual(stableLines(whole));
		expectGrowth([none, await requestAfterRestart(acp)]);
	});

	it("has nothing to take back where nothing was folded, says so, and changes nothing", async () => {
		const acp = await open();
		const before = await nextRequest(acp);
		expect(await said(acp, "/acp undo")).toMatch(/nothing/i);
		expectGrowth([before, await nextRequest(acp)]);
		expect(operationsIn(acp.branch())).toEqual([]);
	});

	it("frees no number for another block", async () => {
		const acp = await folded();
		await said(acp, "/acp undo");
		await acp.call("compress", { content: [range("m4", "m7")] });
		expect(blocksIn(await nextRequest(acp))).toEqual(["b1", "b3"]);
		expect(textIn(await acp.execute("decompress", { id: "b2" }))).toMatch(/^\[b2 \(m00004-m00005\)/);
		expect(blocksIn(await requestAfterRestart(acp))).toEqual(["b1", "b3"]);
	});

	it("is in the sidecar: the block stays listed, and is not active", async () => {
		const acp = await folded();
		await said(acp, "/acp undo");
		await acp.logText();
		expect(JSON.parse(readFileSync(`${acp.sessionFile}.acp.json`, "utf8"))).toMatchObject({
			leafId: acp.branch().at(-1)?.id,
			blocks: [
				{ blockId: "b1", active: true },
				{ blockId: "b2", active: false },
			],
		});
	});

	it("takes back what the model unfolded", async () => {
		const acp = await folded();
		await acp.call("decompress", { id: "b1", to: "view" });
		expect(blocksIn(acp.requests.at(-1))).toEqual(["b2"]);
		expect(await said(acp, "/acp undo")).toBe("Taken back: b1 (m00002-m00003) folded again.");
		expect(blocksIn(await nextRequest(acp))).toEqual(["b1", "b2"]);
	});

	it("of a fold of blocks shows the blocks again", async () => {
		const acp = await folded();
		const before = acp.requests.at(-1);
		await acp.call("compress", { content: [range("b1", "b2")] });
		expect(blocksIn(acp.requests.at(-1))).toEqual(["b3"]);
		expect(await said(acp, "/acp undo")).toMatch(/b3 \(m00002-m00005\) no longer folded; b1 .*, b2 .* folded again/);
		const after = await nextRequest(acp);
		expect(stableLines(after).slice(0, 4)).toEqual(stableLines(before).slice(0, 4));
		expectGrowth([after, await requestAfterRestart(acp)]);
	});

	it("with a block opens that block, whichever was last", async () => {
		const acp = await folded();
		expect(await said(acp, "/acp undo b1")).toMatch(/^Opened b1; /);
		const request = await nextRequest(acp);
		expect(blocksIn(request)).toEqual(["b2"]);
		expect(outline(request).slice(1, 5)).toEqual(["user m00001", "assistant", "tool m00003", "b2"]);
		expectGrowth([request, await requestAfterRestart(acp)]);
	});

	it.each(["b7", "m00001", "nonsense", "b1@00000000"])("refuses %s, says why, and changes nothing", async (id) => {
		const acp = await folded();
		const before = acp.requests.at(-1);
		expect(await said(acp, `/acp undo ${id}`)).toContain(id);
		expectGrowth([before, await nextRequest(acp)].flatMap((request) => request ?? []));
	});
});

describe("/acp redo", () => {
	it("does again what was taken back, byte for byte, and a restart keeps it", async () => {
		const acp = await folded();
		const before = acp.requests.at(-1);
		await said(acp, "/acp undo");
		await said(acp, "/acp undo");
		expect(await said(acp, "/acp redo")).toBe("Done again: b1 (m00002-m00003) folded again.");
		expect(blocksIn(await nextRequest(acp))).toEqual(["b1"]);
		expect(await said(acp, "/acp redo")).toBe("Done again: b2 (m00004-m00005) folded again.");
		const after = await nextRequest(acp);
		expectGrowth([...(before ? [before] : []), after]);
		expectGrowth([after, await requestAfterRestart(acp)]);
	});

	it("has nothing to do again where nothing was taken back, or something was folded since", async () => {
		const acp = await folded();
		expect(await said(acp, "/acp redo")).toMatch(/nothing/i);
		await said(acp, "/acp undo");
		await acp.call("compress", { content: [range("m6", "m7")] });
		expect(await said(acp, "/acp redo")).toMatch(/nothing/i);
		expect(blocksIn(await nextRequest(acp))).toEqual(["b1", "b3"]);
	});
});

describe("/acp pin", () => {
	it("keeps a message in view when its surroundings are folded, also after a restart", async () => {
		const acp = await open();
		expect(await said(acp, "/acp pin m5")).toBe("m00005 stays in view until /acp unpin m00005.");
		const second = await openAcp({ home: acp.home, sessionFile: acp.sessionFile });
		const answer = textIn(await second.call("compress", { content: [range("m2", "m7")] }));
		expect(answer).toContain("m00004-m00005");
		const request = await nextRequest(second);
		expect(outline(request).slice(1, 6)).toEqual(["user m00001", "b1", "assistant", "tool m00005", "assistant"]);
		expect(stableLines(request).slice(3, 5)).toEqual(stableLines(second.requests[0]).slice(4, 6));
	});

	it("lets go of it with unpin", async () => {
		const acp = await open();
		await said(acp, "/acp pin m5");
		expect(await said(acp, "/acp unpin m5")).toBe("m00005 may be folded again.");
		await acp.call("compress", { content: [range("m2", "m7")] });
		expect(outline(await nextRequest(acp)).slice(1, 4)).toEqual(["user m00001", "b1", "assistant"]);
	});

	it.each([
		["pin m99", "m00099"],
		["pin b1", "b1"],
		["pin", "is not a ref"],
		["pin m2", "m00002"],
		["unpin m99", "m00099"],
		["unpin nonsense", "nonsense"],
	])("refuses to %s, says why, and leaves nothing in the log", async (command, named) => {
		const acp = await folded();
		const before = acp.branch().length;
		expect(await said(acp, `/acp ${command}`)).toContain(named);
		expect(acp.branch()).toHaveLength(before);
	});
});
