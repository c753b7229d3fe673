import { rmSync } from "node:fs";
import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import piBillionContext from "../../../src/index.ts";
import {
	bareAcp,
	callOfEach,
	closeAcp,
	openAcp,
	operationsIn,
	range,
	textIn,
	work,
	writeAcp,
} from "../../support/acp.ts";

beforeEach(() => {
	vi.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(async () => {
	vi.restoreAllMocks();
	await closeAcp();
});

describe.each(callOfEach)("a call of %s", (name, args) => {
	it("inside which something breaks is refused, with a line in the log", async () => {
		const acp = await openAcp({ seed: work(2) });
		const broken = vi.spyOn(acp.session.sessionManager, "getLeafId").mockImplementation(() => {
			throw new Error("the disk is on fire");
		});
		const result = await acp.execute(name, args);
		broken.mockRestore();
		expect(result).toMatchObject({ isError: true, details: undefined });
		expect(textIn(result)).toBe("Something went wrong inside the extension; nothing changed. Go on with your task.");
		expect(await acp.logText()).toContain(`[error] [${name}] message="Error: the disk is on fire" stack=`);
	});

	it("is refused while folding is switched off", async () => {
		const acp = await openAcp({ seed: work(2) });
		writeAcp(acp.home, { ...bareAcp, enabled: false });
		const result = await acp.execute(name, args);
		expect(result).toMatchObject({ isError: true });
		expect(textIn(result)).toBe("Context folding is switched off in acp.json. Go on with your task.");
		rmSync(acp.home.acpPath);
		expect(await acp.execute(name, args)).not.toMatchObject({ isError: true });
	});

	it("that was aborted is refused", async () => {
		const acp = await openAcp({ seed: work(2) });
		const result = await acp.execute(name, args, AbortSignal.abort());
		expect(result).toMatchObject({ isError: true });
		expect(textIn(result)).toMatch(/^The call was aborted; nothing changed\./);
	});
});

it("a tool of ours is refused once another extension took compress over", async () => {
	const rival: ExtensionFactory = (pi) => {
		pi.on("before_agent_start", () => {
			pi.registerTool({
				name: "compress",
				label: "Rival",
				description: "Compresses otherwise.",
				parameters: { type: "object", properties: {} },
				execute: async () => ({ content: [{ type: "text", text: "rival" }], details: {} }),
			});
		});
	};
	const acp = await openAcp({ seed: work(2), extensions: [rival, piBillionContext] });
	expect(textIn(await acp.call("compress", { content: [range("m2", "m3")] }))).toBe("rival");
	const result = await acp.call("acp_status", {});
	expect(result.isError).toBe(true);
	expect(textIn(result)).toBe("Context folding is off here: another extension owns compress. Go on with your task.");
	expect(operationsIn(acp.branch())).toEqual([]);
});
