import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest";
import {
	type AcpOptions,
	type AcpSession,
	bareAcp,
	closeAcp,
	openAcp,
	operationsIn,
	range,
	work,
	writeAcp,
} from "../../support/acp.ts";
import { blocksIn, expectGrowth, expectWholePairs, textOf } from "../../support/wire.ts";

let stderr: MockInstance<typeof process.stderr.write>;
beforeEach(() => {
	stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(async () => {
	vi.restoreAllMocks();
	await closeAcp();
});

const compacting = {
	models: [{ contextWindow: 40_000, maxTokens: 4_096 }],
	settings: { compaction: { keepRecentTokens: 1_000 } },
	seed: work(4),
};

/** Over Pi's threshold of 23,616 tokens, so that Pi starts a compaction after the answer. */
const overThreshold = { text: "read", usage: { promptTokens: 26_000, completionTokens: 200 } };

const compactions = (acp: AcpSession) => acp.branch().filter((entry) => entry.type === "compaction");
const anchors = (acp: AcpSession) =>
	compactions(acp).filter((entry) => JSON.stringify(entry.details) === '{"acp":1,"anchor":true}');
const notices = () => stderr.mock.calls.map(([text]) => String(text)).join("");

async function prompted(options: AcpOptions = {}): Promise<AcpSession> {
	const acp = await openAcp({ ...compacting, ...options });
	acp.replies(overThreshold);
	await acp.prompt("hello");
	return acp;
}

describe("a compaction by Pi at its threshold", () => {
	it("is answered with an anchor of the leading blocks, and changes no byte of the view", async () => {
		const acp = await openAcp(compacting);
		await acp.call("compress", { content: [range("m2", "m5")] });
		acp.replies(overThreshold);
		await acp.prompt("hello");
		expect(anchors(acp)).toHaveLength(1);
		await acp.prompt("and on");
		expect(blocksIn(acp.requests.at(-1) ?? expect.unreachable())).toEqual(["b1"]);
		expectGrowth(acp.requests.slice(-2));
		expect(acp.extensionErrors).toEqual([]);
	});

	it("folds by rules first where nothing is folded, and what was asked last stays", async () => {
		const acp = await prompted();
		expect(operationsIn(acp.branch())).toMatchObject([{ kind: "fold", author: "rules" }]);
		expect(anchors(acp)).toHaveLength(1);
		await acp.prompt("and on");
		const [request] = acp.requests.slice(-1);
		expect(blocksIn(request ?? expect.unreachable())).toEqual(["b1"]);
		expect(JSON.stringify(request?.body.messages)).toContain("hello");
		expectWholePairs(request ?? expect.unreachable());
	});

	it("is cancelled under strategy model, with one notice until the context has grown a step", async () => {
		const acp = await openAcp({ ...compacting, acp: { ...bareAcp, strategy: "model" } });
		for (const prompt of ["one", "two"]) {
			acp.replies(overThreshold);
			await acp.prompt(prompt);
		}
		expect(compactions(acp)).toEqual([]);
		expect(notices().match(/is left to the model/g)).toHaveLength(1);
	});

	it("is cancelled where the window is so small that Pi would compact every turn, and nothing has to go", async () => {
		const acp = await openAcp({ ...compacting, models: [{ contextWindow: 16_000, maxTokens: 2_000 }], seed: work(1) });
		await acp.prompt("hello");
		expect(compactions(acp)).toEqual([]);
		expect(operationsIn(acp.branch())).toEqual([]);
		expect(notices()).toBe("");
	});

	it("is answered by rules where compress is not in the loadout", async () => {
		const acp = await prompted({ sessionOptions: { tools: ["read"] } });
		expect(anchors(acp)).toHaveLength(1);
	});

	it("is Pi's own affair where folding is switched off, also from that moment on", async () => {
		const off = await prompted({ acp: { ...bareAcp, enabled: false } });
		expect(compactions(off)).toHaveLength(1);
		expect(anchors(off)).toEqual([]);
		const acp = await prompted({ acp: { ...bareAcp, strategy: "model" } });
		expect(compactions(acp)).toEqual([]);
		writeAcp(acp.home, { ...bareAcp, enabled: false });
		acp.replies(overThreshold, { text: "A summary by Pi." });
		await acp.prompt("again");
		expect(compactions(acp)).toHaveLength(1);
		expect(anchors(acp)).toEqual([]);
	});
});

describe("the user's own /compact", () => {
	it("folds what stands around the last message by rules, about what the user names, without any model call", async () => {
		const acp = await openAcp(compacting);
		await acp.prompt("hello");
		const asked = acp.requests.length;
		await acp.session.compact("the parser");
		expect(acp.requests).toHaveLength(asked);
		expect(anchors(acp)).toHaveLength(1);
		expect(operationsIn(acp.branch())).toMatchObject([{ kind: "fold", blocks: [{ topic: "the parser" }] }]);
		await acp.prompt("and on");
		const text = JSON.stringify(acp.requests.at(-1)?.body.messages);
		expect(text).toContain("<earlier_conversation_summary>");
		expect(text).toContain("hello");
		expect(text).not.toContain("needle1 ");
	});

	it("shows the texts of blocks in the summary that Pi keeps", async () => {
		const acp = await openAcp(compacting);
		await acp.call("compress", { content: [range("m2", "m5", "The parser reads line by line.")] });
		await acp.session.compact();
		expect(anchors(acp)[0]).toMatchObject({ summary: expect.stringContaining("The parser reads line by line.") });
	});

	it("is cancelled with a reason where there is nothing but recent messages", async () => {
		const acp = await openAcp({
			...compacting,
			acp: {},
			settings: { compaction: { keepRecentTokens: 1 } },
			seed: work(0),
		});
		await acp.prompt("hello");
		await expect(acp.session.compact()).rejects.toThrow("Compaction cancelled");
		expect(notices()).toContain("nothing to fold but recent messages");
	});
});

describe("a request that was refused as too large", () => {
	const models = [{ contextWindow: 80_000, maxTokens: 4_096 }];
	const refused = { error: "This model's maximum context length is 20000 tokens", status: 400 };

	it("teaches the window, is folded by rules, anchored, and tried again", async () => {
		const acp = await openAcp({ ...compacting, models, seed: work(12) });
		acp.replies(refused, { text: "read" });
		await acp.prompt("hello");
		expect(anchors(acp)).toHaveLength(1);
		expect(acp.session.messages.at(-1)).toMatchObject({ role: "assistant", content: [{ text: "read" }] });
		const [first, second] = acp.requests.slice(-2);
		expect(blocksIn(second ?? expect.unreachable())).toEqual(["b1"]);
		expect(second?.raw.length).toBeLessThan((first?.raw.length ?? 0) / 2);
		expect(notices()).toContain("20,000 tokens");
	});

	it("is tried once more where Pi itself would not: its own compaction is off", async () => {
		const settings = { compaction: { enabled: false } };
		const acp = await openAcp({ ...compacting, settings, seed: work(12) });
		acp.replies(refused, { text: "read" });
		await acp.prompt("hello");
		expect(acp.session.messages.at(-1)).toMatchObject({ content: [{ text: "read" }] });
		expect(acp.requests).toHaveLength(2);
	});

	it("fails for whoever started it where it is refused again, after one more attempt", async () => {
		const settings = { compaction: { enabled: false } };
		const acp = await openAcp({ ...compacting, settings, seed: work(12) });
		acp.replies(refused, refused, refused, refused);
		await acp.prompt("hello");
		expect(acp.requests).toHaveLength(2);
		expect(process.exitCode).toBe(1);
		process.exitCode = undefined;
		expect(notices()).toContain("refused the request for its size");
	});

	it("says so where the last message alone does not fit, and cuts nothing", async () => {
		const acp = await openAcp({ ...compacting, seed: work(1) });
		acp.replies(refused, refused, refused);
		const large = "a long log line of the user\n".repeat(8_000);
		await acp.prompt(large);
		process.exitCode = undefined;
		expect(notices()).toContain("do not fit the window");
		expect(textOf(acp.requests[0]?.body.messages.at(-1))).toContain(large);
	});
});
