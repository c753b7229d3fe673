import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { ExtensionFactory, ToolResultEvent } from "@earendil-works/pi-coding-agent";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import piBillionContext from "../../../src/index.ts";
import { type AcpOptions, type AcpSession, bareAcp, closeAcp, openAcp, textIn } from "../../support/acp.ts";

let folder: string;

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "output-cap-"));
	vi.stubEnv("TMPDIR", folder);
});
afterEach(async () => {
	vi.unstubAllEnvs();
	await closeAcp();
	rmSync(folder, { recursive: true, force: true });
});

type Content = ToolResultEvent["content"];

const text = (said: string) => ({ type: "text" as const, text: said });
const image = (data: string) => ({ type: "image" as const, data, mimeType: "image/png" });
const lines = (count: number) => Array.from({ length: count }, (_, line) => `line ${line} of the output`).join("\n");
const limited = (limitBytes: number): AcpOptions => ({ acp: { ...bareAcp, toolOutputMaxBytes: limitBytes } });

/** What a result is after all that hears of it; Pi says nothing where nobody changed it. */
async function resultOf(acp: AcpSession, content: Content, event: Partial<ToolResultEvent> = {}): Promise<Content> {
	const full = { toolName: "fetch", toolCallId: "call_1", input: {}, details: undefined, isError: false, ...event };
	const changed = await acp.session.extensionRunner.emitToolResult({
		type: "tool_result",
		...full,
		content,
	} as ToolResultEvent);
	return changed?.content ?? content;
}

/** Head, number, path and tail of a result that was cut. */
function partsOf(cut: string): { head: string; leftOutBytes: number; path: string; tail: string } {
	const match = /^([\s\S]*)\n\[… (\d+) bytes left out; the full text is in (\S+) …\]\n([\s\S]*)$/.exec(cut);
	const [, head = "", leftOutBytes = "", path = "", tail = ""] = match ?? [];
	return { head, leftOutBytes: Number(leftOutBytes), path, tail };
}

describe("a result larger than the cap", () => {
	const fetched = lines(9_000);
	const fetcher: ExtensionFactory = (pi) => {
		pi.registerTool({
			name: "fetch",
			label: "Fetch",
			description: "Fetches.",
			parameters: { type: "object", properties: {} },
			execute: async () => ({ content: [text(fetched)], details: { pages: 3 } }),
		});
	};

	it("is head and tail of 50,000 bytes without any configuration, and says what is missing and where it is", async () => {
		expect(Buffer.byteLength(fetched)).toBeGreaterThan(180_000);
		const acp = await openAcp({ extensions: [fetcher, piBillionContext], acp: {} });
		const result = await acp.call("fetch", {});
		const shown = textIn(result);
		expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(50_000);
		expect(Buffer.byteLength(shown)).toBeGreaterThan(49_900);
		const { head, leftOutBytes, path, tail } = partsOf(shown);
		expect(fetched.startsWith(head)).toBe(true);
		expect(fetched.endsWith(tail)).toBe(true);
		expect(Math.abs(head.length - tail.length)).toBeLessThan(2);
		expect(leftOutBytes).toBe(fetched.length - head.length - tail.length);
		expect(readFileSync(path, "utf8")).toBe(fetched);
		expect(result).toMatchObject({ isError: false, details: { pages: 3 } });
		expect(await acp.logText()).toMatch(/\[info\] \[output-cap\] tool=fetch totalBytes=\d+ limitBytes=50000 path=/);
	});

	it("is in a file of the user's alone, in a folder of its own under the temp directory", async () => {
		const acp = await openAcp(limited(1_000));
		const [first, second] = [await resultOf(acp, [text(fetched)]), await resultOf(acp, [text(fetched)])];
		const paths = [first, second].map((content) => partsOf(textIn({ content })).path);
		expect(new Set(paths).size).toBe(2);
		for (const path of paths) {
			expect(dirname(dirname(path))).toBe(folder);
			expect(statSync(path).mode & 0o777).toBe(0o600);
			expect(statSync(dirname(path)).mode & 0o777).toBe(0o700);
		}
	});

	it("is cut where it is an error as well", async () => {
		const acp = await openAcp(limited(1_000));
		expect(partsOf(textIn({ content: await resultOf(acp, [text(fetched)], { isError: true }) })).path).not.toBe("");
	});

	it("has a file whose name does not lead elsewhere, whatever the tool is called", async () => {
		const acp = await openAcp(limited(1_000));
		const toolName = `../../${"x".repeat(300)}`;
		const { path } = partsOf(textIn({ content: await resultOf(acp, [text(fetched)], { toolName }) }));
		expect(dirname(dirname(path))).toBe(folder);
		expect(existsSync(path)).toBe(true);
	});
});

describe("the size of a result", () => {
	it("is measured in bytes: at the cap it stays, above it is cut", async () => {
		const acp = await openAcp(limited(1_000));
		const fits = [text("ä".repeat(500))];
		expect(await resultOf(acp, fits)).toBe(fits);
		expect(await resultOf(acp, [text("ä".repeat(501))])).not.toEqual([text("ä".repeat(501))]);
	});

	it("counts all its texts", async () => {
		const acp = await openAcp(limited(1_000));
		const fits = [text("a".repeat(500)), image("big".repeat(1_000)), text("b".repeat(500))];
		expect(await resultOf(acp, fits)).toBe(fits);
	});
});

