import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { estimateTokens } from "../../kernel/meter/estimate.ts";
import { main } from "./tokens.ts";

const scriptPath = fileURLToPath(new URL("tokens.ts", import.meta.url));

let folder: string;
beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), "bench-tokens-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function run(...args: string[]): { code: number; text: string } {
	let text = "";
	const code = main(args, (line) => {
		text += line;
	});
	return { code, text };
}

function fileOf(name: string, lines: readonly (object | string)[]): string {
	const path = join(folder, name);
	writeFileSync(path, lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"));
	return path;
}

const startMs = Date.parse("2025-12-01T08:00:00.000Z");
const header = { type: "session", id: "0f1e2d3c", timestamp: new Date(startMs).toISOString(), cwd: "/nowhere/at/all" };

/** A log of session format 1 with so many requests, each a prompt and its answer; `report` makes the usage of each. */
function talk(requests: number, report: (sizeTokens: number, request: number) => number): readonly object[] {
	let sizeTokens = 0;
	const lines: object[] = [header];
	const add = (message: object) => {
		const timestamp = startMs + 1_000 * lines.length;
		lines.push({ type: "message", timestamp: new Date(timestamp).toISOString(), message: { ...message, timestamp } });
	};
	for (let request = 0; request < requests; request++) {
		const text = `Please look at part ${request}. `.repeat(20 + ((request * 37) % 50));
		add({ role: "user", content: [{ type: "text", text }] });
		sizeTokens += estimateTokens(text);
		const input = report(sizeTokens, request);
		const usage = { input, output: 10, cacheRead: 0, cacheWrite: 0, totalTokens: input + 10 };
		const model = { api: "anthropic-messages", provider: "acme", model: "old-model" };
		add({ role: "assistant", content: [{ type: "text", text: "I see." }], ...model, usage, stopReason: "stop" });
	}
	return lines;
}

/** A model that counts a quarter more than the estimator, with a prompt that is not in the log. */
const steady = (sizeTokens: number) => Math.round(1.25 * sizeTokens + 3_000);

describe("the command bench:tokens", () => {
	it("shows the errors of each way of counting and of each kind of text, and exits with 0 where the goals are met", () => {
		const { code, text } = run("--log", fileOf("steady.jsonl", talk(50, steady)));
		expect(text).toMatch(/^30 requests measured .*; 20 before them, .* served as warm-up\.$/m);
		expect(text).toContain("o200k and chars/4 know nothing of a system prompt or of tools that the log does not hold.");
		const rows = new Map(text.split("\n").map((line) => [line.split(/ {2,}/)[0], line.split(/ {2,}/).slice(1)]));
		expect(rows.get("way of counting")).toEqual([
			...["bias", "median error", "95th percentile", "largest", "outside the stated error"],
		]);
		expect(rows.get("meter")).toEqual([expect.stringMatching(/^[+-][0-2]\.\d\d %$/), ...Array(4).fill(anyShare)]);
		expect(rows.get("chars/4")).toEqual([expect.stringMatching(/^-\d\d\.\d\d %$/), ...Array(3).fill(anyShare), "-"]);
		for (const name of ["fit alone", "estimate alone", "o200k"]) expect(rows.get(name)).toHaveLength(5);
		expect(rows.get("kind")).toEqual(["estimator", "chars/4"]);
		expect(rows.get("Chinese")).toEqual([anyShift, expect.stringMatching(/^-6\d\.\d\d %$/)]);
		expect([...rows.values()].filter((row) => row.length === 2).length).toBeGreaterThan(20);
		expect(text).toMatch(/\nGoals met: /);
		expect(code).toBe(0);
	});

	it("aligns its columns", () => {
		const { text } = run("--log", fileOf("aligned.jsonl", talk(25, steady)));
		for (const table of text.split("\n\n").filter((part) => /^(way|kind) /.test(part))) {
			expect(new Set(table.split("\n").map((line) => line.length)).size).toBe(1);
		}
	});

	it("says the same each time", () => {
		const path = fileOf("again.jsonl", talk(25, steady));
		expect(run("--log", path)).toEqual(run("--log", path));
	});

	it("exits with 1 where a provider reports at random, and says which goals were missed", () => {
		const random = (sizeTokens: number, request: number) => Math.round(sizeTokens * (0.4 + ((request * 7) % 4)) + 9);
		const { code, text } = run("--log", fileOf("random.jsonl", talk(50, random)));
		expect(text).toMatch(/\nGoals missed: .*median error of the meter is more than 10 %/);
		expect(code).toBe(1);
	});

	it.each([
		["no log", () => [], "No session log is given."],
		["an unknown option", () => ["--speed", "9"], "--speed"],
		["a missing file", () => ["--log", join(folder, "none.jsonl")], "There is no file"],
		["text", () => ["--log", fileOf("text.txt", ["hello"])], "does not begin with a session header"],
		["a folder", () => ["--log", folder], "is no file."],
		["an empty session", () => ["--log", fileOf("empty.jsonl", [header])], "holds no messages"],
		[
			"a log without usage",
			() => [
				"--log",
				fileOf(
					"mute.jsonl",
					talk(30, () => 0),
				),
			],
			"holds 0 requests",
		],
		["a log too short for a warm-up", () => ["--log", fileOf("short.jsonl", talk(20, steady))], "from the 21st"],
	])("refuses %s with a clear message and exits with 2", (_, args, words) => {
		const { code, text } = run(...args());
		expect(text).toContain(words);
		expect(text).toContain("Usage: npm run bench:tokens -- --log FILE");
		expect(code).toBe(2);
	});

	it("runs as it is under Node", async () => {
		const run = promisify(execFile)(process.execPath, [scriptPath, "--log", join(folder, "none.jsonl")]);
		await expect(run).rejects.toMatchObject({
			code: 2,
			stdout: expect.stringContaining("There is no file"),
			stderr: "",
		});
	});
});

const anyShare = expect.stringMatching(/^\d+\.\d\d %$/);
const anyShift = expect.stringMatching(/^[+-]\d+\.\d\d %$/);
