import { existsSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { afterEach, describe, expect, it } from "vitest";
import { createHome } from "./home.ts";
import { type InProcess, type InProcessOptions, inProcess } from "./in-process.ts";
import type { Reply } from "./provider.ts";

const running: InProcess[] = [];

afterEach(async () => {
	for (const one of running.splice(0)) await one.dispose();
});

async function start(options: InProcessOptions): Promise<InProcess> {
	const one = await inProcess(options);
	running.push(one);
	return one;
}

const echo: ExtensionFactory = (pi) => {
	pi.registerTool({
		name: "echo",
		label: "Echo",
		description: "Repeats a value.",
		parameters: { type: "object", properties: { value: { type: "string" } }, required: ["value"] },
		execute: async (_id, params) => {
			const { value } = params as { value: string };
			return { content: [{ type: "text", text: `echo of ${value}` }], details: {} };
		},
	});
};

const callsEcho: Reply[] = [{ toolCalls: [{ name: "echo", arguments: { value: "x1" } }] }, { text: "done" }];

describe("a session in process", () => {
	it("executes a scripted call and sends its result with the next request", async () => {
		const { prompt, requests, session } = await start({ extensions: [echo], script: callsEcho });
		await prompt("call it");
		expect(requests).toHaveLength(2);
		expect(requests[1]?.body.messages.at(-1)).toMatchObject({
			role: "tool",
			tool_call_id: "call_0_0",
			content: "echo of x1",
		});
		expect(session.getLastAssistantText()).toBe("done");
	});

	it("speaks the Anthropic messages API as well", async () => {
		const models = [{ api: "anthropic-messages" as const }];
		const { prompt, requests } = await start({ extensions: [echo], script: callsEcho, models });
		await prompt("call it");
		expect(requests[1]?.path).toBe("/v1/messages");
		expect(requests[1]?.body.messages.at(-1)).toMatchObject({
			role: "user",
			content: [{ type: "tool_result", tool_use_id: "call_0_0", content: "echo of x1" }],
		});
	});

	it.each([true, false])("starts and shuts down the extensions only if told to (%s)", async (bind) => {
		const seen: string[] = [];
		const one = await inProcess({
			bind,
			extensions: [
				(pi) => {
					pi.on("session_start", () => void seen.push("start"));
					pi.on("context", () => void seen.push("context"));
					pi.on("session_shutdown", () => void seen.push("shutdown"));
				},
			],
		});
		await one.prompt("hello");
		await one.dispose();
		expect(seen).toEqual(bind ? ["start", "context", "shutdown"] : ["context"]);
	});

	it("continues a session log with the same bytes", async () => {
		const home = createHome();
		const sessionFile = join(home.cwd, "session.jsonl");
		const first = await inProcess({ extensions: [], home, sessionFile });
		await first.prompt("first");
		await first.dispose();
		const second = await inProcess({ extensions: [], home, sessionFile });
		await second.prompt("second");
		await second.dispose();
		home.remove();
		const before = JSON.stringify(first.requests[0]?.body.messages).slice(0, -1);
		expect(JSON.stringify(second.requests[0]?.body.messages)).toContain(before);
	});

	it.each([true, false])("collects what a handler throws (bound: %s)", async (bind) => {
		const throws: ExtensionFactory = (pi) => {
			pi.on("context", () => {
				throw new Error("boom");
			});
		};
		const { prompt, extensionErrors } = await start({ bind, extensions: [throws] });
		await prompt("hello");
		expect(extensionErrors).toMatchObject([{ event: "context", error: "boom" }]);
	});

	it("refuses an extension that does not load", async () => {
		const fails: ExtensionFactory = () => {
			throw new Error("no such thing");
		};
		await expect(inProcess({ extensions: [fails] })).rejects.toThrow("no such thing");
	});

	it("has a home of its own, written as asked and removed in the end", async () => {
		const one = await inProcess({
			extensions: [],
			acp: "{ // comment\n}",
			settings: { compaction: { enabled: false } },
		});
		expect(homedir()).toBe(one.home.path);
		expect(existsSync(join(homedir(), ".pi", "acp.json"))).toBe(true);
		expect(one.session.autoCompactionEnabled).toBe(false);
		await one.dispose();
		expect(existsSync(one.home.path)).toBe(false);
	});
});
