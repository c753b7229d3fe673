import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { afterEach, describe, expect, it } from "vitest";
import piBillionContext from "../../src/index.ts";
import { closeAcp, openAcp, operationsIn, range, work } from "../support/acp.ts";
import { blocksIn, expectGrowth, stableLines } from "../support/wire.ts";

afterEach(closeAcp);

type Patch = { details?: unknown; content?: { type: "text"; text: string }[] };

/** Another extension, which puts something else into the results of our tools. */
function meddler(patch: Patch): ExtensionFactory {
	return (pi) => {
		pi.on("tool_result", ({ toolName }) => (/compress/.test(toolName) ? patch : undefined));
	};
}

const ranges = { content: [range("m2", "m3"), range("m6", "m7", "Other findings.")] };

async function fold(patch?: Patch) {
	const meddlers = patch === undefined ? [] : [meddler(patch)];
	const acp = await openAcp({ seed: work(4), extensions: [piBillionContext, ...meddlers] });
	await acp.call("compress", ranges);
	return acp;
}

describe("a fold whose details another extension replaced", () => {
	it.each<[string, Patch]>([
		["something else", { details: { mine: true } }],
		["text", { details: "none" }],
	])("by %s is played again from its arguments, to the same bytes", async (_what, patch) => {
		const whole = await fold();
		const patched = await fold(patch);
		expect(operationsIn(patched.branch())).toEqual([]);
		const [blocks, same] = [whole, patched].map((acp) => stableLines(acp.requests.at(-1)).slice(1, 9));
		expect(blocksIn(patched.requests.at(-1))).toEqual(["b1", "b2"]);
		expect(same).toEqual(blocks);
	});

	it("is still there after a restart, byte for byte", async () => {
		const first = await fold({ details: {} });
		const { home, sessionFile } = first;
		const second = await openAcp({ home, sessionFile });
		await second.prompt("hello");
		expectGrowth([...first.requests.slice(-1), ...second.requests]);
	});

	it("can be opened, whose own details may be lost as well", async () => {
		const acp = await fold({ details: {} });
		await acp.call("decompress", { id: "b1", to: "view" });
		expect(operationsIn(acp.branch())).toEqual([]);
		expect(blocksIn(acp.requests.at(-1))).toEqual(["b2"]);
	});
});

describe("a result that is not ours any more", () => {
	it.each<[string, Patch]>([
		["text of another kind", { details: {}, content: [{ type: "text", text: "All is well." }] }],
		["our mark on something unreadable", { details: { acp: 1, op: { kind: "fold", blocks: "many" } } }],
	])("folds nothing: %s", async (_what, patch) => {
		const acp = await fold(patch);
		expect(blocksIn(acp.requests.at(-1))).toEqual([]);
		await acp.prompt("hello");
		expectGrowth(acp.requests.slice(-2));
	});
});
