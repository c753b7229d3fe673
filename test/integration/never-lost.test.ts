import { readFileSync, rmSync, writeFileSync } from "node:fs";
import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { afterEach, describe, expect, it } from "vitest";
import piBillionContext from "../../src/index.ts";
import {
	type AcpSession,
	bareAcp,
	closeAcp,
	openAcp,
	operationsIn,
	range,
	resultsIn,
	textIn,
	work,
} from "../support/acp.ts";
import type { RecordedRequest } from "../support/provider.ts";
import { entriesOf } from "../support/scenario.ts";
import { blocksIn, expectGrowth, expectWholePairs, outline, textsOf } from "../support/wire.ts";

afterEach(closeAcp);

/** Another session on the same log, as another process has it. */
function reopen({ home, sessionFile }: AcpSession): Promise<AcpSession> {
	return openAcp({ home, sessionFile });
}

/** The blocks of a request as they stand in it. */
function blockTexts(request: RecordedRequest | undefined): readonly string[] {
	return (request?.body.messages ?? []).flatMap(textsOf).filter((text) => text.startsWith("<acp-block "));
}

/** Rewrites each message of a log. */
function rewriteMessages(path: string, change: (message: Record<string, unknown>) => object): void {
	const [header = ""] = readFileSync(path, "utf8").split("\n");
	const lines = entriesOf(path).map((entry) =>
		JSON.stringify("message" in entry ? { ...entry, message: change({ ...entry.message }) } : entry),
	);
	writeFileSync(path, `${[header, ...lines].join("\n")}\n`);
}

/** A session with two folds, one that was refused, and one over the first two. */
async function nested(): Promise<AcpSession> {
	const acp = await openAcp({ seed: work(6) });
	await acp.call("compress", { content: [range("m2", "m3", "The first file.")] });
	await acp.call("compress", { content: [range("m4", "m5", "The second file.")] });
	await acp.call("compress", { content: [range("m2", "m3", "Nothing new.")] });
	await acp.call("compress", { content: [range("b1", "b2", "Both files.")] });
	await acp.prompt("go on");
	expect(
		resultsIn(acp.branch())
			.slice(-4)
			.map(({ isError }) => isError),
	).toEqual([false, false, true, false]);
	expect(blocksIn(acp.requests.at(-1))).toEqual(["b3"]);
	return acp;
}

describe("a log without anything beside it", () => {
	it.each<[string, (message: Record<string, unknown>) => object]>([
		["", (message) => message],
		[", with results that lost their details", (message) => ({ ...message, details: undefined })],
		[", with calls that lost their arguments", withoutArguments],
	])("has every fold and no refused one%s, at each start anew", async (_how, change) => {
		const acp = await nested();
		rmSync(`${acp.sessionFile}.acp.json`, { force: true });
		rewriteMessages(acp.sessionFile, change);
		const second = await reopen(acp);
		await second.prompt("go on");
		const third = await reopen(second);
		await third.prompt("and on");
		const requests = [second.requests[0], third.requests[0]].flatMap((request) => request ?? []);
		expect(requests.map((request) => blocksIn(request))).toEqual([["b3"], ["b3"]]);
		expect(blockTexts(requests[0])).toEqual(blockTexts(acp.requests.at(-1)));
		expectGrowth(requests);
		expect(textIn(await third.execute("decompress", { id: "b1" }))).toContain("needle1 ");
	});

	it("that lost the arguments and the details of its calls has no folds, and goes on", async () => {
		const acp = await nested();
		rewriteMessages(acp.sessionFile, (message) => ({ ...withoutArguments(message), details: {} }));
		const second = await reopen(acp);
		await second.prompt("go on");
		expect(blocksIn(second.requests[0])).toEqual([]);
		expect(second.requests[0]?.raw).toContain("needle1 ");
		expect(second.extensionErrors).toEqual([]);
	});

	function withoutArguments(message: Record<string, unknown>): object {
		if (!Array.isArray(message.content)) return message;
		const content = message.content.map((part) => (part.type === "toolCall" ? { ...part, arguments: {} } : part));
		return { ...message, content };
	}
});

