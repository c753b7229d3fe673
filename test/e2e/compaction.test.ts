import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { afterEach, describe, expect, it } from "vitest";
import type { RecordedRequest, Reply } from "../support/provider.ts";
import { call, closeScenarios, fold, openScenario, read, type Scenario } from "../support/scenario.ts";
import { blocksIn, expectGrowth, expectWholePairs, lastResult, textOf } from "../support/wire.ts";

afterEach(closeScenarios);

const lines = (name: string, count: number) =>
	`${`line of ${name}, one of very many that say the same\n`.repeat(count)}end of ${name}\n`;

/** Near the limit, so that Pi would compact after the answer. */
const full = (reply: Reply, promptTokens: number): Reply => ({ ...reply, usage: { promptTokens } });

function anchorsIn(scene: Scenario) {
	return scene.entries().filter((entry) => entry.type === "compaction");
}

/** Requests by Pi for a summary of its own: they carry no tools. */
function summaryRequests(scene: Scenario): readonly RecordedRequest[] {
	return scene.requests.filter((request) => request.body.tools === undefined);
}

describe("a compaction at Pi's threshold", () => {
	it("is an anchor: Pi deals with the small session, the view grows on, and no model is asked for a summary", async () => {
		const models = [{ contextWindow: 40_000, maxTokens: 4_096 }];
		const scene = await openScenario({ models, settings: { compaction: { keepRecentTokens: 2_000 } } });
		scene.file("long.txt", lines("long", 600));
		scene.replies(read("long.txt"), read("long.txt"), fold(["m00002", "m00003"]), full({ text: "done" }, 26_000));
		await scene.run("Read it");
		scene.replies({ text: "yes" }, { text: "and yes" });
		await scene.run("Go on", { args: ["-c"] });
		await scene.run("And on", { args: ["-c"] });
		expect(anchorsIn(scene).length).toBeGreaterThan(0);
		expect(summaryRequests(scene)).toEqual([]);
		const after = scene.requests.slice(-2);
		expectGrowth(after);
		for (const request of after) {
			expect(blocksIn(request)).toContain("b1");
			expectWholePairs(request);
		}
	});
});

describe("a request refused as too large", () => {
	it.each([
		["OpenAI", "This model's maximum context length is 24000 tokens. However, your messages resulted in 30000 tokens."],
		["Anthropic", "prompt is too long: 30000 tokens > 24000 maximum"],
		["llama.cpp", "the request exceeds the available context size. try increasing it"],
		["a server error", "Context size has been exceeded."],
	])("in the words of %s ends with an answer all the same", async (_dialect, error) => {
		const models = [{ contextWindow: 64_000, maxTokens: 4_096 }];
		const settings = { compaction: { keepRecentTokens: 2_000 }, retry: { enabled: false } };
		const scene = await openScenario({ models, settings });
		scene.file("long.txt", lines("long", 1_500));
		scene.replies(read("long.txt"), read("long.txt"), { error, status: 400 }, { text: "the answer" });
		const { stdout, made } = await scene.run("Read it twice");
		expect(stdout).toContain("the answer");
		expect(made).toHaveLength(4);
		expect(made[3]?.raw.length).toBeLessThan(made[2]?.raw.length ?? 0);
		expectWholePairs(made[3] ?? expect.unreachable());
		expect(summaryRequests(scene)).toEqual([]);
	});

	it("is made smaller and tried once more in an 8K window, where Pi has nothing to compact", async () => {
		const models = [{ contextWindow: 8_000, maxTokens: 1_000 }];
		const scene = await openScenario({ models, settings: { retry: { enabled: false } } });
		scene.file("long.txt", lines("long", 200));
		const refused = { error: "This model's maximum context length is 6000 tokens", status: 400 };
		scene.replies(read("long.txt"), refused, { text: "the answer" });
		const { stdout } = await scene.run("Read it");
		expect(stdout).toContain("the answer");
	});

	it("ends with exit code 1 and a reason where it stays refused", async () => {
		const models = [{ contextWindow: 8_000, maxTokens: 1_000 }];
		const scene = await openScenario({ models, settings: { retry: { enabled: false } } });
		scene.file("long.txt", lines("long", 200));
		const refused = { error: "This model's maximum context length is 6000 tokens", status: 400 };
		scene.replies(read("long.txt"), refused, refused, refused, refused);
		const run = scene.run("Read it");
		await expect(run).rejects.toThrow();
		await expect(run).rejects.toThrow(/refused the request for its size/);
		expect(scene.requests.length).toBeLessThanOrEqual(3);
	});

	it("is tried once more with Pi's compaction switched off", async () => {
		const models = [{ contextWindow: 64_000, maxTokens: 4_096 }];
		const settings = { compaction: { enabled: false }, retry: { enabled: false } };
		const scene = await openScenario({ models, settings });
		scene.file("long.txt", lines("long", 1_500));
		const refused = { error: "prompt is too long: 30000 tokens > 24000 maximum", status: 400 };
		scene.replies(read("long.txt"), read("long.txt"), refused, { text: "the answer" });
		const { stdout } = await scene.run("Read it twice");
		expect(stdout).toContain("the answer");
	});
});