describe("a cut", () => {
	it("never splits a character, and counts what it leaves out", async () => {
		const acp = await openAcp(limited(400));
		await fc.assert(
			fc.asyncProperty(
				fc.string({ unit: fc.constantFrom("a", "ß", "漢", "😀", "\n"), minLength: 401, maxLength: 700 }),
				async (whole) => {
					const shown = textIn({ content: await resultOf(acp, [text(whole)]) });
					expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(400);
					const { head, leftOutBytes, path, tail } = partsOf(shown);
					expect(whole.startsWith(head)).toBe(true);
					expect(whole.endsWith(tail)).toBe(true);
					expect(Buffer.byteLength(head + tail) + leftOutBytes).toBe(Buffer.byteLength(whole));
					expect(readFileSync(path, "utf8")).toBe(whole);
				},
			),
			{ numRuns: 60 },
		);
	});

	it("goes through several texts, and leaves images where they are", async () => {
		const acp = await openAcp(limited(600));
		const content = [text("a".repeat(150)), image("one"), text("b".repeat(900)), image("two"), text("c".repeat(150))];
		const result = await resultOf(acp, content);
		expect(result.map((part) => (part.type === "text" ? part.text.replace(/(.)\1+/g, "$1") : part.data))).toEqual([
			"a",
			"one",
			expect.stringMatching(/^b\n\[… \d+ bytes left out; .* …\]\nb$/),
			"two",
			"c",
		]);
		const { path } = partsOf(textIn({ content: result }));
		expect(readFileSync(path, "utf8")).toBe(textIn({ content }));
	});

	it("drops a text that is left out whole", async () => {
		const acp = await openAcp(limited(400));
		const content = [text("a".repeat(500)), text("middle"), image("one"), text("c".repeat(500))];
		const result = await resultOf(acp, content);
		expect(result.map((part) => part.type)).toEqual(["text", "image", "text"]);
		expect(textIn({ content: result })).not.toContain("middle");
	});

	it("has one pointer, also where it falls between two texts", async () => {
		const acp = await openAcp(limited(400));
		const result = await resultOf(acp, Array(500).fill(text("a")));
		expect(result.filter((part) => part.type === "text" && part.text.includes("left out"))).toHaveLength(1);
	});

	it("leaves the pointer alone where the cap has no room for more", async () => {
		const acp = await openAcp(limited(1));
		const result = await resultOf(acp, [text("a".repeat(500))]);
		expect(textIn({ content: result })).toMatch(/^\[… 500 bytes left out; the full text is in \S+ …\]$/);
	});
});

describe("what is never cut", () => {
	const long = [text(lines(200))];

	it.each(["compress", "decompress", "search_context", "acp_status", "acp_delegate", "acp_delegate_wait"])(
		"is a result of our own tool %s",
		async (toolName) => {
			expect(await resultOf(await openAcp(limited(1_000)), long, { toolName })).toBe(long);
		},
	);

	it("is what is read back from the file of a cut", async () => {
		const acp = await openAcp(limited(1_000));
		const { path } = partsOf(textIn({ content: await resultOf(acp, long) }));
		const readers: [string, Record<string, unknown>][] = [
			["read", { path }],
			["read", { path: `../../${path}`, offset: 50 }],
			["bash", { command: `sed -n 1,90p '${path}'` }],
			["fetch_many", { files: [{ path }] }],
			["read", { path: path.replaceAll("/", "\\") }],
		];
		for (const [toolName, input] of readers) expect(await resultOf(acp, long, { toolName, input })).toBe(long);
		expect(await resultOf(acp, long, { toolName: "read", input: { path: "output.txt" } })).not.toBe(long);
	});

	it("is what is read back from a file that decompress wrote", async () => {
		const acp = await openAcp(limited(1_000));
		await acp.prompt("hello");
		const path = textIn(await acp.call("decompress", { id: "m1", to: "file" })).split(" are in ")[1] ?? "";
		expect(existsSync(path)).toBe(true);
		expect(await resultOf(acp, long, { toolName: "read", input: { path } })).toBe(long);
	});

	it("is the result of a call that another tool made", async () => {
		const acp = await openAcp(limited(1_000));
		expect(await resultOf(acp, long, { toolCallId: "call_1/1", parentToolCallId: "call_1" })).toBe(long);
	});

	it("is a result that is nothing but images", async () => {
		const picture = [image("x".repeat(5_000))];
		expect(await resultOf(await openAcp(limited(1_000)), picture)).toBe(picture);
	});

	it.each<[string, AcpOptions]>([
		["the cap is 0", limited(0)],
		["the extension is off", { acp: { enabled: false, toolOutputMaxBytes: 1_000 } }],
		[
			"the cap of the model is larger",
			{ acp: { toolOutputMaxBytes: 1_000, providers: { loopback: { toolOutputMaxBytes: 10_000 } } } },
		],
	])("is any result where %s", async (_what, options) => {
		expect(await resultOf(await openAcp(options), long)).toBe(long);
	});

	it("is a result below the cap that the environment sets", async () => {
		vi.stubEnv("ACP_TOOL_OUTPUT_MAX_BYTES", "10000");
		expect(await resultOf(await openAcp(limited(1_000)), long)).toBe(long);
	});
});

describe("a result that cannot be put into a file", () => {
	it("stays as it is, and the log says why", async () => {
		const acp = await openAcp(limited(1_000));
		vi.stubEnv("TMPDIR", join(folder, "nowhere"));
		const long = [text(lines(200))];
		expect(await resultOf(acp, long)).toBe(long);
		expect(await acp.logText()).toMatch(/\[error\] \[output-cap\] message=.*ENOENT/);
		expect(acp.extensionErrors).toEqual([]);
	});
});

describe("a result without content, as tools in plain JavaScript return it", () => {
	it("is nothing to complain about", async () => {
		const acp = await openAcp(limited(1_000));
		await resultOf(acp, undefined as never);
		expect(await acp.logText()).not.toContain("[error]");
	});
});
