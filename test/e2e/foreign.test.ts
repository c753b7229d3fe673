import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { SessionManager } from "@earendil-works/pi-coding-agent";
import { afterEach, describe, expect, it } from "vitest";
import { type AcpSession, closeAcp, openAcp, range, textIn, work } from "../support/acp.ts";
import { blocksIn } from "../support/wire.ts";

afterEach(closeAcp);

/** What one of our tools answers beside the conversation; fails unless it is or is not a refusal, as told. */
async function ask(acp: AcpSession, name: string, args: Record<string, unknown>, isRefused = false): Promise<string> {
	const result = await acp.execute(name, args);
	expect(result.isError ?? false, textIn(result)).toBe(isRefused);
	return textIn(result);
}

/** The id of the nth entry of the file. */
function idAt(acp: AcpSession, index: number): string {
	return acp.session.sessionManager.getEntries()[index]?.id ?? "";
}

/** The id of the entry with the result that made a block. */
function makerOf(acp: AcpSession): string {
	const entry = acp
		.branch()
		.findLast(
			(each) => each.type === "message" && each.message.role === "toolResult" && each.message.toolName === "compress",
		);
	return entry?.id ?? "";
}

interface Branched {
	acp: AcpSession;
	/** The entry that made `b1` on the branch that was left. */
	maker: string;
	/** Two messages there and what they say. */
	left: { id: string; ordinal: number; text: string };
}

/** A session that folded m2 to m5 and then went back before that, so that all of it is on another branch. */
async function branched(): Promise<Branched> {
	const acp = await openAcp({ seed: work(4) });
	acp.replies({ text: "The zebra was here." });
	await acp.prompt("Look for the zebra");
	await acp.call("compress", { content: [range("m2", "m5", "The walrus of the parser.")] });
	const maker = makerOf(acp);
	const at = acp.session.sessionManager
		.getEntries()
		.findIndex((entry) => JSON.stringify(entry).includes("The zebra was"));
	const left = { id: idAt(acp, at), ordinal: 11, text: "The zebra was here." };
	await acp.session.navigateTree(idAt(acp, 4), { summarize: false });
	await acp.prompt("Another way");
	expect(blocksIn(acp.requests.at(-1))).toEqual([]);
	return { acp, maker, left };
}

describe("another branch of the file", () => {
	it("is found by search, with refs that open what they name", async () => {
		const { acp, maker, left } = await branched();
		const message = await ask(acp, "search_context", { query: "zebra" });
		const ref = `m000${left.ordinal}@${left.id}`;
		expect(message).toContain(ref);
		expect(message).toContain("on another branch");
		const opened = await ask(acp, "decompress", { id: ref });
		expect(opened).toMatch(/^\[m00011, on another branch/);
		expect(opened).toContain(left.text);

		const block = await ask(acp, "search_context", { query: "walrus" });
		expect(block).toContain(`b1@${maker}`);
		const originals = await ask(acp, "decompress", { id: `b1@${maker}` });
		expect(originals).toMatch(/^\[b1 \(m00002-m00005\), on another branch/);
		expect(originals).toContain("needle1 ");
		expect(originals).toContain("needle2 ");
	});

	it("gives up its only block to a bare ref, and says where it is", async () => {
		const { acp } = await branched();
		const opened = await ask(acp, "decompress", { id: "b1" });
		expect(opened).toMatch(/^\[b1 \(m00002-m00005\), on another branch/);
		expect(opened).toContain("needle1 ");
	});

	it("is not meant by a bare ref that this branch has, nor by one that several branches have", async () => {
		const { acp } = await branched();
		await acp.session.navigateTree(idAt(acp, 4), { summarize: false });
		await acp.prompt("A third way");
		await acp.call("compress", { content: [range("m4", "m5")] });
		expect(await ask(acp, "decompress", { id: "b1" })).toMatch(/^\[b1 \(m00004-m00005\): /);
		await acp.session.navigateTree(idAt(acp, 4), { summarize: false });
		await acp.prompt("A fourth way");
		expect(await ask(acp, "decompress", { id: "b1" }, true)).toContain("b1");
	});

	it("refuses a number that is not the entry's, and an entry that is nowhere", async () => {
		const { acp, maker, left } = await branched();
		for (const id of [`m00010@${left.id}`, `b2@${maker}`, "m00011@00000000", "b1@00000000", `m00002@x/${left.id}`])
			expect(await ask(acp, "decompress", { id }, true)).toContain(id);
	});

	it("is not part of what this branch may fold or unfold", async () => {
		const { acp, maker, left } = await branched();
		const calls: [string, Record<string, unknown>][] = [
			["compress", { content: [range(`m00011@${left.id}`, "m5")] }],
			["decompress", { id: `b1@${maker}`, to: "view" }],
		];
		for (const [name, args] of calls) await ask(acp, name, args, true);
		await acp.prompt("Go on");
		expect(blocksIn(acp.requests.at(-1))).toEqual([]);
	});
});

describe("the log a session was forked from", () => {
	/** A fork of `branched` that begins before the fold: its own file, with the parent named in its header. */
	async function forked(): Promise<{ child: AcpSession; parent: AcpSession; maker: string }> {
		const { acp: parent, maker } = await branched();
		const manager = SessionManager.open(parent.sessionFile, undefined, parent.home.cwd);
		const sessionFile = manager.createBranchedSession(idAt(parent, 4)) ?? "";
		expect(sessionFile).not.toBe(parent.sessionFile);
		const child = await openAcp({ home: parent.home, sessionFile });
		return { child, parent, maker };
	}

	it("is found by search and opened by its refs, which name the session", async () => {
		const { child, parent, maker } = await forked();
		const { sessionId } = parent.session;
		const block = await ask(child, "search_context", { query: "walrus" });
		expect(block).toContain(`b1@${sessionId}/${maker}`);
		expect(block).toContain(`in session ${sessionId}`);
		const originals = await ask(child, "decompress", { id: `b1@${sessionId}/${maker}` });
		expect(originals).toMatch(new RegExp(`^\\[b1 \\(m00002-m00005\\), in session ${sessionId}`));
		expect(originals).toContain("needle2 ");
	});

	it("counts no message twice that the fork has too", async () => {
		const { child } = await forked();
		await child.call("compress", { content: [range("m2", "m3")] });
		const hits = await ask(child, "search_context", { query: "needle1" });
		expect(hits.match(/\bm00003\b/g)).toHaveLength(1);
		expect(hits).not.toMatch(/m00003@/);
	});

	it("may be gone: its refs are refused, and everything else goes on", async () => {
		const { child, parent, maker } = await forked();
		rmSync(parent.sessionFile);
		const id = `b1@${parent.session.sessionId}/${maker}`;
		expect(await ask(child, "decompress", { id }, true)).toContain(id);
		expect(await ask(child, "search_context", { query: "walrus" })).not.toContain("b1");
		await child.prompt("Go on");
		expect(child.requests).toHaveLength(1);
		expect(child.extensionErrors).toEqual([]);
	});

	it("may name itself as its own parent without an end to the search", async () => {
		const { parent } = await forked();
		const own = join(parent.home.cwd, "own.jsonl");
		const [header = "", ...lines] = readFileSync(parent.sessionFile, "utf8").split("\n");
		writeFileSync(own, [JSON.stringify({ ...JSON.parse(header), parentSession: own }), ...lines].join("\n"));
		const child = await openAcp({ home: parent.home, sessionFile: own });
		expect(await ask(child, "search_context", { query: "zebra" })).toContain("zebra");
	});
});
