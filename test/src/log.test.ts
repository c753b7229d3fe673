import {
	chmodSync,
	mkdirSync,
	mkdtempSync,
	readFileSync,
	rmSync,
	statSync,
	truncateSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createLog, type Log, redacted } from "../../src/log.ts";

const time = "2026-03-01T10:20:30.456Z";
const limitBytes = 10 * 1024 * 1024;

let folder = "";
let path = "";
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "acp-log-"));
	path = join(folder, "acp.log");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function open({ debug = false, now = () => new Date(time) } = {}): Log {
	return createLog({ path, debug: () => debug, now });
}

function written(): string[] {
	return readFileSync(path, "utf8").split("\n").slice(0, -1);
}

async function lineOf(fields: Parameters<Log["info"]>[1]): Promise<string> {
	const log = open();
	log.info("test", fields);
	await log.flush();
	return written().at(-1) ?? "";
}

/** A text that looks like a key, put together so that no scanner of sources takes it for one. */
const keyLike = (prefix: string, body = "aB3dE5fG7hJ9kL1mN3pQ5rS7") => `${prefix}${body}`;

describe("a credential", () => {
	test.each([
		`401 Incorrect API key provided: ${keyLike("sk-proj-")}. You can find your API key at https://x.y`,
		`Error: {"x-api-key": "${keyLike("", "0123456789abcdef")}"}`,
		`invalid header Authorization: Bearer ${keyLike("")}`,
		`Authorization: Basic ${keyLike("")}==`,
		`bad token ${keyLike("ghp_")} in request`,
		`key ${keyLike("AIza")} is not valid`,
		`jwt ${keyLike("eyJ")}.${keyLike("")}.sig`,
		`connect ECONNREFUSED https://user:${keyLike("")}@proxy.local:8080/`,
		`password=${keyLike("")}`,
	])("in an error text does not reach the file: %s", async (text) => {
		const stack = `Error: ${text}\n    at f (/x.ts:1:2)`;
		const line = await lineOf({ message: text, stack });
		expect(line).not.toMatch(/aB3dE5|rS7|0123456789abcdef/);
		expect(line).toContain("***");
		expect(line).toContain("at f (/x.ts:1:2)");
	});

	test("across the end of a value is not shown in part", async () => {
		const line = await lineOf({ text: `${"x".repeat(70)} ${keyLike("sk-")}` });
		expect(line).not.toContain("aB3");
	});

	test.each([
		"12000 tokens: 5000",
		"session 01a2b3c4-d5e6-7890-abcd-ef0123456789",
		"the key is m00012",
		"task-force-is-at-work-here",
	])("is not seen where there is none: %s", (text) => {
		expect(redacted(text)).toBe(text);
	});
});

describe("a line", () => {
	test("says time, level, scope and the pairs in their order", async () => {
		const log = open();
		log.error("context", { event: "failed", at: 3 });
		log.warn("sidecar", { event: "skipped", readable: false });
		log.info("session", { event: "start", id: null });
		await log.flush();
		expect(written()).toEqual([
			`${time} [error] [context] event=failed at=3`,
			`${time} [warn] [sidecar] event=skipped readable=false`,
			`${time} [info] [session] event=start id=null`,
		]);
	});

	test("leaves out keys without a value", async () => {
		expect(await lineOf({ a: undefined, b: 1 })).toBe(`${time} [info] [test] b=1`);
	});

	test.each([
		["two words", '"two words"'],
		["", '""'],
		["a=b", '"a=b"'],
		['say "no"', '"say \\"no\\""'],
		["one\ntwo\r\n", '"one\\ntwo\\r\\n"'],
		["C:\\temp", '"C:\\\\temp"'],
		["red \u001b[31m", '"red \\u001b[31m"'],
		["c1 \u009b31m", '"c1 \\u009b31m"'],
		["line\u2028separator", '"line\\u2028separator"'],
		["turn \u202e around", '"turn \\u202e around"'],
		["tag \u{e0041}", '"tag \\udb40\\udc41"'],
		["half \ud83d", '"half \\ud83d"'],
		["größe→中文🙂", "größe→中文🙂"],
	])("writes the value %j as %s", async (value, shown) => {
		expect(await lineOf({ value })).toBe(`${time} [info] [test] value=${shown}`);
	});

	test("cuts a value at 80 characters", async () => {
		expect(await lineOf({ value: "x".repeat(80) })).toContain(`value=${"x".repeat(80)}`);
		expect(await lineOf({ value: "x".repeat(81) })).toMatch(/ value=x{79}…$/);
	});

	test("never cuts a character in half", async () => {
		expect(await lineOf({ value: `${"x".repeat(78)}🙂🙂` })).toMatch(/ value=x{78}…$/);
	});

	test("keeps the frames of a stack but no long message", async () => {
		const frames = Array.from({ length: 12 }, (_, index) => `    at fold (/srv/src/fold.ts:${index}:1)`).join("\n");
		const line = await lineOf({ stack: `Error: ${"secret ".repeat(100)}\n    at night it said\nmore\n${frames}` });
		expect(JSON.parse(line.slice(line.indexOf("stack=") + 6))).toBe(
			`Error: ${"secret ".repeat(11).slice(0, 72)}…\n${frames}`,
		);
	});

	test("bounds a stack, with frames or without", async () => {
		const endless = `Error: deep\n${"    at fold (/srv/src/fold.ts:1:1)\n".repeat(1_000)}`.trimEnd();
		expect(JSON.parse((await lineOf({ stack: endless })).split("stack=")[1] ?? "")).toHaveLength(4_000);
		expect(await lineOf({ stack: "y".repeat(500) })).toMatch(/ stack=y{79}…$/);
	});
});

