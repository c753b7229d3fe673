import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type AcpSession, closeAcp, openAcp, operationsIn, output, range, textIn, work } from "../../support/acp.ts";
import { blocksIn, outline, stableLines } from "../../support/wire.ts";

let acp: AcpSession;

/** A session in which m2 to m5 are folded as b1. */
beforeEach(async () => {
	acp = await openAcp({ seed: work(3, 5_000) });
	await acp.call("compress", { content: [range("m2", "m5")] });
	vi.stubEnv("TMPDIR", acp.home.tmpDir);
});
afterEach(async () => {
	vi.unstubAllEnvs();
	await closeAcp();
});

describe("decompress inline", () => {
	it("shows what a block covers page by page, byte for byte", async () => {
		const pages: string[] = [];
		for (let page = 1, last = 1; page <= last; page++) {
			const [head = "", ...body] = textIn(await acp.execute("decompress", { id: "b1", page })).split("\n");
			last = Number(/; page \d+ of (\d+)/.exec(head)?.[1]);
			expect(head.includes(`next: page ${page + 1}`)).toBe(page < last);
			pages.push(body.join("\n"));
		}
		expect(pages.length).toBeGreaterThan(2);
		const text = pages.join("").replaceAll("\n", "");
		for (const step of [1, 2]) expect(text).toContain(output(step, 5_000));
		expect(text).not.toContain("needle3");
	});

	it("shows a message or a range by its refs, folded or not", async () => {
		expect(textIn(await acp.execute("decompress", { id: "m2" }))).toContain('(calls read) {"path":"file1.ts"}');
		expect(textIn(await acp.execute("decompress", { id: "m6-m7" }))).toContain("needle3");
	});

	it("changes nothing and is no operation", async () => {
		const result = await acp.call("decompress", { id: "b1" });
		expect(result).toMatchObject({ isError: false });
		expect(operationsIn(acp.branch())).toHaveLength(1);
		expect(blocksIn(acp.requests.at(-1))).toEqual(["b1"]);
	});

	it("gives images back as images", async () => {
		const image = { type: "image" as const, data: "aW1hZ2U=", mimeType: "image/png" };
		acp.session.sessionManager.appendCustomMessageEntry("shot", [{ type: "text", text: "see" }, image], true);
		const last = acp.branch().filter((entry) => "message" in entry || "content" in entry).length - 1;
		const { content } = await acp.execute("decompress", { id: `m${last}` });
		expect(content.at(-1)).toEqual(image);
		expect(textIn({ content })).toContain("see");
	});

	it.each<[string, Record<string, unknown>, RegExp]>([
		["a ref it cannot read", { id: "the first" }, /"the first" is not a ref/],
		["a message that is not there", { id: "m999" }, /m00999/],
		["a block that is not there", { id: "b9" }, /b9/],
		["a page that is not there", { id: "b1", page: 99 }, /no page 99; there are \d+\. Ask for page 1\.$/],
	])("refuses %s", async (_what, args, reason) => {
		const result = await acp.execute("decompress", args);
		expect(result).toMatchObject({ isError: true });
		expect(textIn(result)).toMatch(reason);
	});
});

describe("decompress to a file", () => {
	const pathIn = (text: string) => / are in (.+)$/.exec(text)?.[1] ?? "";

	it("writes all of it where only the user can read it, and says where", async () => {
		const result = await acp.call("decompress", { id: "b1", to: "file" });
		const path = pathIn(textIn(result));
		expect(path.startsWith(acp.home.tmpDir)).toBe(true);
		const written = readFileSync(path, "utf8");
		for (const step of [1, 2]) expect(written).toContain(output(step, 5_000));
		expect(statSync(path).mode & 0o777).toBe(0o600);
		expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
	});

	it("never writes over a file it has written before", async () => {
		const texts = [1, 2].map(async () => textIn(await acp.execute("decompress", { id: "m3", to: "file" })));
		const [first, second] = (await Promise.all(texts)).map(pathIn);
		expect(first).not.toBe(second);
	});

	it.each<[string, (folder: string) => void]>([
		["is a file", (folder) => writeFileSync(folder, "")],
		["does not exist", () => undefined],
		["may not be written to", (folder) => mkdirSync(folder, { mode: 0o500 })],
	])("is refused with another way if the temp folder %s", async (_state, make) => {
		const folder = join(acp.home.path, "elsewhere");
		make(folder);
		vi.stubEnv("TMPDIR", process.getuid?.() === 0 ? join(folder, "below") : folder);
		const result = await acp.call("decompress", { id: "b1", to: "file" });
		expect(result.isError).toBe(true);
		expect(textIn(result)).toMatch(/^\S+ could not be written: .+\. Read it in pages instead\.$/);
		expect(await acp.logText()).toContain("[warn] [decompress] reason=");
	});
});

describe("decompress to the view", () => {
	it("puts the messages of the block back into their places", async () => {
		const [before, folded] = acp.requests;
		const result = await acp.call("decompress", { id: "m3", to: "view" });
		expect(textIn(result)).toMatch(/^Unfolded:\nb1 is open; back in view: m00002-m00005\.\n/);
		expect(blocksIn(folded)).toEqual(["b1"]);
		const start = stableLines(before);
		expect(stableLines(acp.requests.at(-1)).slice(0, start.length)).toEqual(start);
		expect(operationsIn(acp.branch()).at(-1)).toMatchObject({ kind: "unfold", block: 1 });
	});

	it("opens a block of blocks one tier only", async () => {
		await acp.call("compress", { content: [range("b1", "m7")] });
		expect(blocksIn(acp.requests.at(-1))).toEqual(["b2"]);
		const result = await acp.call("decompress", { id: "b2", to: "view" });
		expect(textIn(result)).toContain("b2 is open; back in view: b1, m00006-m00007.");
		expect(outline(acp.requests.at(-1)).slice(0, 5)).toEqual([
			"system",
			"user m00001",
			"b1",
			"assistant",
			"tool m00007",
		]);
	});

	it.each(["m6", "m1"])("refuses %s, which is in view already", async (id) => {
		const result = await acp.call("decompress", { id, to: "view" });
		expect(result.isError).toBe(true);
		expect(operationsIn(acp.branch())).toHaveLength(1);
	});
});
