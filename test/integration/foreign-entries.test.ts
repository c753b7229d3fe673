import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type AcpSession, bareAcp, closeAcp, openAcp, range, textIn, work, writeAcp } from "../support/acp.ts";
import { blocksIn, expectGrowth, expectWholePairs, outline, textOf } from "../support/wire.ts";

beforeEach(() => {
	vi.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(async () => {
	vi.restoreAllMocks();
	await closeAcp();
});

const done = { output: "s3cret", exitCode: 0, cancelled: false, truncated: false };

/** All that a request says. */
const said = (acp: AcpSession, index = -1) => JSON.stringify(acp.requests.at(index)?.body.messages);

describe("a shell run of the user's", () => {
	it("is shown with a tag, and folds like any message", async () => {
		const acp = await openAcp({ seed: work(2) });
		acp.session.recordBashResult("ls", { ...done, output: "a.ts" });
		await acp.prompt("hello");
		expect(textOf(acp.requests[0]?.body.messages[6])).toBe("Ran `ls`\n```\na.ts\n```\n<acp>m00006</acp>");
		await acp.call("compress", { content: [range("m2", "m6")] });
		expect(said(acp)).not.toContain("Ran `ls`");
		expect(textIn(await acp.execute("decompress", { id: "m6" }))).toContain("Ran `ls`\n```\na.ts\n```");
	});

	it("that the user keeps to themselves is counted and never shown", async () => {
		const acp = await openAcp({ seed: work(2) });
		acp.session.recordBashResult("cat key", done, { excludeFromContext: true });
		work(1)(acp.session.sessionManager);
		await acp.prompt("hello");
		expect(outline(acp.requests[0]).slice(5)).toEqual([
			"tool m00005",
			"user m00007",
			"assistant",
			"tool m00009",
			"user m00010",
		]);
		await acp.call("compress", { content: [range("m2", "m9", "What the files say of a key.")] });
		expect(blocksIn(acp.requests.at(-1))).toEqual(["b1"]);
		for (const args of [{ id: "b1" }, { id: "b1", page: 2 }, { id: "m6" }]) {
			expect(textIn(await acp.execute("decompress", args))).not.toContain("s3cret");
		}
		expect(textIn(await acp.execute("search_context", { query: "s3cret" }))).not.toContain("s3cret");
		for (const index of acp.requests.keys()) expect(said(acp, index)).not.toContain("s3cret");
	});
});

describe("an edit of a message by another extension", () => {
	it("is shown, and what is left out by one stays out", async () => {
		const acp = await openAcp({ seed: work(2) });
		const [user, , result] = acp.branch().map((entry) => entry.id);
		acp.session.sessionManager.appendContextEdit(result ?? "", { content: "shortened" });
		acp.session.sessionManager.appendContextEdit(user ?? "", null);
		await acp.prompt("hello");
		expect(outline(acp.requests[0])).toEqual([
			...["system", "assistant", "tool m00003", "assistant", "tool m00005", "user m00006"],
		]);
		expect(textOf(acp.requests[0]?.body.messages[2])).toBe("shortened\n<acp>m00003</acp>");
	});

	it("moves no ref, and changes no block that was made before", async () => {
		const acp = await openAcp({ seed: work(2) });
		await acp.call("compress", { content: [range("m2", "m3")] });
		const [user, , folded] = acp.branch().map((entry) => entry.id);
		acp.session.sessionManager.appendContextEdit(folded ?? "", { content: "shortened" });
		acp.session.sessionManager.appendContextEdit(user ?? "", null);
		await acp.prompt("hello");
		expect(outline(acp.requests[2]).slice(1, 5)).toEqual(["b1", "assistant", "tool m00005", "user m00006"]);
		expect(acp.requests[2]?.body.messages[1]).toEqual(acp.requests[1]?.body.messages[2]);
	});
});

describe("a compaction by Pi", () => {
	const models = [{ contextWindow: 40_000, maxTokens: 4_096 }];
	const settings = { compaction: { keepRecentTokens: 1_000 } };

	/** While folding is switched off, Pi summarizes by itself. */
	async function compactByPi(acp: AcpSession, summary: string): Promise<void> {
		writeAcp(acp.home, { ...bareAcp, enabled: false });
		acp.replies({ text: summary });
		await acp.session.compact();
		writeAcp(acp.home, bareAcp);
	}

	it("retires the blocks whose messages it summarizes, and the refs go on", async () => {
		const acp = await openAcp({ seed: work(4), models, settings });
		await acp.call("compress", { content: [range("m2", "m3")] });
		await compactByPi(acp, "A summary by Pi.");
		await acp.prompt("hello");
		await acp.prompt("again");
		const [after, next] = acp.requests.slice(-2);
		expect(blocksIn(after)).toEqual([]);
		expect(outline(after)[1]).toMatch(/^user m000\d\d$/);
		expect(textOf(after?.body.messages[1])).toContain("A summary by Pi.");
		expectGrowth(acp.requests.slice(-2));
		expectWholePairs(next);
		expect(textIn(await acp.execute("decompress", { id: "b1" }))).toContain("needle1");
	});

	it("can be folded itself, as a span of its own", async () => {
		const acp = await openAcp({ seed: work(4), models, settings });
		await compactByPi(acp, `A summary by Pi. ${"It says a lot. ".repeat(300)}`);
		await acp.prompt("hello");
		const ref = /m\d{5}/.exec(outline(acp.requests.at(-1))[1] ?? "")?.[0] ?? "";
		await acp.call("compress", { content: [range(ref, ref)] });
		expect(outline(acp.requests.at(-1))[1]).toBe("b1");
		expect(textIn(await acp.execute("decompress", { id: "b1" }))).toContain("It says a lot.");
	});
});

describe("what else there is in a log", () => {
	it("is counted where it is a message, and else changes nothing", async () => {
		const acp = await openAcp({ seed: work(1) });
		const { sessionManager } = acp.session;
		sessionManager.appendLabelChange(acp.branch()[0]?.id ?? "", "start");
		sessionManager.appendSessionInfo("A name");
		sessionManager.appendCustomEntry("their-state", { acp: 1, op: { kind: "nudge", sizeTokens: 1 } });
		sessionManager.appendCustomMessageEntry("note", "a note", false);
		sessionManager.branchWithSummary(acp.branch().at(-1)?.id ?? "", "Over there");
		await acp.prompt("hello");
		expect(outline(acp.requests[0])).toEqual([
			...["system", "user m00001", "assistant", "tool m00003", "user m00004", "user m00005", "user m00006"],
		]);
		expect(textOf(acp.requests[0]?.body.messages[5])).toContain("Over there");
	});

	it("stays in place and whole where it is a picture", async () => {
		const models = [{ input: ["text" as const, "image" as const] }];
		const acp = await openAcp({ seed: work(1), models });
		const image = { type: "image" as const, data: "aW1hZ2U=", mimeType: "image/png" };
		const content = [{ type: "text" as const, text: "look" }, image];
		acp.session.sessionManager.appendMessage({ role: "user", content, timestamp: 1_800_000_000_000 });
		acp.session.sessionManager.appendMessage({ role: "user", content: [image], timestamp: 1_800_000_000_000 });
		await acp.prompt("hello");
		const url = { url: "data:image/png;base64,aW1hZ2U=" };
		expect(acp.requests[0]?.body.messages.slice(4, 6).map((message) => message.content)).toEqual([
			[
				{ type: "text", text: "look\n<acp>m00004</acp>" },
				{ type: "image_url", image_url: url },
			],
			[
				{ type: "image_url", image_url: url },
				{ type: "text", text: "<acp>m00005</acp>" },
			],
		]);
	});
});
