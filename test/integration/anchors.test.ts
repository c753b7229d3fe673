import { convertResponsesMessages } from "@earendil-works/pi-ai/api/openai-responses-shared";
import { normalizeContext } from "@earendil-works/pi-ai/utils/transcript";
import { convertToLlm, type ExtensionFactory, SessionManager } from "@earendil-works/pi-coding-agent";
import { afterEach, describe, expect, it, vi } from "vitest";
import piBillionContext from "../../src/index.ts";
import { type AcpSession, bareAcp, closeAcp, openAcp, range, textIn, work, writeAcp } from "../support/acp.ts";
import { blocksIn, expectGrowth, textOf } from "../support/wire.ts";

afterEach(closeAcp);

const settings = { compaction: { keepRecentTokens: 1_000 } };

/** Near Pi's threshold of 23,616 tokens. */
const near = { text: "on", usage: { promptTokens: 22_500, completionTokens: 50 } };

const anchorsIn = (acp: AcpSession) => acp.branch().filter((entry) => entry.type === "compaction");

/** A session with a block in which the end of the next turn writes an anchor. */
async function anchored(api: "openai-completions" | "anthropic-messages", ...others: ExtensionFactory[]) {
	const models = [{ api, contextWindow: 40_000, maxTokens: 4_096 }];
	const acp = await openAcp({ models, settings, seed: work(4), extensions: [piBillionContext, ...others] });
	await acp.call("compress", { content: [range("m2", "m5", "What was found.")] });
	acp.replies(near, near);
	await acp.prompt("hello");
	await acp.prompt("hello again");
	expect(anchorsIn(acp)).toHaveLength(1);
	return acp;
}

describe("an anchor", () => {
	it.each(["openai-completions", "anthropic-messages"] as const)(
		"changes no byte of the requests of %s",
		async (api) => {
			const acp = await anchored(api);
			const from = acp.requests.length - 1;
			await acp.prompt("and on");
			await acp.prompt("and on again");
			const { home, sessionFile } = acp;
			const again = await openAcp({
				models: [{ api, contextWindow: 40_000, maxTokens: 4_096 }],
				settings,
				home,
				sessionFile,
			});
			await again.prompt("after a restart");
			expectGrowth([...acp.requests.slice(from), ...again.requests]);
			expect(blocksIn(again.requests[0] ?? expect.unreachable())).toEqual(["b1"]);
		},
	);

	it("spares Pi the way over the whole branch", async () => {
		const acp = await anchored("openai-completions");
		await acp.prompt("and on");
		const { sessionManager } = acp.session;
		const branch = vi.spyOn(sessionManager, "getEntries");
		await acp.prompt("and on again");
		expect(branch).not.toHaveBeenCalled();
		expect(sessionManager.buildSessionProjection()).toEqual(
			SessionManager.prototype.buildSessionProjection.call(sessionManager),
		);
	});

	it("changes no byte of a Responses payload", async () => {
		const payloads: string[][] = [];
		const watch: ExtensionFactory = (pi) => {
			pi.on("context_with_system", ({ messages }) => {
				const model = {
					provider: "loopback",
					id: "scripted-1",
					api: "openai-responses",
					input: ["text"],
					reasoning: false,
				};
				const context = normalizeContext({ messages: convertToLlm(messages) });
				const items = convertResponsesMessages(model as never, context, new Set());
				payloads.push(items.map((item) => JSON.stringify(item)));
			});
		};
		const acp = await anchored("openai-completions", watch);
		const before = payloads.at(-1) ?? expect.unreachable();
		await acp.prompt("and on");
		const after = payloads.at(-1) ?? expect.unreachable();
		expect(after.slice(0, before.length)).toEqual(before);
		expect(after.length).toBeGreaterThan(before.length);
	});

	it("hides nothing: what stands before it can be opened, put back into view, and taken back", async () => {
		const acp = await anchored("openai-completions");
		expect(textIn(await acp.execute("decompress", { id: "b1" }))).toContain("needle1");
		await acp.call("decompress", { id: "b1", to: "view" });
		const opened = acp.requests.at(-1) ?? expect.unreachable();
		expect(blocksIn(opened)).toEqual([]);
		expect(JSON.stringify(opened.body.messages)).toContain("needle1 ");
	});

	it("is written once, not again for the same blocks", async () => {
		const acp = await anchored("openai-completions");
		acp.replies(near);
		await acp.prompt("and on");
		expect(anchorsIn(acp)).toHaveLength(1);
	});

	it("lets the folds stand where folding is switched off afterwards", async () => {
		const acp = await anchored("openai-completions");
		writeAcp(acp.home, { ...bareAcp, enabled: false });
		await acp.prompt("and on");
		expect(blocksIn(acp.requests.at(-1) ?? expect.unreachable())).toEqual(["b1"]);
	});

	it("is the session to Pi alone: without us it goes on from the texts of the blocks", async () => {
		const acp = await anchored("openai-completions");
		const { home, sessionFile } = acp;
		const bare = await openAcp({ models: [{ contextWindow: 40_000 }], settings, home, sessionFile, extensions: [] });
		await bare.prompt("alone");
		const [request] = bare.requests;
		expect(textOf(request?.body.messages[1])).toContain("What was found.");
		expect(JSON.stringify(request?.body.messages)).not.toContain("needle1 ");
	});
});
