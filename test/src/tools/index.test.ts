import { afterEach, describe, expect, it } from "vitest";
import piBillionContext from "../../../src/index.ts";
import { closeAcp, openAcp, rival } from "../../support/acp.ts";
import { toolNames } from "../../support/wire.ts";

afterEach(closeAcp);

const ours = ["compress", "decompress", "search_context", "acp_status"];

describe("the tools", () => {
	it.each([true, false])("are there from the first request on (session bound: %s)", async (bind) => {
		const acp = await openAcp({ bind });
		expect(acp.session.getActiveToolNames().includes("compress")).toBe(bind);
		await acp.prompt("hello");
		await acp.prompt("again");
		const names = acp.requests.map(toolNames);
		expect(names[0]?.filter((name) => ours.includes(name))).toEqual(ours);
		expect(names[1]).toEqual(names[0]);
	});

	it("are declared to the model alone: scripts cannot call them", async () => {
		const acp = await openAcp();
		const tools = acp.session.getAllTools().filter((tool) => ours.includes(tool.name));
		expect(tools.map((tool) => tool.exposure)).toEqual(ours.map(() => "model-only"));
	});

	it("that change something run one after the other", async () => {
		const acp = await openAcp();
		const modes = ours.map((name) => acp.session.getToolDefinition(name)?.executionMode);
		expect(modes).toEqual(["sequential", "sequential", undefined, undefined]);
	});

	it("are not there at all where folding is switched off", async () => {
		const acp = await openAcp({ acp: { enabled: false } });
		await acp.prompt("hello");
		expect(toolNames(acp.requests[0]).filter((name) => ours.includes(name))).toEqual([]);
	});

	it("are not there where another extension owns compress", async () => {
		for (const extensions of [
			[rival, piBillionContext],
			[piBillionContext, rival],
		]) {
			const acp = await openAcp({ extensions });
			await acp.prompt("hello");
			expect(toolNames(acp.requests[0]).filter((name) => ours.includes(name))).toEqual(["compress"]);
			expect(acp.session.getToolDefinition("compress")?.label).toBe("Rival");
		}
	});

	it("follow the loadout that the user asks for", async () => {
		const acp = await openAcp({ sessionOptions: { tools: ["read", "compress"] } });
		await acp.prompt("hello");
		expect(toolNames(acp.requests[0])).toEqual(["read", "compress"]);
	});
});
