import { rmSync, writeFileSync } from "node:fs";
import { SessionManager } from "@earendil-works/pi-coding-agent";
import { afterEach, describe, expect, it } from "vitest";
import { type AcpSession, closeAcp, openAcp, output, range, textIn, work } from "../support/acp.ts";
import { blocksIn } from "../support/wire.ts";

afterEach(closeAcp);

const open = async (acp: AcpSession, id: string) => textIn(await acp.execute("decompress", { id }));
const search = async (acp: AcpSession, query: string) => textIn(await acp.execute("search_context", { query }));

/** A session in which m2 to m5 are folded as b1. */
async function folded(): Promise<AcpSession> {
	const acp = await openAcp({ seed: work(3) });
	await acp.call("compress", { content: [range("m2", "m5", "The umlauts are lost in the lexer.")] });
	return acp;
}

/** The id of the entry whose compress made b1. */
function madeBy(acp: AcpSession): string {
	const entry = acp
		.branch()
		.find(
			(each) => each.type === "message" && each.message.role === "toolResult" && each.message.toolName === "compress",
		);
	return entry?.id ?? "";
}

/** Goes to the end of the seed, before the fold. */
async function leaveFold(acp: AcpSession): Promise<void> {
	await acp.session.navigateTree(acp.branch()[6]?.id ?? "", { summarize: false });
}

describe("another branch of the file", () => {
	it("has its block opened by a foreign ref, and by its number where that is the only one", async () => {
		const acp = await folded();
		const maker = madeBy(acp);
		await leaveFold(acp);
		await acp.prompt("another way");
		expect(blocksIn(acp.requests.at(-1))).toEqual([]);
		for (const id of [`b1@${maker}`, "b1"]) {
			expect(await open(acp, id)).toMatch(/^\[b1 \(m00002-m00005\), on another branch: 4 messages/);
		}
	});

	it("has its messages found and opened by the refs that the search gives", async () => {
		const acp = await folded();
		acp.replies({ text: "It was the tokenizer." });
		await acp.prompt("why?");
		await leaveFold(acp);
		const ref = /m\d+@\w+/.exec(await search(acp, "tokenizer"))?.[0] ?? "";
		expect(await open(acp, ref)).toMatch(/on another branch[\s\S]*It was the tokenizer\./);
		expect(await search(acp, "umlauts")).toMatch(/^b1@\w+ \(on another branch\): /);
	});

	it("has no message whose ref and entry disagree", async () => {
		const acp = await folded();
		const maker = madeBy(acp);
		await leaveFold(acp);
		for (const id of [`b2@${maker}`, `m3@${maker}`, "b1@00000000", "m1@nowhere/00000000"]) {
			expect(await acp.execute("decompress", { id })).toMatchObject({ isError: true });
		}
	});
});

describe("a session this one was forked from", () => {
	/** Forks before the fold: what happened after is in the parent alone. */
	async function forked(): Promise<{ parent: AcpSession; fork: AcpSession }> {
		const parent = await folded();
		const path = SessionManager.open(parent.sessionFile).createBranchedSession(parent.branch()[6]?.id ?? "");
		const fork = await openAcp({ home: parent.home, sessionFile: path ?? "" });
		return { parent, fork };
	}

	it("has its blocks and messages found and opened, with the session in the ref", async () => {
		const { parent, fork } = await forked();
		const { sessionId } = parent.session;
		const [hit = ""] = (await search(fork, "umlauts")).split("\n");
		expect(hit.startsWith(`b1@${sessionId}/${madeBy(parent)} (in session ${sessionId}): `)).toBe(true);
		const text = await open(fork, `b1@${sessionId}/${madeBy(parent)}`);
		expect(text).toMatch(/in session/);
		expect(text).toContain(output(1));
	});

	it("is missed by nobody once it is gone", async () => {
		const { parent, fork } = await forked();
		rmSync(parent.sessionFile);
		expect(await search(fork, "umlauts")).toMatch(/^Nothing folded holds these words\./);
		expect(await fork.execute("decompress", { id: `b1@${parent.session.sessionId}/x` })).toMatchObject({
			isError: true,
		});
		expect(await fork.call("compress", { content: [range("m2", "m3")] })).toMatchObject({ isError: false });
	});

	it.each<[string, string]>([
		["empty", ""],
		["no log", "not a log\n"],
		["without a header", '{"type":"message","id":"a","parentId":null}\n'],
		[
			"damaged inside",
			'{"type":"session","version":3,"id":"s"}\n{"type":"message","id":"a","parentId":null}\nnull\n7\n',
		],
	])("ends the line if its log is %s", async (_state, text) => {
		const { parent, fork } = await forked();
		writeFileSync(parent.sessionFile, text);
		const result = await fork.execute("search_context", { query: "umlauts" });
		expect(result).not.toMatchObject({ isError: true });
		expect(textIn(result)).toMatch(/^Nothing folded holds these words\./);
	});

	it("may be its own ancestor without end", async () => {
		const { parent, fork } = await forked();
		const header = { ...SessionManager.open(parent.sessionFile).getHeader(), parentSession: parent.sessionFile };
		writeFileSync(parent.sessionFile, `${JSON.stringify(header)}\n`);
		expect(await search(fork, "nothing at all")).toMatch(/^Nothing folded/);
	});

	it("is reached over several forks", async () => {
		const { parent, fork } = await forked();
		const path = SessionManager.open(fork.sessionFile).createBranchedSession(fork.branch()[2]?.id ?? "");
		const grandchild = await openAcp({ home: parent.home, sessionFile: path ?? "" });
		expect(await search(grandchild, "umlauts")).toContain(`b1@${parent.session.sessionId}/`);
	});
});

describe("a session in memory", () => {
	it("has nothing beyond its branch", async () => {
		const acp = await openAcp({ inMemory: true });
		work(2)(acp.session.sessionManager);
		expect(await search(acp, "needle1")).toMatch(/^Nothing folded/);
		expect(await open(acp, "m3")).toContain("needle1");
	});
});
