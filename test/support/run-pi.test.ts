import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createHome, type Home } from "./home.ts";
import { type Provider, type Reply, startProvider } from "./provider.ts";
import { runPi, startRpc } from "./run-pi.ts";

const ECHO_SOURCE = `
import { homedir } from "node:os";
export default function (pi) {
	pi.registerTool({
		name: "echo", label: "Echo", description: "Repeats a value.",
		parameters: { type: "object", properties: { value: { type: "string" } }, required: ["value"] },
		execute: async (id, { value }) => ({ content: [{ type: "text", text: "echo of " + value + " in " + homedir() }], details: {} }),
	});
	pi.registerCommand("greet", { description: "Greets.", handler: async (args, ctx) => ctx.ui.notify("hello " + args, "info") });
	pi.registerCommand("hang", { description: "Never ends.", handler: () => new Promise(() => setInterval(() => {}, 1000)) });
}`;

const CALLS_ECHO: Reply[] = [{ toolCalls: [{ name: "echo", arguments: { value: "x1" } }] }, { text: "done" }];

let home: Home;
let extension: string;
let provider: Provider | undefined;

beforeEach(() => {
	home = createHome();
	extension = join(home.cwd, "echo.ts");
	writeFileSync(extension, ECHO_SOURCE);
});

afterEach(async () => {
	home.remove();
	await provider?.close();
	provider = undefined;
});

async function piOptions(script: Reply[]) {
	provider = await startProvider(script);
	return { home, providerUrl: provider.url, extensions: [extension] };
}

describe("runPi", () => {
	it("runs the real Pi, which executes a scripted call, and continues the session in a second run", async () => {
		const options = await piOptions(CALLS_ECHO);
		const first = await runPi({ ...options, prompt: "call it" });
		expect(first).toMatchObject({ code: 0, stdout: "done\n", stderr: "" });
		expect(provider?.requests[1]?.body.messages.at(-1)).toMatchObject({
			role: "tool",
			content: `echo of x1 in ${home.path}`,
		});
		expect(first.sessionFiles()).toHaveLength(1);

		const second = await runPi({ ...options, mode: "json", args: ["-c"], prompt: "go on" });
		expect(JSON.parse(second.stdout.split("\n", 1)[0] ?? "")).toMatchObject({ type: "session" });
		expect(provider?.requests[2]?.raw).toContain("call it");
		expect(second.sessionFiles()).toEqual(first.sessionFiles());
	});

	it("ends a Pi that hangs", async () => {
		const run = runPi({ ...(await piOptions([])), prompt: "/hang", timeoutMs: 1_500 });
		await expect(run).rejects.toThrow("Pi did not end within 1500 ms.");
	});
});

describe("startRpc", () => {
	it("prompts, sends commands and collects what Pi shows", async () => {
		const rpc = startRpc(await piOptions(CALLS_ECHO));
		await rpc.prompt("call it");
		expect(provider?.requests).toHaveLength(2);
		expect(rpc.events.map((event) => event.type)).toContain("tool_execution_end");

		await rpc.prompt("/greet you");
		expect(rpc.uiRequests).toMatchObject([{ method: "notify", message: "hello you" }]);
		expect(provider?.requests).toHaveLength(2);

		expect(await rpc.command({ type: "get_last_assistant_text" })).toMatchObject({ data: { text: "done" } });
		expect(await rpc.command({ type: "compact" })).toMatchObject({ success: false });
		expect(await rpc.close()).toMatchObject({ code: 0, stderr: "" });
		expect(home.sessionFiles()).toHaveLength(1);
	});

	it("rejects what waits when Pi ends", async () => {
		const rpc = startRpc({ ...(await piOptions([])), extensions: [join(home.cwd, "missing.ts")] });
		await expect(rpc.command({ type: "get_state" })).rejects.toThrow(/ended with code 1.*missing\.ts/s);
		expect(await rpc.close()).toMatchObject({ code: 1 });
	});
});
