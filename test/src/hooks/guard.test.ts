import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type AcpSession, closeAcp, openAcp, range, work } from "../../support/acp.ts";
import { textOf } from "../../support/wire.ts";

beforeEach(() => {
	vi.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(async () => {
	vi.restoreAllMocks();
	await closeAcp();
});

/** Lets a method throw that we need for entries we have not seen, and Pi itself for nothing here. */
function sabotage(acp: AcpSession): void {
	vi.spyOn(acp.session.sessionManager, "getEntry").mockImplementation(() => {
		throw new Error("broken on purpose");
	});
}

describe("a hook inside which something is thrown", () => {
	it("leaves Pi going on as if we were not there, and is a line in the log", async () => {
		const acp = await openAcp({ seed: work(2) });
		acp.session.sessionManager.appendCustomEntry("new");
		sabotage(acp);
		acp.replies({ toolCalls: [{ name: "read", arguments: { path: "none.ts" } }] });
		await acp.prompt("go on");
		expect(acp.session.getLastAssistantText()).toBe("ok");
		expect(acp.requests).toHaveLength(2);
		acp.replies({ status: 400, error: "no such thing" });
		await acp.prompt("and on");
		vi.restoreAllMocks();
		expect(textOf(acp.requests[1]?.body.messages[1])).toBe("Look into it");
		expect(acp.extensionErrors).toEqual([]);
		const scopes = [...(await acp.logText()).matchAll(/\[error\] \[([\w-]+)\] message="Error: broken on purpose"/g)];
		expect(new Set(scopes.map(([, scope]) => scope))).toEqual(
			new Set([
				...["before_agent_start", "context", "answered", "settle", "settled"],
				...["repetition", "output-cap", "throttle"],
			]),
		);
	});

	it("is on again as soon as nothing is thrown any more", async () => {
		const acp = await openAcp({ seed: work(2) });
		sabotage(acp);
		await acp.prompt("hello");
		vi.restoreAllMocks();
		expect(await acp.call("compress", { content: [range("m2", "m3")] })).toMatchObject({ isError: false });
	});

	it("lets the session start and end", async () => {
		const acp = await openAcp({ bind: false, seed: work(1) });
		sabotage(acp);
		const errors: unknown[] = [];
		await acp.session.bindExtensions({ onError: (error) => errors.push(error) });
		await acp.session.extensionRunner.emit({ type: "session_shutdown", reason: "quit" });
		expect(errors).toEqual([]);
	});
});
