import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type AcpOptions, type AcpSession, bareAcp, closeAcp, openAcp, work, writeAcp } from "../../support/acp.ts";
import { textOf } from "../../support/wire.ts";

beforeEach(() => {
	vi.spyOn(process.stderr, "write").mockReturnValue(true);
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

/** Near the window, so that Pi starts a compaction after the answer. */
const nearlyFull = { text: "read", usage: { promptTokens: 36_000, completionTokens: 200 } };

const compactions = (acp: AcpSession) => acp.branch().filter((entry) => entry.type === "compaction");

async function prompted(options: AcpOptions = {}): Promise<AcpSession> {
	const acp = await openAcp({ ...compacting, ...options });
	acp.replies(nearlyFull);
	await acp.prompt("hello");
	return acp;
}

describe("a compaction by Pi", () => {
	it("at its threshold is cancelled: the view may be far smaller than the log", async () => {
		const acp = await prompted();
		expect(compactions(acp)).toEqual([]);
		expect(acp.requests).toHaveLength(1);
		expect(await acp.logText()).toContain("[info] [compaction] reason=threshold cancelled=true");
		expect(acp.extensionErrors).toEqual([]);
	});

	it.each<[string, AcpOptions]>([
		["folding is switched off", { acp: { ...bareAcp, enabled: false } }],
		["compress is not in the loadout", { sessionOptions: { tools: ["read"] } }],
	])("at its threshold is Pi's own affair where %s", async (_state, options) => {
		const acp = await prompted(options);
		expect(compactions(acp)).toHaveLength(1);
		expect(await acp.logText()).not.toContain("[compaction]");
	});

	it("at its threshold is Pi's own affair from the moment folding is switched off", async () => {
		const acp = await prompted();
		writeAcp(acp.home, { ...bareAcp, enabled: false });
		acp.replies(nearlyFull);
		await acp.prompt("again");
		expect(compactions(acp)).toHaveLength(1);
	});

	it("that the user asks for is made", async () => {
		const acp = await openAcp(compacting);
		acp.replies({ text: "A summary by Pi." });
		await acp.session.compact();
		expect(compactions(acp)).toHaveLength(1);
		await acp.prompt("hello");
		expect(textOf(acp.requests.at(-1)?.body.messages[1])).toMatch(
			/A summary by Pi\.[\s\S]*<\/summary>\n<acp>m00010<\/acp>$/,
		);
	});

	it("after an overflow is made, and the request is tried again", async () => {
		const acp = await openAcp(compacting);
		acp.replies({ error: "This model's maximum context length is 40000 tokens" }, { text: "A summary by Pi." });
		await acp.prompt("hello");
		expect(compactions(acp)).toHaveLength(1);
		expect(acp.session.getLastAssistantText()).toBe("ok");
		expect(await acp.logText()).not.toContain("[compaction]");
	});
});
