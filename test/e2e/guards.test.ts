import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { BUNDLE_PATH } from "../support/run-pi.ts";
import { call, closeScenarios, openScenario, read, withoutNudges } from "../support/scenario.ts";
import { expectGrowth, expectWholePairs, lastResult } from "../support/wire.ts";

afterEach(closeScenarios);

const limitBytes = 50_000;

describe("a bash command that does not end", () => {
	it("is stopped by the default timeout, and the result says how to give another", async () => {
		const scene = await openScenario({ acp: { toolBashDefaultTimeout: 1 } });
		scene.replies(call("bash", { command: "echo begun; exec sleep 600" }), { text: "stopped" });
		const { stdout, made } = await scene.run("Run it");
		expect(stdout.trim()).toBe("stopped");
		expect(lastResult(made[1])).toMatch(
			/^begun\n\n\nCommand timed out after 1 seconds\n\n\[The call gave no timeout, so the default of 1 seconds ended it\. .*timeout, in seconds\.\]$/,
		);
	});

	it("is stopped by its own timeout without a word of ours", async () => {
		const scene = await openScenario();
		scene.replies(call("bash", { command: "exec sleep 600", timeout: 1 }));
		const { made } = await scene.run("Run it");
		expect(lastResult(made[1])).toBe("Command timed out after 1 seconds");
	});
});

describe("an output too large for a conversation", () => {
	const row = "a row of the table that the tool fetched, padded to the width of a line in a terminal";
	const fetched = Array.from({ length: 2_000 }, (_, line) => `${line} ${row}`).join("\n");
	const fetcher = `export default (pi) => pi.registerTool({
		name: "fetch",
		label: "Fetch",
		description: "Fetches a table.",
		parameters: { type: "object", properties: {} },
		execute: async () => ({
			content: [{ type: "text", text: Array.from({ length: 2000 }, (_, line) => line + ${JSON.stringify(` ${row}`)}).join("\\n") }],
		}),
	});`;

	it("is cut with a pointer to the full text, which is read back uncut, also in a later session", async () => {
		const scene = await openScenario({ acp: withoutNudges });
		const extensions = [BUNDLE_PATH, scene.extension("fetcher.js", fetcher)];
		scene.replies(call("fetch", {}));
		const first = await scene.run("Fetch it", { extensions });
		const shown = lastResult(first.made[1]);
		expect(Buffer.byteLength(fetched)).toBeGreaterThan(170_000);
		expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(limitBytes);
		const [, leftOutBytes = "", path = ""] =
			/\n\[… (\d+) bytes left out; the full text is in (\S+) …\]\n/.exec(shown) ?? [];
		expect(fetched.length - shown.length).toBeLessThan(Number(leftOutBytes));
		expect(shown.startsWith(`0 ${row}\n`) && shown.endsWith(`1999 ${row}`)).toBe(true);
		expect(path.startsWith(scene.home.tmpDir)).toBe(true);
		expect(readFileSync(path, "utf8")).toBe(fetched);
		expect([statSync(path).mode & 0o777, statSync(dirname(path)).mode & 0o777]).toEqual([0o600, 0o700]);

		scene.replies(read(path), call("bash", { command: `cat ${path}` }));
		const second = await scene.run("Read all of it", { args: ["-c"], extensions });
		const [byRead = "", byBash = ""] = second.made.slice(1).map(lastResult);
		// Pi's own limit is a little above ours, so that these two would be cut.
		for (const back of [byRead, byBash]) {
			expect(Buffer.byteLength(back)).toBeGreaterThan(limitBytes);
			expect(back).not.toContain("bytes left out");
		}
		expect(fetched.startsWith(byRead.split("\n\n[")[0] ?? "?")).toBe(true);
		expect(fetched.endsWith(byBash.split("\n\n[")[0] ?? "?")).toBe(true);
		expectGrowth(scene.requests);
	});

	it("of bash is cut as well, and what Pi says of it stays", async () => {
		const scene = await openScenario({ acp: withoutNudges });
		scene.file("table.txt", fetched);
		scene.replies(call("bash", { command: "cat table.txt" }));
		const { made } = await scene.run("Print it");
		const shown = lastResult(made[1]);
		expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(limitBytes);
		expect(shown).toContain("bytes left out");
		expect(shown).toMatch(/\[Showing lines .* Full output: .*\]$/);
	});
});

describe("a model that makes the same call again and again", () => {
	it("is warned at the third and stopped at the fifth, and the session goes on with the next prompt", async () => {
		const scene = await openScenario({ acp: withoutNudges });
		scene.file("notes.txt", "notes\n");
		scene.replies(...Array(7).fill(read("notes.txt")));
		const { made, stdout, stderr } = await scene.run("Read it");
		expect(made).toHaveLength(5);
		const results = made.slice(1).map(lastResult);
		expect(results.map((text) => text.includes("third identical call of read in a row"))).toEqual([
			false,
			false,
			true,
			false,
		]);
		expect(stdout.trim()).toBe("");
		expect(stderr).toMatch(/^pi-billion-context blocked a call of read, the fifth in a row[^\n]*\n$/);

		const next = await scene.run("Go on", { args: ["-c"] });
		expect(next.made).toHaveLength(3);
		expect(next.stderr).toBe("");
		const blocked = scene
			.entries()
			.findLast(
				(entry) => entry.type === "message" && JSON.stringify(entry).includes("Blocked: read was called 5 times"),
			);
		expect(blocked).toMatchObject({ message: { role: "toolResult", isError: true } });
		for (const request of scene.requests) expectWholePairs(request);
		expectGrowth(scene.requests);
	});
});
