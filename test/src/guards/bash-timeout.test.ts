import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { afterEach, describe, expect, it, vi } from "vitest";
import piBillionContext from "../../../src/index.ts";
import { type AcpOptions, type AcpSession, bareAcp, closeAcp, openAcp, textIn } from "../../support/acp.ts";

afterEach(async () => {
	vi.unstubAllEnvs();
	await closeAcp();
});

type Execute = (args: { command: string; timeout?: number }) => string;

/** A `bash` (or another tool of its shape) that does what it is told without running anything. */
function shell(name: string, execute: Execute): ExtensionFactory {
	return (pi) => {
		pi.registerTool({
			name,
			label: name,
			description: "Runs a command.",
			parameters: {
				type: "object",
				properties: { command: { type: "string" }, timeout: { type: "number" } },
				required: ["command"],
			},
			execute: async (_id, args) => ({
				content: [{ type: "text", text: execute(args as Parameters<Execute>[0]) }],
				details: undefined,
			}),
		});
	};
}

async function open(execute: Execute, options: AcpOptions = {}, name = "bash"): Promise<AcpSession> {
	return openAcp({ ...options, extensions: [shell(name, execute), piBillionContext] });
}

/** The timeout that the tool got for a call. */
async function timeoutOf(args: { timeout?: number }, options?: AcpOptions, name = "bash"): Promise<unknown> {
	let got: unknown = "not called";
	const acp = await open(
		(given) => {
			got = given.timeout;
			return "done";
		},
		options,
		name,
	);
	await acp.call(name, { command: "make", ...args });
	return got;
}

describe("a bash call without a timeout", () => {
	it("gets one of 60 seconds, and stays in the log as the model wrote it", async () => {
		let got: unknown;
		const acp = await open((given) => {
			got = given.timeout;
			return "done";
		});
		await acp.call("bash", { command: "make" });
		expect(got).toBe(60);
		const call = acp
			.branch()
			.flatMap((entry) => (entry.type === "message" && entry.message.role === "assistant" ? entry.message.content : []))
			.find((part) => part.type === "toolCall");
		expect(call?.arguments).toEqual({ command: "make" });
	});

	it.each<[string, AcpOptions, unknown]>([
		["what the settings say", { acp: { ...bareAcp, toolBashDefaultTimeout: 7 } }, 7],
		[
			"what they say for the model",
			{ acp: { providers: { loopback: { models: { "scripted-1": { toolBashDefaultTimeout: 9 } } } } } },
			9,
		],
		["none where they say 0", { acp: { ...bareAcp, toolBashDefaultTimeout: 0 } }, undefined],
		["none where the extension is off", { acp: { enabled: false } }, undefined],
	])("gets %s", async (_what, options, expected) => {
		expect(await timeoutOf({}, options)).toBe(expected);
	});

	it("gets what the environment says", async () => {
		vi.stubEnv("ACP_TOOL_BASH_DEFAULT_TIMEOUT", "5");
		expect(await timeoutOf({}, { acp: { toolBashDefaultTimeout: 7 } })).toBe(5);
	});
});

describe("other calls", () => {
	it("keep a timeout that they give", async () => {
		expect(await timeoutOf({ timeout: 600 })).toBe(600);
	});

	it("of other tools get none", async () => {
		expect(await timeoutOf({}, {}, "ssh")).toBe(undefined);
	});
});

describe("the hint", () => {
	const hint = "[The call gave no timeout, so the default of 60 seconds ended it.";
	const stopped = "Command timed out after 60 seconds";
	const fail = (text: string) => () => {
		throw new Error(text);
	};

	it.each([
		["with output before", `compiling\n\n${stopped}`],
		["with an output that ends a line", `compiling\n\n\n${stopped}`],
		["without any output", stopped],
		["with the shell's own end", `ready\n\n${stopped}. The shell exited with code 0 after 0.1 seconds, but …`],
	])("follows what a stopped command says, %s", async (_what, text) => {
		const acp = await open(fail(text));
		const result = await acp.call("bash", { command: "make" });
		expect(textIn(result)).toMatch(/give timeout, in seconds\.\]$/);
		expect(textIn(result).startsWith(`${text}\n\n${hint}`)).toBe(true);
		expect(result.isError).toBe(true);
	});

	it.each<[string, { timeout?: number }, Execute]>([
		["the timeout was the model's own", { timeout: 60 }, fail(stopped)],
		["the command failed for another reason", {}, fail("Command exited with code 2")],
		["the output only speaks of a timeout", {}, fail(`${stopped}\n\nCommand exited with code 2`)],
		["nothing failed", {}, () => stopped],
	])("is not there where %s", async (_what, args, execute) => {
		const acp = await open(execute);
		expect(textIn(await acp.call("bash", { command: "make", ...args }))).not.toContain("default of");
	});

	it("names the seconds that were in force", async () => {
		const acp = await open(fail("Command timed out after 7 seconds"), { acp: { toolBashDefaultTimeout: 7 } });
		expect(textIn(await acp.call("bash", { command: "make" }))).toContain("the default of 7 seconds");
	});
});