describe("a session that was just opened", () => {
	it("shows its folds to two requests that come at the same time", async () => {
		const acp = await nested();
		const fresh = await openAcp({ home: acp.home, sessionFile: acp.sessionFile, bind: false });
		const { extensionRunner, messages } = fresh.session;
		const views = await Promise.all([0, 1].map(() => extensionRunner.emitContext([...messages])));
		for (const view of views) expect(JSON.stringify(view)).toContain('<acp-block id=\\"b3\\"');
		expect(views[0]).toEqual(views[1]);
	});

	it("can be folded before any request was made", async () => {
		const acp = await openAcp({ seed: work(4) });
		const result = await acp.execute("compress", { content: [range("m2", "m5")] });
		expect(textIn(result)).toContain("b1 = m00002-m00005");
		expect(acp.requests).toEqual([]);
	});
});

describe("a call of compress", () => {
	it("may have the id of another one: both hold, also after a restart", async () => {
		const acp = await openAcp({ seed: work(4) });
		for (const content of [[range("m2", "m3")], [range("m4", "m5")]]) {
			acp.replies({ toolCalls: [{ id: "same", name: "compress", arguments: { content } }] }, { text: "ok" });
			await acp.prompt("Fold");
		}
		expect(blocksIn(acp.requests.at(-1))).toEqual(["b1", "b2"]);
		const next = await reopen(acp);
		await next.prompt("go on");
		expectGrowth([...acp.requests.slice(-1), ...next.requests]);
	});

	it("that waits for a permission nobody gives holds up no other one", async () => {
		let asked = 0;
		const asking: ExtensionFactory = (pi) => {
			pi.on("tool_call", ({ toolName }) => {
				if (toolName === "compress" && ++asked === 1) return new Promise<undefined>(() => undefined);
				return undefined;
			});
		};
		const acp = await openAcp({ seed: work(4), extensions: [asking, piBillionContext] });
		acp.replies({ toolCalls: [{ name: "compress", arguments: { content: [range("m2", "m3")] } }] });
		const abandoned = acp.session.prompt("Fold");
		await expect.poll(() => asked).toBe(1);
		expect(await acp.execute("compress", { content: [range("m4", "m5")] })).not.toMatchObject({ isError: true });
		expect(textIn(await acp.execute("acp_status", {}))).toContain("The view holds");
		acp.session.dispose();
		const next = await reopen(acp);
		expect(await next.call("compress", { content: [range("m2", "m3")] })).toMatchObject({ isError: false });
		expect(blocksIn(next.requests.at(-1))).toEqual(["b1"]);
		void abandoned.catch(() => undefined);
	});

	it("makes the next request smaller, and that of the next process too", async () => {
		const acp = await openAcp({ seed: work(4) });
		await acp.call("compress", { content: [range("m2", "m7")] });
		const next = await reopen(acp);
		await next.prompt("go on");
		const [before, after, later] = [acp.requests[0], acp.requests[1], next.requests[0]].map(
			(request) => request?.body.messages.length ?? 0,
		);
		// Six messages become one block; the call, its result, the answer and the next prompt come to it.
		expect(after).toBe((before ?? 0) - 5 + 2);
		expect(later).toBe((after ?? 0) + 2);
		expect(next.requests[0]?.raw.length).toBeLessThan((acp.requests[0]?.raw.length ?? 0) / 2);
	});

	it("works the same where all messages have one time, and where time runs backwards", async () => {
		for (const step of [0, -1_000]) {
			const acp = await openAcp({ seed: work(4) });
			let timestamp = 1_800_000_000_000;
			rewriteMessages(acp.sessionFile, (message) => {
				timestamp += step;
				return { ...message, timestamp };
			});
			const again = await reopen(acp);
			await again.call("compress", { content: [range("m4", "m7")] });
			expect(outline(again.requests[1]).slice(1, 6)).toEqual([
				...["user m00001", "assistant", "tool m00003", "b1", "assistant"],
			]);
		}
	});

	it("whose range begins right after the last one takes nothing away with it", async () => {
		const acp = await openAcp({ seed: work(2) });
		await acp.call("compress", { content: [range("m2", "m5", "The summary of the beginning.")] });
		const from = acp.branch().length;
		for (const step of ["one", "two", "three"]) {
			acp.replies({ text: Array.from({ length: 300 }, (_, line) => `${step} ${line}`).join(" ") });
			await acp.prompt(`Step ${step}`);
		}
		expect(acp.branch().length).toBe(from + 6);
		await acp.call("compress", { content: [range("m6", `m${from}`, "The summary of the rest.")] });
		expect(blocksIn(acp.requests.at(-1))).toEqual(["b1", "b2"]);
		const texts = blockTexts(acp.requests.at(-1));
		expect(texts[0]).toContain("The summary of the beginning.");
		expect(texts[1]).toContain("The summary of the rest.");
	});
});

