import { existsSync, readFileSync, statSync } from "node:fs";
import { type ExtensionFactory, type ExtensionUIContext, VERSION } from "@earendil-works/pi-coding-agent";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import piBillionContext from "../../../src/index.ts";
import { version } from "../../../src/version.ts";
import { closeAcp, openAcp, operationsIn, range, work } from "../../support/acp.ts";
import { said } from "../../support/log.ts";
import { hasNudge } from "../../support/wire.ts";

let stderr: { mock: { calls: unknown[][] } };

beforeEach(() => {
	stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(async () => {
	vi.restoreAllMocks();
	await closeAcp();
});

describe("the start of a session", () => {
	it("is a line in the log", async () => {
		const acp = await openAcp({ seed: work(2) });
		const { sessionId } = acp.session;
		const what = `version=${version} pi=${VERSION} model=loopback/scripted-1 windowTokens=200000 source=model owner=ours`;
		const line = `\\[info\\] \\[session\\] id=${sessionId} ${what} messages=5 blocks=0\n$`;
		expect(await acp.logText()).toMatch(new RegExp(line));
	});

	it("says what is wrong with the settings, once", async () => {
		const acp = await openAcp({ acp: { preserveRecentMessages: "many", enabeld: true } });
		await acp.prompt("hello");
		await acp.prompt("again");
		expect(stderr.mock.calls).toEqual([[expect.stringMatching(/preserveRecentMessages[\s\S]*enabeld/)]]);
	});

	it("says it where the user looks", async () => {
		const acp = await openAcp({ bind: false, acp: "{ not json" });
		const notify = vi.fn();
		const uiContext: Partial<ExtensionUIContext> = { notify };
		await acp.session.bindExtensions({ uiContext: uiContext as ExtensionUIContext });
		expect(notify).toHaveBeenCalledExactlyOnceWith(expect.stringContaining("acp.json"), "warning");
		expect(stderr.mock.calls).toEqual([]);
	});

	it("says it with the first prompt where the host never starts extensions", async () => {
		const acp = await openAcp({ bind: false, acp: "{ not json" });
		await acp.prompt("hello");
		expect(stderr.mock.calls).toEqual([[expect.stringContaining("acp.json")]]);
	});
});

describe("a nudge", () => {
	const nudging = { acp: { preserveRecentMessages: 0, preserveRecentTokens: 0 }, seed: work(6, 9_000) };

	it("is recorded once it has reached the model, and not shown again until the view has grown", async () => {
		const acp = await openAcp(nudging);
		await acp.prompt("hello");
		await acp.prompt("again");
		expect(acp.requests.map(hasNudge)).toEqual([true, false]);
		expect(operationsIn(acp.branch())).toEqual([{ kind: "nudge", sizeTokens: expect.any(Number), voice: "soft" }]);
		expect(acp.branch().some((entry) => entry.type === "custom_message")).toBe(false);
		expect(await acp.logText()).toMatch(/\[info\] \[nudge\] sizeTokens=\d+ voice=soft\n/);
	});

	it("is not recorded if the request failed, and comes again with the next one", async () => {
		const acp = await openAcp({ ...nudging, settings: { retry: { enabled: false } } });
		acp.replies({ status: 401, error: "no such key" });
		await acp.prompt("hello");
		expect(operationsIn(acp.branch())).toEqual([]);
		await acp.prompt("again");
		expect(acp.requests.map(hasNudge)).toEqual([true, true]);
		expect(operationsIn(acp.branch())).toHaveLength(1);
	});

	it("is not recorded if the user stopped the answer", async () => {
		const acp = await openAcp(nudging);
		acp.session.subscribe((event) => {
			if (event.type === "message_update") void acp.session.abort();
		});
		acp.replies({ text: "a long answer ".repeat(50) });
		await acp.prompt("hello");
		expect(hasNudge(acp.requests[0])).toBe(true);
		expect(operationsIn(acp.branch())).toEqual([]);
	});

	it("in an emergency is counted also where the model folds at once, from the size after the fold", async () => {
		const models = [{ contextWindow: 40_000, maxTokens: 4_096 }];
		const acp = await openAcp({ models, seed: work(3), acp: { preserveRecentMessages: 0, preserveRecentTokens: 0 } });
		acp.replies({ text: "ok", usage: { promptTokens: 33_000, completionTokens: 10 } });
		await acp.prompt("hello");
		await acp.call("compress", { content: [range("m2", "m3")] });
		const [fold, nudge] = operationsIn(acp.branch()).slice(-2);
		expect(fold).toMatchObject({ kind: "fold" });
		expect(nudge).toMatchObject({ kind: "nudge", voice: "emergency" });
		expect(nudge).toHaveProperty("sizeTokens", (fold as { sizeTokens: number }).sizeTokens);
	});

	it("leaves what other extensions put into the log in place", async () => {
		const scribe: ExtensionFactory = (pi) => {
			pi.on("turn_end", ({ entries }) => ({ entries: [...entries, { type: "custom", customType: "mine", data: 1 }] }));
		};
		const acp = await openAcp({ ...nudging, extensions: [scribe, piBillionContext] });
		await acp.prompt("hello");
		const types = acp.branch().flatMap((entry) => (entry.type === "custom" ? entry.customType : []));
		expect(types).toEqual(["mine", "acp-operation"]);
	});
});

describe("the sidecar", () => {
	it("is there after the turn that folded, says what was folded, and is the user's alone", async () => {
		const acp = await openAcp({ seed: work(3) });
		const path = `${acp.sessionFile}.acp.json`;
		await acp.prompt("hello");
		await acp.logText();
		expect(existsSync(path)).toBe(false);
		const folded = await acp.call("compress", { content: [{ ...range("m2", "m5"), topic: "lexer" }] });
		await acp.logText();
		const covered = acp
			.branch()
			.slice(1, 5)
			.map((entry) => entry.id);
		const commit = acp.branch().find((entry) => entry.type === "message" && entry.message === folded);
		expect(JSON.parse(readFileSync(path, "utf8"))).toEqual({
			schemaVersion: 1,
			producer: { name: "pi-billion-context", version },
			leafId: commit?.id,
			blocks: [
				{
					blockId: "b1",
					summary: said("What was found."),
					tier: 1,
					compressedTokens: expect.any(Number),
					createdAt: Date.parse(commit?.timestamp ?? ""),
					topic: "lexer",
					startRef: "m00002",
					endRef: "m00005",
					effectiveMessageIds: covered,
					active: true,
				},
			],
		});
		expect(statSync(path).mode & 0o777).toBe(0o600);
	});

	it("is left alone by turns that fold nothing", async () => {
		const acp = await openAcp({ seed: work(3) });
		await acp.call("compress", { content: [range("m2", "m5")] });
		await acp.logText();
		const changedAt = () => statSync(`${acp.sessionFile}.acp.json`, { bigint: true }).mtimeNs;
		const before = changedAt();
		await acp.prompt("hello");
		await acp.logText();
		expect(changedAt()).toBe(before);
	});

	it("says of a block inside another that it is not active", async () => {
		const acp = await openAcp({ seed: work(3) });
		await acp.call("compress", { content: [range("m2", "m3")] });
		await acp.call("compress", { content: [range("b1", "m7")] });
		await acp.logText();
		const { blocks } = JSON.parse(readFileSync(`${acp.sessionFile}.acp.json`, "utf8"));
		expect(blocks).toMatchObject([
			{ blockId: "b1", active: false },
			{ blockId: "b2", active: true },
		]);
	});

	it("is written before the session ends, also where the turn that folded was the last one", async () => {
		const acp = await openAcp({ seed: work(3) });
		acp.session.subscribe((event) => {
			if (event.type === "tool_execution_end") void acp.session.abort();
		});
		await acp.call("compress", { content: [range("m2", "m3")] });
		await acp.session.extensionRunner.emit({ type: "session_shutdown", reason: "quit" });
		expect(acp.requests).toHaveLength(1);
		expect(existsSync(`${acp.sessionFile}.acp.json`)).toBe(true);
	});
});
