import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { AgentMessage } from "@earendil-works/pi-agent-core";
import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import piBillionContext from "../../../src/index.ts";
import {
	type AcpSession,
	bareAcp,
	closeAcp,
	openAcp,
	operationsIn,
	output,
	range,
	rival,
	work,
	writeAcp,
} from "../../support/acp.ts";
import { blocksIn, expectGrowth, hasNudge, outline, stableLines, textOf } from "../../support/wire.ts";

beforeEach(() => {
	vi.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(async () => {
	vi.restoreAllMocks();
	await closeAcp();
});

const foldFirst = { content: [range("m2", "m3")] };

describe("what the model sees", () => {
	it("has a tag on each message of the user and of a tool, and on no other", async () => {
		const acp = await openAcp({ seed: work(1) });
		acp.session.sessionManager.appendCustomMessageEntry("note", "a note", true);
		await acp.prompt("hello");
		await acp.prompt("again");
		expect(outline(acp.requests[1])).toEqual([
			...[
				"system",
				"user m00001",
				"assistant",
				"tool m00003",
				"user m00004",
				"user m00005",
				"assistant",
				"user m00007",
			],
		]);
		expect(textOf(acp.requests[1]?.body.messages[6])).toBe("ok");
		expect(JSON.stringify(acp.branch())).not.toMatch(/<acp>m0000\d/);
	});

	it("grows from request to request, except at a fold", async () => {
		const acp = await openAcp({ seed: work(2) });
		await acp.prompt("hello");
		await acp.call("compress", foldFirst);
		await acp.prompt("again");
		expectGrowth(acp.requests.slice(0, 2));
		expectGrowth(acp.requests.slice(2));
		expect(stableLines(acp.requests[2]).slice(0, 2)).toEqual(stableLines(acp.requests[1]).slice(0, 2));
	});

	it("holds messages that other extensions put in, where they put them and as they are", async () => {
		const foreign: AgentMessage = { role: "user", content: [{ type: "text", text: "by the way" }], timestamp: 5 };
		const meddler: ExtensionFactory = (pi) => {
			pi.on("context", ({ messages }) => ({ messages: messages.toSpliced(1, 0, foreign) }));
		};
		const acp = await openAcp({ seed: work(2), extensions: [meddler, piBillionContext] });
		await acp.call("compress", foldFirst);
		expect(outline(acp.requests[1]).slice(0, 5)).toEqual(["system", "user m00001", "user", "b1", "assistant"]);
		expect(textOf(acp.requests[1]?.body.messages[2])).toBe("by the way");
	});

	it("is as Pi has it while something breaks, and as it should be afterwards", async () => {
		const acp = await openAcp({ seed: work(2) });
		await acp.call("compress", foldFirst);
		const broken = vi.spyOn(acp.session.sessionManager, "getEntry").mockImplementation(() => {
			throw new Error("out of order");
		});
		await acp.prompt("hello");
		broken.mockRestore();
		await acp.prompt("again");
		const [raw, mended] = acp.requests.slice(-2);
		expect(blocksIn(raw)).toEqual([]);
		expect(textOf(raw?.body.messages[3])).toBe(output(1));
		expect(blocksIn(mended)).toEqual(["b1"]);
		expect(acp.extensionErrors).toEqual([]);
		expect(await acp.logText()).toContain('[error] [context] message="Error: out of order"');
	});
});

describe("a session with folds", () => {
	it("keeps them where folding is switched off, without tags", async () => {
		const acp = await openAcp({ seed: work(2) });
		await acp.call("compress", foldFirst);
		writeAcp(acp.home, { ...bareAcp, enabled: false });
		await acp.prompt("hello");
		expect(outline(acp.requests.at(-1))).toEqual([
			...["system", "user", "b1", "assistant", "tool", "user", "assistant", "tool", "assistant", "user"],
		]);
	});

	it("keeps them where compress is another extension's, without tags", async () => {
		const first = await openAcp({ seed: work(2) });
		await first.call("compress", foldFirst);
		const { home, sessionFile } = first;
		const second = await openAcp({ home, sessionFile, extensions: [rival, piBillionContext] });
		await second.prompt("hello");
		expect(outline(second.requests[0]).slice(0, 5)).toEqual(["system", "user", "b1", "assistant", "tool"]);
	});

	it("keeps them where compress is not in the loadout, without tags", async () => {
		const first = await openAcp({ seed: work(2) });
		await first.call("compress", foldFirst);
		const { home, sessionFile } = first;
		const second = await openAcp({ home, sessionFile, sessionOptions: { tools: ["read"] } });
		await second.prompt("hello");
		expect(outline(second.requests[0]).slice(0, 5)).toEqual(["system", "user", "b1", "assistant", "tool"]);
	});

	it("is left alone where the list holds blocks already: whoever owns compress has made the view", async () => {
		const first = await openAcp({ seed: work(2) });
		await first.call("compress", foldFirst);
		const block = { role: "custom", customType: "acp-block", content: "theirs", display: false, timestamp: 5 } as const;
		const elder: ExtensionFactory = (pi) => {
			void rival(pi);
			pi.on("context", ({ messages }) => ({ messages: [block, ...messages] }));
		};
		const { home, sessionFile } = first;
		const second = await openAcp({ home, sessionFile, extensions: [elder, piBillionContext] });
		await second.prompt("hello");
		expect(blocksIn(second.requests[0])).toEqual([]);
		expect(textOf(second.requests[0]?.body.messages[1])).toBe("theirs");
		expect(textOf(second.requests[0]?.body.messages[4])).toBe(output(1));
	});

	it("is made by us where compress is ours, whatever messages of others call themselves", async () => {
		const block = { role: "custom", customType: "acp-block", content: "theirs", display: false, timestamp: 5 } as const;
		const mimic: ExtensionFactory = (pi) => {
			pi.on("context", ({ messages }) => ({ messages: [block, ...messages] }));
		};
		const acp = await openAcp({ seed: work(2), extensions: [mimic, piBillionContext] });
		await acp.call("compress", foldFirst);
		expect(outline(acp.requests.at(-1)).slice(1, 4)).toEqual(["user", "user m00001", "b1"]);
	});

	it.each(["before", "after"])("is shown once where another copy of us is loaded %s us", async (place) => {
		vi.resetModules();
		const { default: copy } = await import("../../../src/index.ts");
		expect(copy).not.toBe(piBillionContext);
		const extensions = place === "before" ? [copy, piBillionContext] : [piBillionContext, copy];
		const acp = await openAcp({ seed: work(2), extensions });
		await acp.call("compress", foldFirst);
		await acp.prompt("hello");
		const request = acp.requests.at(-1);
		expect(blocksIn(request)).toEqual(["b1"]);
		expect(textOf(request?.body.messages[1])).toBe("Look into it\n<acp>m00001</acp>");
		expect(operationsIn(acp.branch())).toHaveLength(1);
	});
});

describe("a request that would pass the emergency line", () => {
	const models = [{ contextWindow: 16_000, maxTokens: 2_000 }];
	const settings = { compaction: { enabled: false } };
	const cutting = { ...bareAcp, strategy: "model" };
	const small = { models, settings, seed: work(2, 5_000), acp: cutting };
	const cuts = (acp: AcpSession) => operationsIn(acp.branch());

	it("has its oldest work folded by rules, recorded once, and stays a prefix of the next one", async () => {
		const acp = await openAcp({ ...small, acp: bareAcp });
		await acp.prompt("hello");
		await acp.prompt("again");
		const [first] = acp.requests;
		expect(blocksIn(first)).toEqual(["b1"]);
		expect(cuts(acp)).toEqual([expect.objectContaining({ kind: "fold", author: "rules" })]);
		expectGrowth(acp.requests);
	});

	it("has its largest result cut where only the model folds, recorded once, and stays a prefix of the next one", async () => {
		const acp = await openAcp(small);
		await acp.prompt("hello");
		await acp.prompt("again");
		const [first] = acp.requests;
		const texts = [3, 5].map((index) => textOf(first?.body.messages[index]));
		expect(texts.filter((text) => text.includes("characters left out"))).toHaveLength(1);
		expect(cuts(acp)).toEqual([expect.objectContaining({ kind: "truncate", sizeTokens: expect.any(Number) })]);
		expectGrowth(acp.requests);
	});

	it("is cut the same way after a restart", async () => {
		const first = await openAcp(small);
		await first.prompt("hello");
		const { home, sessionFile } = first;
		const second = await openAcp({ models, settings, home, sessionFile, acp: cutting });
		await second.prompt("again");
		expectGrowth([...first.requests, ...second.requests]);
		expect(cuts(second)).toHaveLength(1);
	});

	it("is left as it is where we may not fold", async () => {
		const off = await openAcp({ ...small, acp: { enabled: false } });
		await off.prompt("hello");
		const shadowed = await openAcp({ ...small, extensions: [rival, piBillionContext] });
		await shadowed.prompt("hello");
		for (const acp of [off, shadowed]) {
			expect(textOf(acp.requests[0]?.body.messages[3])).toBe(output(1, 5_000));
			expect(cuts(acp)).toEqual([]);
		}
	});

	it("is made to fit where compress is ours, though not in the loadout", async () => {
		const acp = await openAcp({ ...small, acp: bareAcp, sessionOptions: { tools: ["read"] } });
		await acp.prompt("hello");
		expect(cuts(acp)).toMatchObject([{ kind: "fold", author: "rules" }]);
	});
});

describe("a window that gets full", () => {
	const small = { models: [{ contextWindow: 40_000, maxTokens: 4_096 }], settings: { compaction: { enabled: false } } };

	it("is told to the user, once a step, where the model could fold nothing, and else to the model", async () => {
		const stderr = vi.mocked(process.stderr.write);
		const acp = await openAcp({ ...small, acp: { ...bareAcp, compress: { stepTokens: 30_000 } } });
		acp.replies({ text: "read", usage: { promptTokens: 29_000, completionTokens: 10 } });
		await acp.prompt(output(1, 27_000));
		expect(stderr.mock.calls).toEqual([
			[expect.stringMatching(/the context holds 2\d\.\dK .* and nothing in it can be folded now/)],
		]);
		expect(hasNudge(acp.requests[0])).toBe(false);
		await acp.prompt("go on");
		expect(textOf(acp.requests[1]?.body.messages.at(-1))).toMatch(
			/It is getting full\..*\n- startId m00001, endId m0000/,
		);
		expect(operationsIn(acp.branch())).toMatchObject([{ kind: "nudge", voice: "pressure" }]);
		expect(stderr.mock.calls).toHaveLength(1);
	});
});

describe("the answer to a request", () => {
	const small = { models: [{ contextWindow: 40_000, maxTokens: 4_096 }], settings: { compaction: { enabled: false } } };
	/** Nearly fills the window. */
	const full = { text: "read", usage: { promptTokens: 39_500, completionTokens: 10 } };
	const limits = (acp: AcpSession) => acp.requests.map((request) => request.body.max_completion_tokens);

	it("may be a full one again after a fold, however full the context was", async () => {
		const acp = await openAcp({ ...small, seed: work(2) });
		acp.replies(full);
		await acp.prompt("hello");
		await acp.call("compress", foldFirst);
		expect(limits(acp)).toEqual([4_096, 4_096, 4_096]);
	});

	it("may be a full one in the very request that had to be cut", async () => {
		const acp = await openAcp({ ...small, seed: work(1, 14_000), acp: { ...bareAcp, strategy: "model" } });
		writeFileSync(join(acp.home.cwd, "large.txt"), output(3, 12_000));
		acp.replies({ ...full, toolCalls: [{ name: "read", arguments: { path: "large.txt" } }] });
		await acp.prompt("hello");
		expect(operationsIn(acp.branch())).toMatchObject([{ kind: "truncate" }]);
		expect(limits(acp)).toEqual([expect.any(Number), 4_096]);
	});
});

describe("an answer that ran into repetition", () => {
	const endless = { text: `So ${"and on ".repeat(400)}` };

	it("is shortened from the first request that carries it, once, with a word about it", async () => {
		const acp = await openAcp({ seed: work(1) });
		acp.replies(endless);
		await acp.prompt("hello");
		await acp.prompt("again");
		await acp.prompt("and again");
		const sent = JSON.stringify(acp.requests[1]?.body.messages);
		expect(sent).toContain("ran into repetition and is shortened");
		expect(sent).not.toContain("and on ".repeat(10));
		expect(operationsIn(acp.branch())).toMatchObject([{ kind: "truncate", reductions: [{ rule: "collapse" }] }]);
		expectGrowth(acp.requests);
	});

	it("stays as it is where the guard is switched off", async () => {
		const acp = await openAcp({ seed: work(1), acp: { ...bareAcp, degenerationGuard: false } });
		acp.replies(endless);
		await acp.prompt("hello");
		await acp.prompt("again");
		expect(JSON.stringify(acp.requests[1]?.body.messages)).toContain("and on ".repeat(10));
	});
});