describe("the summary of a block", () => {
	it("is never shortened, however long the session, however full the window", async () => {
		const acp = await openAcp({ seed: work(3, 8_000), acp: { ...bareAcp, strategy: "model" } });
		const text = Array.from({ length: 900 }, (_, index) => `word${index}`).join(" ");
		const summary = `What the parser reads: ${text}`.padEnd(9_000, ".");
		await acp.call("compress", { content: [range("m2", "m5", summary)] });
		for (let turn = 0; turn < 25; turn++) {
			acp.replies({ text: "ok", usage: { promptTokens: 198_000, completionTokens: 10 } });
			await acp.prompt(`Turn ${turn}`);
		}
		const texts = acp.requests.slice(1).map((request) => blockTexts(request));
		expect(texts).toHaveLength(26);
		for (const [text, ...more] of texts) {
			expect(text).toContain(`\n${summary}\n`);
			expect(more).toEqual([]);
		}
	});

	it("stands in view exactly once for each block, in order, whatever was folded after it", async () => {
		const acp = await openAcp({ seed: work(6) });
		const content = [range("m2", "m3", "About one."), range("m6", "m7", "About three.")];
		await acp.call("compress", { content });
		await acp.call("compress", { content: [range("m10", "m11", "About five.")] });
		const second = await reopen(acp);
		await second.prompt("go on");
		for (const request of [acp.requests.at(-1), second.requests.at(-1)]) {
			const summaries = blockTexts(request).map((text) => /\n(About \w+\.) /.exec(text)?.[1]);
			expect(summaries).toEqual(["About one.", "About three.", "About five."]);
			expectWholePairs(request);
		}
	});
});

describe("a block inside another one", () => {
	it("is still opened by its own ref, and so is the outer one", async () => {
		const acp = await nested();
		for (const [id, needles] of [
			["b1", ["needle1 "]],
			["b2", ["needle2 "]],
			["b3", ["needle1 ", "needle2 "]],
		] as const) {
			const text = textIn(await acp.execute("decompress", { id }));
			for (const needle of needles) expect(text).toContain(needle);
		}
		expect(textIn(await acp.execute("search_context", { query: "first file" }))).toMatch(/\bb1\b/);
	});
});

describe("a message we know nothing of", () => {
	it("inside a folded range does not keep the rest from being folded", async () => {
		const acp = await openAcp({ seed: work(4) });
		const [header = ""] = readFileSync(acp.sessionFile, "utf8").split("\n");
		const entries = entriesOf(acp.sessionFile);
		const strange = { role: "hologram", content: { beam: 1 }, timestamp: 1_700_000_000_500 };
		const lines = entries.flatMap((entry, index) => {
			if (index === 3) return [entry, { ...entry, id: "57a4e003", parentId: entry.id, message: strange }];
			return index === 4 ? [{ ...entry, parentId: "57a4e003" }] : [entry];
		});
		writeFileSync(acp.sessionFile, `${[header, ...lines.map((line) => JSON.stringify(line))].join("\n")}\n`);
		const again = await reopen(acp);
		await again.call("compress", { content: [range("m2", "m8")] });
		expect(blocksIn(again.requests.at(-1))).toEqual(["b1"]);
		expect(again.requests.at(-1)?.raw).not.toContain("needle1 ");
		expect(again.requests.at(-1)?.raw).not.toContain("needle3 ");
		expect(again.extensionErrors).toEqual([]);
		const last = await reopen(again);
		await last.prompt("go on");
		expectGrowth([...again.requests.slice(-1), ...last.requests]);
	});
});

describe("a compaction by Pi", () => {
	it("finds no handler that throws where the session was replaced just before", async () => {
		const replacing: { acp?: AcpSession } = {};
		let asked = 0;
		const replace: ExtensionFactory = (pi) => {
			pi.on("session_before_compact", () => {
				asked++;
				replacing.acp?.session.dispose();
			});
		};
		const acp = await openAcp({ seed: work(4), extensions: [replace, piBillionContext], settings: keepsLittle });
		replacing.acp = acp;
		await acp.session.compact().catch((error: unknown) => expect(String(error)).toMatch(/abort|cancel|stale/i));
		expect(asked).toBe(1);
		expect(acp.extensionErrors).toEqual([]);
		expect(operationsIn(acp.branch())).toEqual([]);
	});

	const keepsLittle = { compaction: { keepRecentTokens: 1_000 } };
});
