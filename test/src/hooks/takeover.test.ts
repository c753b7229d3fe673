import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fauxAssistantMessage, fauxToolCall } from "@earendil-works/pi-ai";
import type { SessionManager } from "@earendil-works/pi-coding-agent";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import piBillionContext from "../../../src/index.ts";
import {
	type AcpOptions,
	type AcpSession,
	bareAcp,
	closeAcp,
	openAcp,
	operationsIn,
	rival,
	work,
} from "../../support/acp.ts";
import { blocksIn, outline, textOf } from "../../support/wire.ts";

let stderr: { mock: { calls: unknown[][] } };

beforeEach(() => {
	stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(async () => {
	vi.restoreAllMocks();
	await closeAcp();
});

/** A seed beside whose log stands a sidecar by another program, with a block over each of these runs of entries. */
function besideSidecar(...runs: readonly (readonly [from: number, to: number])[]): (log: SessionManager) => void {
	return (log) => {
		work(4)(log);
		const ids = log.getEntries().map((entry) => entry.id);
		const blocks = runs.map(([from, to], index) => ({
			blockId: `b${index + 1}`,
			summary: `Theirs, ${from} to ${to}.`,
			tier: 1,
			active: true,
			effectiveMessageIds: ids.slice(from - 1, to),
		}));
		const sidecar = { schemaVersion: 1, producer: { name: "another", version: "3" }, blocks };
		writeFileSync(`${log.getSessionFile()}.acp.json`, JSON.stringify(sidecar));
	};
}

/** A seed in which another extension's compress folded m2 to m3. */
function afterForeignCall(log: SessionManager): void {
	work(3)(log);
	const args = { content: [{ startId: "m00002", endId: "m00003", summary: "Theirs, by a call." }] };
	const timestamp = 1_700_000_100_000;
	log.appendMessage(fauxAssistantMessage(fauxToolCall("compress", args, { id: "c1" }), { timestamp }));
	log.appendMessage({
		role: "toolResult",
		toolCallId: "c1",
		toolName: "compress",
		content: [{ type: "text", text: "Compressed 2 messages." }],
		isError: false,
		timestamp: timestamp + 1,
	});
}

const again = ({ home, sessionFile }: AcpSession, options: AcpOptions = {}) =>
	openAcp({ home, sessionFile, ...options });

describe("a session that another context extension worked in", () => {
	it("goes on with the folds its sidecar lists", async () => {
		const acp = await openAcp({ seed: besideSidecar([2, 3], [6, 9]) });
		await acp.prompt("hello");
		expect(outline(acp.requests[0])).toEqual([
			"system",
			"user m00001",
			"b1",
			"assistant",
			"tool m00005",
			"b2",
			"user m00010",
		]);
		expect(textOf(acp.requests[0]?.body.messages[2])).toContain("\nTheirs, 2 to 3.\n");
		expect(stderr.mock.calls).toEqual([[expect.stringContaining("took over the folds b1, b2 of another")]]);
		expect(await acp.logText()).toContain('[info] [takeover] taken="b1 b2" left=""');
	});

	it("goes on with the folds its calls made where there is no sidecar", async () => {
		const acp = await openAcp({ seed: afterForeignCall });
		await acp.prompt("hello");
		expect(textOf(acp.requests[0]?.body.messages[2])).toContain("Theirs, by a call.");
	});

	it("has them in its own log from then on, and its sidecar kept under another name", async () => {
		const first = await openAcp({ seed: besideSidecar([2, 3]) });
		const path = `${first.sessionFile}.acp.json`;
		await first.logText();
		expect(readFileSync(`${path}.bak`, "utf8")).toContain('"name":"another"');
		expect(JSON.parse(readFileSync(path, "utf8"))).toMatchObject({ blocks: [{ summary: "Theirs, 2 to 3." }] });
		const second = await again(first);
		await second.prompt("hello");
		expect(blocksIn(second.requests[0])).toEqual(["b1"]);
		expect(operationsIn(second.branch())).toHaveLength(1);
		expect(stderr.mock.calls).toHaveLength(1);
	});

	it("can have them taken back", async () => {
		const acp = await openAcp({ seed: besideSidecar([2, 3]) });
		await acp.prompt("/acp undo");
		await acp.prompt("hello");
		expect(blocksIn(acp.requests[0])).toEqual([]);
		const second = await again(acp);
		await second.prompt("hello");
		expect(blocksIn(second.requests[0])).toEqual([]);
	});

	it("is told what could not be located, and keeps its sidecar then", async () => {
		const acp = await openAcp({ seed: besideSidecar([80, 90]) });
		await acp.prompt("hello");
		expect(blocksIn(acp.requests[0])).toEqual([]);
		expect(stderr.mock.calls).toEqual([[expect.stringContaining("b1 could not be located in this log")]]);
		expect(existsSync(`${acp.sessionFile}.acp.json.bak`)).toBe(false);
		expect(operationsIn(acp.branch())).toEqual([]);
	});

	it.each<[string, AcpOptions]>([
		["folding is switched off", { acp: { ...bareAcp, enabled: false } }],
		["another extension owns compress", { extensions: [rival, piBillionContext] }],
	])("is left as it is while %s", async (_state, options) => {
		const acp = await openAcp({ seed: besideSidecar([2, 3]), ...options });
		await acp.prompt("hello");
		expect(operationsIn(acp.branch())).toEqual([]);
		expect(existsSync(`${acp.sessionFile}.acp.json.bak`)).toBe(false);
	});

	it("is looked at again after a move in the tree", async () => {
		const acp = await openAcp({ seed: work(2) });
		const [first] = acp.branch();
		afterForeignCall(acp.session.sessionManager);
		const last = acp.branch().at(-1);
		await acp.session.navigateTree(first?.id ?? "", { summarize: false });
		expect(operationsIn(acp.branch())).toEqual([]);
		await acp.session.navigateTree(last?.id ?? "", { summarize: false });
		expect(operationsIn(acp.branch())).toMatchObject([{ kind: "fold" }]);
	});
});

describe("what is no list of folds", () => {
	it.each(["", "not JSON", "[]", '{ "blocks": 7 }', '{ "schemaVersion": 2, "blocks": [] }'])(
		"in the place of a sidecar is left alone: %j",
		async (text) => {
			const seed = (log: SessionManager) => {
				work(2)(log);
				writeFileSync(`${log.getSessionFile()}.acp.json`, text);
			};
			const acp = await openAcp({ seed });
			await acp.prompt("hello");
			expect(operationsIn(acp.branch())).toEqual([]);
			expect(stderr.mock.calls).toEqual([]);
			expect(readFileSync(`${acp.sessionFile}.acp.json`, "utf8")).toBe(text);
		},
	);
});
