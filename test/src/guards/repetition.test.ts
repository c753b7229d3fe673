import type { ExtensionFactory, ExtensionToolContext } from "@earendil-works/pi-coding-agent";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { Streak } from "../../../src/guards/repetition.ts";
import piBillionContext from "../../../src/index.ts";
import {
	type AcpOptions,
	type AcpSession,
	bareAcp,
	closeAcp,
	openAcp,
	openWithUi,
	resultsIn,
	textIn,
} from "../../support/acp.ts";
import type { Reply, ScriptedCall } from "../../support/provider.ts";
import { expectWholePairs } from "../../support/wire.ts";

let stderr: { mock: { calls: unknown[][] } };

beforeEach(() => {
	stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(async () => {
	vi.unstubAllEnvs();
	vi.restoreAllMocks();
	await closeAcp();
});

const parameters = { type: "object", properties: { what: { type: "string" }, deep: { type: "object" } } } as const;

/** A tool `ask` that answers `asked`. */
const asking: ExtensionFactory = (pi) => {
	pi.registerTool({
		name: "ask",
		label: "Ask",
		description: "Asks.",
		parameters,
		execute: async () => ({ content: [{ type: "text", text: "asked" }], details: undefined }),
	});
};

const open = (options: AcpOptions = {}) => openAcp({ ...options, extensions: [asking, piBillionContext] });
const ask = (args: Record<string, unknown> = { what: "now" }): ScriptedCall => ({ name: "ask", arguments: args });
const times = (count: number, ...calls: ScriptedCall[]): Reply[] => Array(count).fill({ toolCalls: calls });
const warning = "third identical call of ask in a row";

/** What became of each call: `asked`, `warned` or `blocked`. */
function fates(acp: AcpSession): readonly string[] {
	return resultsIn(acp.branch()).map((result) => {
		const text = textIn(result);
		if (text.startsWith("Blocked: ")) return result.isError ? "blocked" : "blocked without an error";
		return text.includes(warning) ? "warned" : text;
	});
}

describe("identical calls in a row", () => {
	it("are warned about at the third, and end the turn at the fifth with a notice", async () => {
		const acp = await open();
		acp.replies(...times(7, ask()));
		await acp.prompt("Ask");
		expect(fates(acp)).toEqual(["asked", "asked", "warned", "asked", "blocked"]);
		expect(acp.requests).toHaveLength(5);
		const texts = resultsIn(acp.branch()).map(textIn);
		expect(texts[2]).toMatch(/^asked\n\n\[.*\]$/);
		expect(texts[4]).toContain("ask was called 5 times in a row with the same arguments");
		expect(stderr.mock.calls).toEqual([
			[expect.stringMatching(/^pi-billion-context blocked a call of ask, the fifth/)],
		]);
		expect(await acp.logText()).toMatch(/\[warn\] \[repetition\] tool=ask calls=5\n/);
	});

	it("are said to be blocked where the user looks, each time", async () => {
		const notify = vi.fn();
		const acp = await openWithUi(notify, { extensions: [asking, piBillionContext] });
		for (const prompt of ["Ask", "Ask again"]) {
			acp.replies(...times(5, ask()));
			await acp.prompt(prompt);
		}
		expect(notify.mock.calls.map(([, level]) => level)).toEqual(["warning", "warning"]);
	});

	it("are so whatever the order of their arguments", async () => {
		const acp = await open();
		const one = ask({ what: "x", deep: { a: [1, { b: 2, c: 3 }], d: 4 } });
		const other = ask({ deep: { d: 4, a: [1, { c: 3, b: 2 }] }, what: "x" });
		acp.replies(...[one, other, one, other, one].flatMap((call) => times(1, call)));
		await acp.prompt("Ask");
		expect(fates(acp)).toEqual(["asked", "asked", "warned", "asked", "blocked"]);
	});

	it("in one message are carried out up to the fourth, and the turn ends when the model insists", async () => {
		const acp = await open();
		acp.replies(...times(1, ask(), ask(), ask(), ask(), ask(), ask()), ...times(3, ask()));
		await acp.prompt("Ask");
		expect(fates(acp)).toEqual(["asked", "asked", "warned", "asked", "blocked", "blocked", "blocked"]);
		expect(acp.requests).toHaveLength(2);
		expect(stderr.mock.calls).toHaveLength(1);
	});

	it("count for our own tools as well", async () => {
		const acp = await openAcp();
		acp.replies(...times(7, { name: "decompress", arguments: { id: "b9" } }));
		await acp.prompt("Open it");
		expect(acp.requests).toHaveLength(5);
		const texts = resultsIn(acp.branch()).map(textIn);
		expect(texts[2]).toContain("third identical call of decompress");
		expect(texts[4]).toMatch(/^Blocked: decompress/);
	});
});

describe("calls that Pi refuses by itself", () => {
	it.each<[string, ScriptedCall]>([
		["name no tool", { name: "tell", arguments: {} }],
		["lack what the tool needs", { name: "read", arguments: {} }],
		["have arguments that are no JSON", { name: "ask", arguments: '{"what": "no' }],
	])("because they %s end the run at the fifth, with a notice, and the next prompt is heard", async (_why, call) => {
		const acp = await open();
		acp.replies(...times(12, call));
		await acp.prompt("Ask");
		expect(resultsIn(acp.branch())).toHaveLength(5);
		expect(acp.requests).toHaveLength(5);
		expect(stderr.mock.calls).toEqual([[expect.stringMatching(/blocked a call of (tell|read|ask), the fifth/)]]);
		acp.replies(...times(1, ask()));
		await acp.prompt("Ask in another way");
		for (const request of acp.requests) expectWholePairs(request);
	});

	it("are no row where each is another one", async () => {
		const acp = await open();
		for (let time = 0; time < 7; time++) acp.replies(...times(1, { name: `tell${time}`, arguments: {} }));
		await acp.prompt("Ask");
		expect(acp.requests).toHaveLength(8);
	});
});

describe("a row ends with", () => {
	const fine = (count: number) => Array(count).fill("asked");

	it.each<[string, ScriptedCall]>([
		["a call with other arguments", ask({ what: "then" })],
		["a call of another tool", { name: "acp_status", arguments: {} }],
		["a call with one argument more", ask({ what: "now", deep: {} })],
	])("%s", async (_what, other) => {
		const acp = await open();
		for (let round = 0; round < 3; round++) acp.replies(...times(2, ask()), ...times(1, other));
		await acp.prompt("Ask");
		expect(fates(acp).filter((fate) => /^(warned|blocked)/.test(fate))).toEqual([]);
		expect(acp.requests).toHaveLength(10);
	});

	it("a prompt", async () => {
		const acp = await open();
		for (const prompt of ["Ask", "Ask", "Ask"]) {
			acp.replies(...times(2, ask()));
			await acp.prompt(prompt);
		}
		expect(fates(acp)).toEqual(fine(6));
	});

	it("what a user says in the middle of a run", async () => {
		const acp = await open();
		let ended = 0;
		acp.session.subscribe((event) => {
			if (event.type === "tool_execution_end" && ++ended === 2) void acp.session.steer("Go on");
		});
		acp.replies(...times(4, ask()));
		await acp.prompt("Ask");
		expect(acp.requests).toHaveLength(5);
		expect(fates(acp)).toEqual(fine(4));
	});

	it("a run that another extension asked for", async () => {
		const acp = await open();
		for (let news = 0; news < 3; news++) {
			acp.replies(...times(2, ask()));
			await acp.session.sendCustomMessage(
				{ customType: "news", content: `News ${news}`, display: false },
				{ triggerTurn: true },
			);
			await acp.session.waitForIdle();
		}
		expect(fates(acp)).toEqual(fine(6));
	});

	it("the session: another one in the same process counts for itself", async () => {
		const [left, right] = [await open(), await open()];
		for (const acp of [left, right]) {
			acp.replies(...times(2, ask()));
			await acp.prompt("Ask");
			expect(fates(acp)).toEqual(fine(2));
		}
	});
});

describe("calls that another tool makes", () => {
	it("may be identical", async () => {
		let texts: string[] = [];
		const looping: ExtensionFactory = (pi) => {
			pi.registerTool({
				name: "loop",
				label: "Loop",
				description: "Asks six times.",
				parameters,
				execute: async (_id, _args, _signal, _onUpdate, ctx: ExtensionToolContext) => {
					const outcomes = [];
					for (let time = 0; time < 6; time++) outcomes.push(await ctx.executeTool("ask", { what: "now" }));
					texts = outcomes.map((outcome) => textIn(outcome.result));
					return { content: [{ type: "text", text: "looped" }], details: undefined };
				},
			});
		};
		const acp = await openAcp({ extensions: [asking, looping, piBillionContext] });
		await acp.call("loop", {});
		expect(texts).toEqual(Array(6).fill("asked"));
	});
});

describe("the guard is off where", () => {
	it.each<[string, AcpOptions]>([
		["the settings say so", { acp: { ...bareAcp, repetitionGuard: false } }],
		["they say so for the provider", { acp: { providers: { loopback: { repetitionGuard: false } } } }],
		["the extension is off", { acp: { enabled: false } }],
	])("%s", async (_what, options) => {
		const acp = await open(options);
		acp.replies(...times(6, ask()));
		await acp.prompt("Ask");
		expect(fates(acp)).toEqual(Array(6).fill("asked"));
	});

	it("the environment says so", async () => {
		vi.stubEnv("ACP_REPETITION_GUARD", "off");
		const acp = await open();
		acp.replies(...times(6, ask()));
		await acp.prompt("Ask");
		expect(fates(acp)).toEqual(Array(6).fill("asked"));
	});
});

describe("a streak", () => {
	it("takes an argument that is undefined for one that is not given", () => {
		const streak = new Streak();
		expect([streak.add("ask", { what: "x", deep: undefined }), streak.add("ask", { what: "x" })]).toEqual([1, 2]);
	});

	it("tells apart what differs in type, order of a list or name of the tool", () => {
		const streak = new Streak();
		const calls: [string, unknown][] = [
			["ask", { n: 1 }],
			["ask", { n: "1" }],
			["ask", { n: [1, 2] }],
			["ask", { n: [2, 1] }],
			["ask", { n: { 0: 2, 1: 1 } }],
			["ask", { n: null }],
			["ask", {}],
			["tell", {}],
		];
		expect(calls.map(([name, input]) => streak.add(name, input))).toEqual(calls.map(() => 1));
	});
});
