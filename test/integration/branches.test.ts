import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type AcpSession, closeAcp, openAcp, range, work } from "../support/acp.ts";
import { blocksIn, expectGrowth, outline, stableLines } from "../support/wire.ts";

let acp: AcpSession;

/** A session in which m2 to m5 are folded by the prompt m8. */
beforeEach(async () => {
	acp = await openAcp({ seed: work(3) });
	await acp.call("compress", { content: [range("m2", "m5")] });
});
afterEach(closeAcp);

/** Goes to the nth entry of the log. */
async function moveTo(index: number): Promise<void> {
	const entry = acp.session.sessionManager.getEntries()[index];
	await acp.session.navigateTree(entry?.id ?? "", { summarize: false });
}

describe("a move in the tree", () => {
	it("to before a fold shows what was folded; back again, the fold holds as it was", async () => {
		const last = acp.session.sessionManager.getEntries().length - 1;
		await moveTo(6);
		await acp.prompt("another way");
		expect(blocksIn(acp.requests[2])).toEqual([]);
		expect(stableLines(acp.requests[2]).slice(0, 8)).toEqual(stableLines(acp.requests[0]).slice(0, 8));
		await moveTo(last);
		await acp.prompt("go on");
		expect(blocksIn(acp.requests[3])).toEqual(["b1"]);
		expectGrowth([acp.requests[1], acp.requests[3]].flatMap((request) => request ?? []));
	});

	it("lets each branch count its own blocks", async () => {
		await moveTo(6);
		await acp.call("compress", { content: [range("m4", "m7")] });
		expect(outline(acp.requests.at(-1)).slice(1, 5)).toEqual(["user m00001", "assistant", "tool m00003", "b1"]);
	});
});

describe("a copy of a session", () => {
	const bytes = (text: string) => text.split("\n").map((line) => line.trimEnd());

	it("has the same view, byte for byte", async () => {
		const copy = join(acp.home.cwd, "copy.jsonl");
		copyFileSync(acp.sessionFile, copy);
		const second = await openAcp({ home: acp.home, sessionFile: copy });
		await second.prompt("go on");
		expectGrowth([...acp.requests.slice(-1), ...second.requests]);
	});

	it("has the same view with other entry ids, as old logs get them when they are read", async () => {
		const copy = join(acp.home.cwd, "copy.jsonl");
		const lines = bytes(readFileSync(acp.sessionFile, "utf8"));
		const renamed = lines.map((line) => line.replaceAll(/"(id|parentId)":"([0-9a-f]{8})"/g, '"$1":"c$2"'));
		writeFileSync(copy, renamed.join("\n"));
		const second = await openAcp({ home: acp.home, sessionFile: copy });
		await second.prompt("go on");
		expect(blocksIn(second.requests[0])).toEqual(["b1"]);
		expectGrowth([...acp.requests.slice(-1), ...second.requests]);
	});
});