describe("debug lines", () => {
	test("are written only while debug is on", async () => {
		let debug = false;
		const log = createLog({ path, debug: () => debug, now: () => new Date(time) });
		log.debug("meter", { tokens: 1 });
		debug = true;
		log.debug("meter", { tokens: 2 });
		debug = false;
		log.debug("meter", { tokens: 3 });
		await log.flush();
		expect(written()).toEqual([`${time} [debug] [meter] tokens=2`]);
	});
});

describe("the file", () => {
	test("is for the user alone", async () => {
		await lineOf({ a: 1 });
		expect(statSync(path).mode & 0o777).toBe(0o600);
	});

	test("loses the permissions that others had on it", async () => {
		writeFileSync(path, "old line\n");
		chmodSync(path, 0o644);
		await lineOf({ a: 1 });
		expect(statSync(path).mode & 0o777).toBe(0o600);
		expect(written()).toHaveLength(2);
	});

	test("comes into being with its folder", async () => {
		path = join(folder, "new", "deep", "acp.log");
		expect(await lineOf({ a: 1 })).toBe(`${time} [info] [test] a=1`);
	});

	test("keeps the order of many lines from two logs, each line whole", async () => {
		const logs = [open(), open()];
		for (let index = 0; index < 500; index++) {
			for (const [which, log] of logs.entries()) log.info("order", { which, index });
		}
		await Promise.all(logs.map((log) => log.flush()));
		for (const which of [0, 1]) {
			const own = written().filter((line) => line.includes(` which=${which} `));
			expect(own).toEqual(Array.from({ length: 500 }, (_, i) => `${time} [info] [order] which=${which} index=${i}`));
		}
	});

	test("moves to .old when a line would take it above 10 MB", async () => {
		writeFileSync(path, "first\n");
		truncateSync(path, limitBytes - 5);
		writeFileSync(`${path}.old`, "older");
		await lineOf({ a: 1 });
		expect(written()).toEqual([`${time} [info] [test] a=1`]);
		expect(statSync(path).mode & 0o777).toBe(0o600);
		expect(statSync(`${path}.old`).size).toBe(limitBytes - 5);
	});

	test("stays in place up to 10 MB", async () => {
		const line = `${time} [info] [test] a=1\n`;
		writeFileSync(path, "");
		truncateSync(path, limitBytes - line.length);
		await lineOf({ a: 1 });
		expect(statSync(path).size).toBe(limitBytes);
		expect(() => statSync(`${path}.old`)).toThrow();
	});
});

describe("failures", () => {
	test("of the file drop lines in silence, and the first line that works says how many", async () => {
		mkdirSync(path);
		const log = open();
		log.info("test", { a: 1 });
		log.info("test", { a: 2 });
		await log.flush();
		log.info("test", { a: 3 });
		await log.flush();
		rmSync(path, { recursive: true });
		log.info("test", { a: 4 });
		await log.flush();
		log.info("test", { a: 5 });
		await log.flush();
		expect(written()).toEqual([
			`${time} [warn] [log] droppedLines=3`,
			`${time} [info] [test] a=4`,
			`${time} [info] [test] a=5`,
		]);
	});

	test("of rotation drop lines without touching the file", async () => {
		writeFileSync(path, "");
		truncateSync(path, limitBytes);
		mkdirSync(`${path}.old`);
		const log = open();
		log.info("test", { a: 1 });
		await expect(log.flush()).resolves.toBeUndefined();
		expect(statSync(path).size).toBe(limitBytes);
	});

	test("of the path, the clock or a value do not reach the caller", async () => {
		path = "\0";
		const broken = open({ now: () => new Date(Number.NaN) });
		expect(() => broken.info("test", { a: 1 })).not.toThrow();
		await expect(broken.flush()).resolves.toBeUndefined();
		const log = open();
		log.info("test", { a: 1 });
		await expect(log.flush()).resolves.toBeUndefined();
	});
});
