import { fauxAssistantMessage, fauxToolCall } from "@earendil-works/pi-ai";
import type { SessionManager } from "@earendil-works/pi-coding-agent";
import { afterEach, describe, expect, it, vi } from "vitest";
import { type AcpSession, closeAcp, openAcp, range, textIn, work } from "../support/acp.ts";
import { words } from "../support/log.ts";
import { blocksIn, callsOf, expectGrowth, expectWholePairs, outline, textOf } from "../support/wire.ts";

afterEach(closeAcp);

/** A log written message by message; each has a moment of its own. */
class Written {
	readonly #log: SessionManager;
	#timestamp = 1_700_000_000_000;

	constructor(log: SessionManager) {
		this.#log = log;
	}

	user(text: string): string {
		return this.#log.appendMessage({ role: "user", content: text, timestamp: this.#next() });
	}

	/** An assistant message with one call of `read` for each id. */
	calls(...ids: string[]): string {
		const calls = ids.map((id) => fauxToolCall("read", { path: `${id}.ts` }, { id }));
		return this.#log.appendMessage(fauxAssistantMessage(calls, { stopReason: "toolUse", timestamp: this.#next() }));
	}

	result(id: string, text = `result of ${id}`): string {
		return this.#log.appendMessage({
			role: "toolResult",
			toolCallId: id,
			toolName: "read",
			content: [{ type: "text", text }],
			isError: false,
			timestamp: this.#next(),
		});
	}

	compaction(firstKeptId: string): void {
		this.#log.appendCompaction("What was done so far.", firstKeptId, 1_000);
	}

	#next(): number {
		this.#timestamp += 1_000;
		return this.#timestamp;
	}
}

/** A session on such a log that was asked to go on, and once more. */
async function opened(write: (log: Written) => void): Promise<AcpSession> {
	const acp = await openAcp({ seed: (log) => write(new Written(log)) });
	await acp.prompt("go on");
	await acp.prompt("and on");
	for (const request of acp.requests) expectWholePairs(request);
	expectGrowth(acp.requests);
	return acp;
}

/** The message of a request that says a text. */
function saying(acp: AcpSession, text: string) {
	return acp.requests[0]?.body.messages.find((message) => textOf(message).includes(text));
}

describe("a result whose call is not sent", () => {
	it("after two compactions in a row is said as text, and can be folded and opened", async () => {
		const acp = await opened((log) => {
			log.user("task");
			const first = log.calls("one");
			log.result("one");
			log.calls("two");
			log.compaction(first);
			log.result("three", `result of three ${words(1_500)}`);
			log.calls("four");
			log.result("four");
			log.compaction(first);
		});
		expect(saying(acp, "result of three")?.role).toBe("user");
		expect(saying(acp, "result of one")?.role).toBe("tool");
		const call = await acp.call("compress", { content: [range("m6", "m6", "The result of three says w0 to w96.")] });
		expect(textIn(call)).toContain("b1 = m00006");
		expectWholePairs(acp.requests.at(-1));
		expect(textIn(await acp.execute("decompress", { id: "b1" }))).toContain("result of three");
	});

	it("in a log without any fold is said as text at the first request", async () => {
		const acp = await opened((log) => {
			log.user("task");
			log.result("lost");
			log.calls("one");
			log.result("one");
			log.result("one", "the same once more");
		});
		expect(saying(acp, "result of lost")?.role).toBe("user");
		expect(saying(acp, "the same once more")?.role).toBe("user");
		expect(saying(acp, "result of one")?.role).toBe("tool");
	});

	it("does not begin what is kept in a copy of a compacted session", async () => {
		const acp = await opened((log) => {
			log.user("task");
			log.calls("one");
			const result = log.result("one");
			log.user("thanks");
			log.compaction(result);
		});
		expect(outline(acp.requests[0]).slice(0, 4)).toEqual(["system", "user m00005", "user m00003", "user m00004"]);
	});
});

describe("a message of the user between a call and its result", () => {
	it("leaves no call without its result right after it, with and without a fold around it", async () => {
		const acp = await opened((log) => {
			log.user("task");
			log.calls("one", "two");
			log.result("one");
			log.user("wait");
			log.result("two", `result of two ${words(1_500)}`);
			log.calls("three");
			log.result("three", words(1_500));
		});
		expect(saying(acp, "result of two")?.role).toBe("user");
		expect(acp.requests[0]?.body.messages.filter((message) => callsOf(message).length > 0)).toHaveLength(2);
		await acp.call("compress", { content: [range("m2", "m5")] });
		expect(outline(acp.requests.at(-1)).slice(0, 4)).toEqual(["system", "user m00001", "b1", "user m00004"]);
		expectWholePairs(acp.requests.at(-1));
	});
});

describe("a compress call in an answer that the user stopped", () => {
	it("is no fold: the next request is whole, the originals are there, and folding works", async () => {
		const acp = await openAcp({
			seed: (log) => {
				work(2)(log);
				const content = [range("m2", "m3", "Stopped half way.")];
				const call = fauxToolCall("compress", { content }, { id: "stopped" });
				log.appendMessage(fauxAssistantMessage(call, { stopReason: "aborted", timestamp: 1_700_000_100_000 }));
				log.appendMessage({ role: "user", content: "what happened?", timestamp: 1_700_000_101_000 });
			},
		});
		await acp.prompt("go on");
		const [request] = acp.requests;
		expectWholePairs(request);
		expect(request?.raw).not.toContain("Stopped half way.");
		expect(outline(request)).toEqual([
			...[
				"system",
				"user m00001",
				"assistant",
				"tool m00003",
				"assistant",
				"tool m00005",
				"user m00007",
				"user m00008",
			],
		]);
		expect(await acp.call("compress", { content: [range("m2", "m3")] })).toMatchObject({ isError: false });
		expect(blocksIn(acp.requests.at(-1))).toEqual(["b1"]);
	});
});

describe("a compress call whose result could not be written", () => {
	it("folds nothing, now and after a restart, and the same call can be made again", async () => {
		const acp = await openAcp({ seed: work(3) });
		await acp.prompt("hello");
		const { sessionManager } = acp.session;
		const append = sessionManager.appendMessage.bind(sessionManager);
		const failing = vi.spyOn(sessionManager, "appendMessage").mockImplementation((message) => {
			if (message.role === "toolResult") throw new Error("disk full");
			return append(message);
		});
		const content = [range("m2", "m3"), range("m4", "m5")];
		await acp
			.call("compress", { content })
			.catch((error: unknown) => expect(String(error)).toMatch(/disk full|result/));
		expect(failing).toHaveBeenCalledWith(expect.objectContaining({ role: "toolResult", toolName: "compress" }));
		failing.mockRestore();
		await acp.prompt("go on");
		const later = await openAcp({ home: acp.home, sessionFile: acp.sessionFile });
		await later.prompt("and on");
		for (const request of [acp.requests.at(-1), later.requests.at(-1)]) {
			expect(blocksIn(request)).toEqual([]);
			expect(outline(request).slice(0, 6)).toEqual(outline(acp.requests[0]).slice(0, 6));
			expectWholePairs(request);
		}
		expect(await later.call("compress", { content })).toMatchObject({ isError: false });
		expect(blocksIn(later.requests.at(-1))).toEqual(["b1", "b2"]);
	});
});
