import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { afterEach, describe, expect, it } from "vitest";
import piBillionContext from "../../src/index.ts";
import { type AcpSession, closeAcp, openAcp, range, work } from "../support/acp.ts";
import { createHome } from "../support/home.ts";
import { blocksIn, expectGrowth, expectWholePairs, outline, stableLines } from "../support/wire.ts";

afterEach(closeAcp);

describe("a tool that moves the tree while the model works", () => {
	it("leaves a view that is whole, in this run and in the next one", async () => {
		const moving: { acp?: AcpSession } = {};
		const mover: ExtensionFactory = (pi) => {
			pi.registerTool({
				name: "move",
				label: "Move",
				description: "Moves the tree.",
				parameters: { type: "object", properties: {} },
				execute: async () => {
					const manager = moving.acp?.session.sessionManager;
					manager?.branchWithSummary(manager.getEntries()[4]?.id ?? "", "What was left behind.");
					return { content: [{ type: "text", text: "moved" }], details: {} };
				},
			});
		};
		const acp = await openAcp({ seed: work(4), extensions: [mover, piBillionContext] });
		moving.acp = acp;
		await acp.call("compress", { content: [range("m2", "m3")] });
		acp.replies({ toolCalls: [{ name: "move", arguments: {} }] }, { text: "done" });
		await acp.prompt("Move");
		await acp.prompt("go on");
		expect(acp.requests).toHaveLength(5);
		const [folded, moved, next] = acp.requests.slice(2);
		for (const request of acp.requests) expectWholePairs(request);
		expect(blocksIn(folded)).toEqual(["b1"]);
		// The result stands on the branch that was moved to, its call on the one that was left: it is said as text.
		const branch = ["system", "user m00001", "assistant", "tool m00003", "assistant", "tool m00005", "user m00006"];
		expect(outline(moved)).toEqual([...branch, "user m00007"]);
		expect(stableLines(moved).slice(1, 6)).toEqual(stableLines(acp.requests[0]).slice(1, 6));
		expectGrowth([moved, next].flatMap((request) => request ?? []));
		expect(acp.extensionErrors).toEqual([]);
	});
});

describe("a session that lives in memory only", () => {
	it("is folded and moved about in like any other", async () => {
		const acp = await openAcp({ inMemory: true });
		for (const step of ["one", "two", "three"]) {
			acp.replies({ text: `${step} `.repeat(800) });
			await acp.prompt(`Step ${step}`);
		}
		const before = acp.branch().at(-1)?.id ?? "";
		await acp.call("compress", { content: [range("m1", "m4", "Step one and step two.")] });
		expect(blocksIn(acp.requests.at(-1))).toEqual(["b1"]);
		await acp.session.navigateTree(before, { summarize: false });
		await acp.prompt("another way");
		expect(blocksIn(acp.requests.at(-1))).toEqual([]);
		expect(await acp.execute("decompress", { id: "b1" })).not.toMatchObject({ isError: true });
		expect(acp.extensionErrors).toEqual([]);
		expect(existsSync(`${acp.sessionFile}.acp.json`)).toBe(false);
	});
});

describe("a session opened from another folder", () => {
	it("shows the same and keeps its sidecar where it was", async () => {
		const acp = await openAcp({ seed: work(4) });
		await acp.call("compress", { content: [range("m2", "m3")] });
		await acp.prompt("go on");
		const home = createHome();
		const elsewhere = await openAcp({ home, sessionFile: acp.sessionFile });
		await elsewhere.prompt("go on");
		const here = await openAcp({ home: acp.home, sessionFile: acp.sessionFile });
		await here.prompt("and on");
		const lines = [acp.requests.at(-1), elsewhere.requests[0], here.requests[0]].map((request) =>
			stableLines(request).slice(1),
		);
		expect(lines[1]?.slice(0, lines[0]?.length)).toEqual(lines[0]);
		expect(lines[2]?.slice(0, lines[1]?.length)).toEqual(lines[1]);
		await elsewhere.call("compress", { content: [range("b1", "m5")] });
		await elsewhere.logText();
		expect(readFileSync(`${acp.sessionFile}.acp.json`, "utf8")).toContain('"b2"');
		expect(() => readFileSync(join(home.cwd, "session.jsonl.acp.json"))).toThrow("ENOENT");
	});
});
