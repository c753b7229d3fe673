import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as readAll } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { afterAll, expect, test } from "vitest";

const START_PATH = fileURLToPath(new URL("start.ts", import.meta.url));

const folder = mkdtempSync(join(tmpdir(), "demo-test-"));
// Pi's cache of transpiled extensions; a cold one costs each start seconds.
mkdirSync(join(tmpdir(), "jiti"), { recursive: true });
symlinkSync(join(tmpdir(), "jiti"), join(folder, "jiti"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function startDemo(...args: string[]) {
	const child = spawn(process.execPath, [START_PATH, "--demo", ...args], {
		env: { ...process.env, TMPDIR: folder },
		stdio: ["ignore", "pipe", "inherit"],
	});
	const code = new Promise<number | null>((resolve) => child.once("close", resolve));
	return { child, code };
}

/** The temporary homes that are left. */
function homes(): readonly string[] {
	return readdirSync(folder).filter((name) => name.startsWith("pi-home-"));
}

test("without a terminal the session is told step by step and summed up", async () => {
	const { child, code } = startDemo();
	const told = await readAll(child.stdout);
	expect(await code).toBe(0);
	expect(told).toMatch(/^ {2}read src\/catalog\.ts \([\d.]+K tokens\)$/m);
	expect(told).toMatch(/^ {2}nudge: \[acp\] The context holds /m);
	expect(told).toMatch(/^ {2}compress 3 ranges → b1 b2 b3; a request is [\d.]+K tokens now$/m);
	expect(told).toMatch(/^ {2}decompress b2 → page 1 of \d /m);
	expect(told).toMatch(/^ {2}edit src\/pricing\.ts /m);
	expect(told.match(/fail \d/g)).toEqual(["fail 1", "fail 0"]);
	expect(tokens(told, "after the fold")).toBeLessThan(tokens(told, "before the fold") / 2);
	expect(told).toMatch(/^ {2}b3 {2}m\d+-m\d+ .* May 2026 priced again$/m);
	expect(told).toMatch(/^ {2}\d+ messages, all \d+ tool results byte for byte/m);
	expect(told).not.toContain("FAILED");
	expect(homes()).toEqual([]);
});

test("what did not happen is named, and the exit code says so", async () => {
	const { child, code } = startDemo("--print", "--tools", "read");
	const told = await readAll(child.stdout);
	expect(await code).toBe(1);
	expect(told).toContain("FAILED: no nudge appeared\n");
	expect(told).toContain("FAILED: the model did not fold several ranges\n");
	expect(told).toContain("FAILED: the bug was not fixed\n");
	expect(homes()).toEqual([]);
});

test("an interrupted demo leaves nothing behind", async () => {
	const { child, code } = startDemo("--print");
	child.stdout.once("data", () => child.kill("SIGINT"));
	expect(await code).toBe(130);
	expect(homes()).toEqual([]);
});

/** The figure in a row of the summary. */
function tokens(told: string, row: string): number {
	return Number(new RegExp(`^ {2}${row} +([\\d.]+)K `, "m").exec(told)?.[1]);
}