describe("a server that refuses what is over its window and never says how much it counted", () => {
	const windowTokens = 24_000;

	it.each(["hybrid", "rules"])(
		"never has the last word, whatever the model reads and never folds: %s",
		async (strategy) => {
			const models = [{ contextWindow: windowTokens, maxTokens: 2_000 }];
			const settings = { compaction: { keepRecentTokens: 2_000 }, retry: { enabled: false } };
			let steps = 0;
			const sizes: number[] = [];
			const scene = await openScenario({ models, settings, acp: { strategy } }, (request) => {
				const sizeTokens = countTokens(JSON.stringify([request.body.messages, request.body.tools]));
				sizes.push(sizeTokens);
				const error = `prompt is too long: ${sizeTokens} tokens > ${windowTokens} maximum`;
				if (sizeTokens > windowTokens) return { error, status: 400 };
				steps += 1;
				if (steps % 8 === 0) return { text: `the answer ${steps}`, usage: null };
				return { ...call("read", { path: "long.txt", offset: steps }), usage: null };
			});
			scene.file("long.txt", lines("long", 500));
			const first = await scene.run("Read it again and again");
			expect(first.stdout).toContain("the answer 8");
			const second = await scene.run("And again", { args: ["-c"] });
			expect(second.stdout).toContain("the answer 16");
			expect(sizes.filter((sizeTokens) => sizeTokens > windowTokens)).toEqual([]);
			for (const request of scene.requests) expectWholePairs(request);
		},
	);
});

describe("the user's /compact", () => {
	it("works on a log three times the window, where Pi's own summary would overflow", async () => {
		const wide = [{ id: "wide", contextWindow: 400_000, maxTokens: 4_096 }];
		const narrow = [{ id: "narrow", contextWindow: 32_000, maxTokens: 2_000 }];
		const scene = await openScenario({ models: [...wide, ...narrow], acp: { strategy: "hybrid" } });
		scene.file("long.txt", lines("long", 1_500));
		scene.replies(read("long.txt"), read("long.txt"), read("long.txt"), read("long.txt"), { text: "read" });
		await scene.run("Read it");
		const rpc = scene.rpc({ args: ["-c"] });
		await rpc.command({ type: "set_model", provider: "loopback", modelId: "narrow" });
		const compacted = await rpc.command({ type: "compact", customInstructions: "the long file" });
		expect(compacted).toMatchObject({ success: true });
		scene.replies({ text: "yes" });
		await rpc.prompt("Go on");
		await rpc.close();
		expect(summaryRequests(scene)).toEqual([]);
		const last = scene.requests.at(-1) ?? expect.unreachable();
		expect(last.raw.length).toBeLessThan(32_000 * 4);
		expect(blocksIn(last).length).toBeGreaterThan(0);
	});
});

describe("a handover", () => {
	it("lets Pi go on without the extension, and folds and search work when it is back", async () => {
		const models = [{ contextWindow: 64_000, maxTokens: 4_096 }];
		const scene = await openScenario({ models, settings: { compaction: { keepRecentTokens: 500 } } });
		scene.file("long.txt", lines("needle", 1_000));
		scene.replies(read("long.txt"), fold(["m00002", "m00003"]), { text: "read and folded" });
		await scene.run("Read the long file");
		const rpc = scene.rpc({ args: ["-c"] });
		await rpc.prompt("/acp handover");
		await rpc.close();
		expect(JSON.stringify(rpc.uiRequests)).toContain("Handed over");

		scene.replies({ text: "without" });
		const { stdout, made } = await scene.run("Are you there?", { args: ["-c"], extensions: [] });
		expect(stdout).toContain("without");
		expect(textOf(made[0]?.body.messages[1])).toContain("What m00002 to m00003 said.");
		expect(made[0]?.raw.length).toBeLessThan(40_000);

		scene.replies(call("search_context", { query: "needle" }), call("decompress", { id: "b1" }), { text: "found" });
		const again = await scene.run("Find the needle", { args: ["-c"] });
		expect(blocksIn(again.made[0] ?? expect.unreachable())).toEqual(["b1"]);
		expect(lastResult(again.made[1] ?? expect.unreachable())).toContain("b1");
		expect(lastResult(again.made[2] ?? expect.unreachable())).toContain("line of needle");
	});
});

describe("a server that refuses two user messages in a row", () => {
	/** Roles on the wire, as a local chat template sees them. */
	function refuses(request: RecordedRequest): string | undefined {
		const roles = request.body.messages.map((message) => message.role).filter((role) => role !== "system");
		const wrong = roles.findIndex(
			(role, index) => role === "user" && ["user", "tool"].includes(roles[index - 1] ?? ""),
		);
		return wrong < 0 ? undefined : "Conversation roles must alternate user/assistant/user/assistant/...";
	}

	it("gets blocks and nudges as parts of the messages beside them", async () => {
		const steps: Reply[] = [
			read("long.txt"),
			read("long.txt"),
			{ text: "read" },
			fold(["m00002", "m00003"]),
			{ text: "folded" },
			{ text: "on" },
		];
		const models = [{ contextWindow: 40_000, maxTokens: 4_096, compat: { requiresAssistantAfterToolResult: true } }];
		const acp = { compress: { keepTokens: 1_000, stepTokens: 1_000 } };
		const settings = { compaction: { keepRecentTokens: 2_000 }, retry: { enabled: false } };
		const scene = await openScenario({ models, settings, acp }, (request) => {
			const error = refuses(request);
			return error === undefined ? (steps.shift() ?? { text: "ok" }) : { error, status: 400 };
		});
		scene.file("long.txt", lines("long", 300));
		await scene.run("Read it");
		await scene.run("Fold it", { args: ["-c"] });
		const { made } = await scene.run("Go on", { args: ["-c"] });
		const sent = JSON.stringify(made[0]?.body.messages);
		expect(sent).toContain('<acp-block id=\\"b1\\"');
		expect(JSON.stringify(scene.requests.map((request) => request.body.messages))).toContain("[acp] The context holds");
	});
});
