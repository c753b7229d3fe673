import { existsSync, mkdirSync } from "node:fs";
import type { ExtensionContext, ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { afterEach, beforeAll, describe, expect, it } from "vitest";
import extension from "../../src/index.ts";
import { said } from "../support/log.ts";
import type { RecordedRequest } from "../support/provider.ts";
import {
	call,
	closeScenarios,
	entriesOf,
	openScenario,
	read,
	type Scenario,
	withoutNudges,
} from "../support/scenario.ts";
import { blocksIn, expectGrowth, expectWholePairs, lastResult, stableLines } from "../support/wire.ts";

const long = "a line of the file\n".repeat(500);
const range = { startId: "m00002", endId: "m00003", summary: said("What the file says.") };

async function filled(): Promise<Scenario> {
	const scene = await openScenario({ acp: withoutNudges });
	scene.file("long.txt", long);
	return scene;
}

/** Reads a file, then makes the calls one after the other. Returns the requests from the first answer to a call on. */
async function afterCalls(scene: Scenario, ...calls: readonly ReturnType<typeof call>[]): Promise<RecordedRequest[]> {
	const one = await scene.session({ extensions: [extension], bind: true });
	scene.replies(read("long.txt"), ...calls, { text: "done" });
	await one.prompt("Work");
	await one.dispose();
	expect(one.extensionErrors).toEqual([]);
	expect(scene.requests).toHaveLength(calls.length + 2);
	for (const request of scene.requests) expectWholePairs(request);
	return scene.requests.slice(2);
}

describe("a call that cannot be carried out", () => {
	const nextStep = "Can be folded now: m00002-m00003";
	const refused: [string, ReturnType<typeof call>, string, string][] = [
		[
			"a ref that is none",
			call("compress", { content: [{ ...range, startId: "the start" }] }),
			'"the start" is not a ref',
			nextStep,
		],
		["a message that is not there", call("compress", { content: [{ ...range, endId: "m99999" }] }), "m99999", nextStep],
		["a block that is not there", call("compress", { content: [{ ...range, endId: "b9" }] }), "b9", "acp_status"],
		[
			"a ref of another branch",
			call("compress", { content: [{ ...range, endId: "m00003@0123abcd" }] }),
			"m00003@0123abcd",
			"acp_status",
		],
		[
			"a blank summary",
			call("compress", { content: [{ ...range, summary: " \n\t" }] }),
			"The summary for m00002-m00003 is empty.",
			"Write",
		],
		[
			"a summary longer than what it stands for",
			call("compress", { content: [{ ...range, summary: long.repeat(2) }] }),
			"would take",
			nextStep,
		],
		[
			"the last user message",
			call("compress", { content: [{ ...range, startId: "m00001", endId: "m00001" }] }),
			"the last user message",
			nextStep,
		],
		["nothing at all", call("compress", {}), '"content" is missing.', nextStep],
		["an empty list", call("compress", { content: [] }), "The list of ranges is empty", nextStep],
		["a list of nonsense", call("compress", { content: [7, null] }), "No range could be read", nextStep],
		["a block to open that is not there", call("decompress", { id: "b9" }), "b9", "acp_status"],
		[
			"something to open that is no ref",
			call("decompress", { id: "../../etc/passwd", to: "file" }),
			"is not a ref",
			"acp_status",
		],
		["an empty query", call("search_context", { query: "  " }), "The query is empty.", "Give words"],
	];
	let answers: string[];
	let made: RecordedRequest[];
	let errors: unknown[];

	beforeAll(async () => {
		const scene = await filled();
		made = await afterCalls(scene, ...refused.map(([, reply]) => reply));
		answers = made.map(lastResult);
		errors = entriesOf(scene.sessionFile()).flatMap((entry) =>
			entry.type === "message" && entry.message.role === "toolResult" && entry.message.toolName !== "read"
				? [entry.message.isError]
				: [],
		);
	});

	it.each(refused.map(([what, , problem, step], index) => [what, problem, step, index] as const))(
		"is an error that says what was wrong and what works now: %s",
		(_what, problem, step, index) => {
			expect(errors[index]).toBe(true);
			expect(answers[index]).toContain(problem);
			expect(answers[index]).toContain(step);
		},
	);

	it("changes nothing that was sent before", () => {
		expectGrowth(made);
		expect(made.flatMap(blocksIn)).toEqual([]);
	});
});

describe("arguments that models really send", () => {
	afterEach(closeScenarios);
	const json = JSON.stringify([range]);

	it.each<[string, Record<string, unknown> | string]>([
		["one object instead of a list", { content: range }],
		["the list as a JSON string", { content: json }],
		[
			"a JSON string in code fences with a trailing comma",
			{ content: `\`\`\`json\n[${JSON.stringify(range)},]\n\`\`\`` },
		],
		["a JSON string with raw newlines and invalid backslashes", { content: json.replace("the file", "the\nfile \\d") }],
		["a JSON string that breaks off after the first entry", { content: `${json.slice(0, -1)}, {"startId": "m000` }],
		["other names for the fields", { content: [{ start: "m2", endRef: " M0003 ", summary: range.summary }] }],
		["the range itself as the arguments", { ...range }],
		["arguments with raw newlines in them, which Pi mends", `{"content": ${json.replace("the file", "the\nfile")}}`],
	])("fold all the same: %s", async (_what, args) => {
		const [answer] = await afterCalls(await filled(), call("compress", args));
		expect(lastResult(answer)).toMatch(/^Folded:\nb1 = m00002-m00003 \(2 messages/);
		expect(blocksIn(answer)).toEqual(["b1"]);
	});

	it("that name one good and one bad range fold the good one and name the bad one", async () => {
		const content = [range, { ...range, startId: "m00900" }, range];
		const [answer] = await afterCalls(await filled(), call("compress", { content }));
		expect(lastResult(answer)).toMatch(/^Folded:\nb1 = m00002-m00003 .*\nRefused: m00900 .*\nRefused: .*\n/);
		expect(blocksIn(answer)).toEqual(["b1"]);
	});

	it("in two calls of one message see each other", async () => {
		const scene = await filled();
		const first = call("compress", { content: [range] });
		const both = { toolCalls: [...(first.toolCalls ?? []), ...(first.toolCalls ?? [])] };
		const [answer] = await afterCalls(scene, both);
		expect(blocksIn(answer)).toEqual(["b1"]);
		const results = answer?.body.messages
			.filter((message) => message.role === "tool")
			.map((message) => message.content);
		expect(results).toHaveLength(2);
		expect(results?.[0]).toMatch(/^Folded:\nb1 = /);
		expect(results?.[1]).toContain("already folded in b1");
	});

	it("whose own JSON is broken beyond Pi's mending are refused by Pi, and change nothing", async () => {
		const scene = await filled();
		const [answer] = await afterCalls(scene, call("compress", `{"content": [${JSON.stringify(range)},]}`));
		expect(lastResult(answer)).toContain('Invalid arguments for tool "compress"');
		expect(blocksIn(answer)).toEqual([]);
		expectGrowth(scene.requests);
	});

	it("cut off by the output limit are not executed", async () => {
		const scene = await filled();
		const [answer] = await afterCalls(scene, { ...call("compress", { content: [range] }), finishReason: "length" });
		expect(blocksIn(answer)).toEqual([]);
		expectGrowth(scene.requests);
	});
});

describe("a call that is aborted", () => {
	afterEach(closeScenarios);

	it.each(["tool_call", "tool_execution_start"] as const)(
		"at its %s folds nothing, and the session goes on",
		async (at) => {
			const scene = await filled();
			const aborting: ExtensionFactory = (pi) => {
				const stop = (event: { toolName: string }, ctx: ExtensionContext) => {
					if (event.toolName === "compress") ctx.abort();
				};
				if (at === "tool_call") pi.on("tool_call", stop);
				else pi.on("tool_execution_start", stop);
			};
			const one = await scene.session({ extensions: [aborting, extension], bind: true });
			scene.replies(read("long.txt"), call("compress", { content: [range] }));
			await one.prompt("Work");
			await one.prompt("Go on");
			await one.dispose();
			expect(scene.requests).toHaveLength(3);
			expectGrowth(scene.requests);
			for (const request of scene.requests) expectWholePairs(request);
			expect(lastResult(scene.requests[2])).toMatch(/aborted/);
			expect(blocksIn(scene.requests[2])).toEqual([]);
		},
	);
});

describe("a sidecar that cannot be written", () => {
	afterEach(closeScenarios);

	it("costs no fold: what stands at its place is set aside", async () => {
		const scene = await filled();
		const sidecar = `${scene.sessionFile()}.acp.json`;
		mkdirSync(`${sidecar}/folder`, { recursive: true });
		const [answer] = await afterCalls(scene, call("compress", { content: [range] }));
		expect(blocksIn(answer)).toEqual(["b1"]);
		expect(existsSync(`${sidecar}.bak/folder`)).toBe(true);
		expect(stableLines(answer)).toHaveLength(5);
	});
});
