import { afterEach, expect, it } from "vitest";
import piBillionContext from "../../src/index.ts";
import { closeAcp, openAcp } from "../support/acp.ts";

afterEach(closeAcp);

it("the extension takes part in what it needs, and leaves `context` alone: that would move system messages", async () => {
	const { extensionRunner } = (await openAcp()).session;
	const events = ["session_start", "before_agent_start", "context_with_system", "agent_end", "session_before_compact"];
	for (const event of [...events, "session_shutdown"]) expect(extensionRunner.hasHandlers(event), event).toBe(true);
	expect(extensionRunner.hasHandlers("context")).toBe(false);
	expect(extensionRunner.getRegisteredCommands().map((command) => command.name)).toEqual(["acp"]);
});

it("the extension does nothing while it is loaded", () => {
	const done: string[] = [];
	const recorded = ["on", "registerCommand"];
	const pi = new Proxy({}, { get: (_target, name) => () => void done.push(String(name)) });
	piBillionContext(pi as Parameters<typeof piBillionContext>[0]);
	expect(done.filter((name) => !recorded.includes(name))).toEqual([]);
	expect(done.length).toBeGreaterThan(0);
});
