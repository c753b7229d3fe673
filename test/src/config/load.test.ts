import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, truncateSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { defaultSettings } from "../../../kernel/index.ts";
import { type ConfigOptions, createConfig, type LiveConfig } from "../../../src/config/load.ts";

/** While it has a code, reading a file fails with it. */
const readFailure = vi.hoisted(() => ({ code: "" }));
vi.mock("node:fs", async (original) => {
	const fs = await original<typeof import("node:fs")>();
	const readFileSync = (path: string, encoding: "utf8") => {
		if (readFailure.code === "") return fs.readFileSync(path, encoding);
		throw Object.assign(new Error("made up"), { code: readFailure.code });
	};
	return { ...fs, readFileSync };
});

let folder = "";
let home = "";
let cwd = "";
let globalFile = "";
let projectFile = "";
beforeEach(() => {
	readFailure.code = "";
	folder = mkdtempSync(join(tmpdir(), "acp-config-"));
	home = join(folder, "home");
	cwd = join(folder, "project");
	globalFile = join(home, ".pi", "acp.json");
	projectFile = join(cwd, ".pi", "acp.json");
	mkdirSync(dirname(globalFile), { recursive: true });
	mkdirSync(dirname(projectFile), { recursive: true });
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function open(options: Partial<ConfigOptions> = {}): LiveConfig {
	return createConfig({ home, cwd, configDirName: ".pi", projectTrusted: () => true, environment: {}, ...options });
}

/** Writes a file with a time of its own, as if time had passed since the last one. */
let writtenAt = 1_700_000_000;
function write(path: string, content: unknown): void {
	writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
	utimesSync(path, ++writtenAt, writtenAt);
}

describe("without files", () => {
	test("the defaults hold and nothing is said", () => {
		const config = open();
		expect(config.current()).toEqual({
			...defaultSettings,
			promptPack: "default",
			pace: "balanced",
			compress: { ...defaultSettings.compress, maxContextLimit: 1 },
			toolBashDefaultTimeout: 60,
			toolOutputMaxBytes: 50_000,
			repetitionGuard: true,
			throttleRetry: true,
			degenerationGuard: true,
			updateNotice: false,
			debug: false,
			logPath: join(home, ".pi", "acp.log"),
			ui: { statusLine: true },
		});
		expect(config.takeWarnings()).toEqual([]);
	});

	test("nor folders it is the same", () => {
		const config = open({ home: join(folder, "nowhere"), cwd: join(globalFile, "below a file") });
		expect(config.current()).toMatchObject(defaultSettings);
		expect(config.takeWarnings()).toEqual([]);
	});
});

describe("both files", () => {
	test("are merged field by field, the environment on top", () => {
		write(globalFile, { debug: true, modelContextLimit: "100K", compress: { keepTokens: 1, stepTokens: 2 } });
		write(projectFile, { modelContextLimit: "200K", compress: { keepTokens: 3 } });
		const config = open({ environment: { ACP_ENABLED: "off" } });
		expect(config.current()).toMatchObject({
			enabled: false,
			debug: true,
			modelContextLimit: 200_000,
			compress: { keepTokens: 3, stepTokens: 2 },
		});
	});

	test("may hold comments, trailing commas and a byte order mark", () => {
		write(globalFile, '\uFEFF// mine\r\n{ "debug": true, /* few */ "preserveRecentMessages": 2, }\r\n');
		const config = open();
		expect(config.current()).toMatchObject({ debug: true, preserveRecentMessages: 2 });
		expect(config.takeWarnings()).toEqual([]);
	});

	test("may override by provider and model", () => {
		write(globalFile, {
			providers: { acme: { preserveRecentMessages: 1, models: { big: { preserveRecentMessages: 2 } } } },
		});
		const config = open();
		const recent = (provider?: string, model?: string) => config.current(provider, model).preserveRecentMessages;
		expect([recent(), recent("acme"), recent("acme", "big"), recent("acme", "small")]).toEqual([5, 1, 2, 1]);
	});
});

describe("the project's file", () => {
	test("counts only while the project is trusted", () => {
		write(projectFile, { enabled: false, nonsense: 1 });
		let trusted = false;
		const config = open({ projectTrusted: () => trusted });
		expect(config.current().enabled).toBe(true);
		expect(config.takeWarnings()).toEqual([]);
		trusted = true;
		expect(config.current().enabled).toBe(false);
		expect(config.takeWarnings()).toHaveLength(1);
		trusted = false;
		expect(config.current().enabled).toBe(true);
	});

	test("is in the folder that the host names", () => {
		mkdirSync(join(cwd, ".tau"));
		write(join(cwd, ".tau", "acp.json"), { debug: true });
		expect(open({ configDirName: ".tau" }).current().debug).toBe(true);
		expect(open().current().debug).toBe(false);
	});

	test("is no second file when the project is the home directory", () => {
		write(globalFile, { enabled: "no" });
		const config = open({ cwd: home });
		expect(config.takeWarnings()).toEqual([expect.stringContaining("enabled")]);
		write(globalFile, { enabled: false });
		expect(config.current().enabled).toBe(false);
		expect(open({ cwd: home, projectTrusted: () => false }).current().enabled).toBe(false);
	});

	test("of one session says nothing to another", () => {
		const other = join(folder, "other");
		mkdirSync(join(other, ".pi"), { recursive: true });
		write(projectFile, { preserveRecentMessages: 1 });
		write(join(other, ".pi", "acp.json"), { preserveRecentMessages: 2 });
		const sessions = [open(), open({ cwd: other })];
		for (let round = 0; round < 2; round++) {
			expect(sessions.map((config) => config.current().preserveRecentMessages)).toEqual([1, 2]);
		}
	});
});

describe("a file that changes", () => {
	test("is read again, and gives the same object until then", () => {
		write(globalFile, { preserveRecentMessages: 1 });
		const config = open();
		const first = config.current("acme", "big");
		expect(config.current("acme", "big")).toBe(first);
		write(globalFile, { preserveRecentMessages: 2 });
		expect(config.current("acme", "big").preserveRecentMessages).toBe(2);
		rmSync(globalFile);
		expect(config.current("acme", "big").preserveRecentMessages).toBe(5);
		write(projectFile, { preserveRecentMessages: 3 });
		expect(config.current("acme", "big").preserveRecentMessages).toBe(3);
	});

	test("is noticed when its time was set back to what it was", () => {
		write(globalFile, { preserveRecentMessages: 1 });
		const config = open();
		expect(config.current().preserveRecentMessages).toBe(1);
		writeFileSync(globalFile, '{ "preserveRecentMessages": 20 }');
		utimesSync(globalFile, writtenAt, writtenAt);
		expect(config.current().preserveRecentMessages).toBe(20);
	});
});

describe("a file that is no settings", () => {
	test("is ignored as a whole, with one warning that names line and column", () => {
		write(globalFile, '{\n  "debug": true,\n  "preserveRecentMessages": 3\n  "nonsense": 1\n}');
		write(projectFile, { enabled: false });
		const config = open();
		expect(config.current()).toMatchObject({ debug: false, preserveRecentMessages: 5, enabled: false });
		expect(config.takeWarnings()).toEqual([`${globalFile}: line 4, column 3: unexpected "\\""; the file is ignored`]);
	});

	const others: [string, () => void, string][] = [
		["a directory", () => mkdirSync(globalFile), "it is a directory"],
		["a link to itself", () => symlinkSync(globalFile, globalFile), "it cannot be read (ELOOP)"],
		["a pipe", () => void execFileSync("mkfifo", [globalFile]), "it is not a regular file"],
	];

	test.each(others)("because it is %s is ignored with one warning", (_name, create, why) => {
		create();
		const config = open();
		const first = config.current();
		expect(first).toMatchObject(defaultSettings);
		expect(config.takeWarnings()).toEqual([`${globalFile}: ${why}; the file is ignored`]);
		expect(config.current()).toBe(first);
		expect(config.takeWarnings()).toEqual([]);
		rmSync(globalFile, { recursive: true });
		write(globalFile, { debug: true });
		expect(config.current().debug).toBe(true);
	});

	test("because reading it fails is tried again, with one warning", () => {
		write(globalFile, { debug: true });
		readFailure.code = "EMFILE";
		const config = open();
		const first = config.current();
		expect(first.debug).toBe(false);
		expect(config.takeWarnings()).toEqual([`${globalFile}: it cannot be read (EMFILE); the file is ignored`]);
		expect(config.current()).toBe(first);
		readFailure.code = "";
		expect(config.current().debug).toBe(true);
		expect(config.takeWarnings()).toEqual([]);
	});

	test("because it vanished between two looks counts as absent", () => {
		write(globalFile, { debug: true });
		readFailure.code = "ENOENT";
		const config = open();
		expect(config.current().debug).toBe(false);
		expect(config.takeWarnings()).toEqual([]);
	});

	test("because it is far too large is not even read", () => {
		write(globalFile, "{}");
		truncateSync(globalFile, 2_000_000);
		expect(open().takeWarnings()).toEqual([`${globalFile}: it is larger than 1000000 bytes; the file is ignored`]);
	});

	test("but nested deeper than the stack is high does not throw", () => {
		const depth = 200_000;
		write(globalFile, `{"debug": true, "enabled": ${"[".repeat(depth)}${"]".repeat(depth)}}`);
		const config = open();
		expect(config.current()).toMatchObject({ debug: true, enabled: true });
		expect(config.takeWarnings()).toEqual([
			`${globalFile}: enabled is [[…]], expected \`true\` or \`false\`; true is used instead`,
		]);
	});
});

describe("a warning", () => {
	test("is returned once while its cause lasts, and again when it comes back", () => {
		write(globalFile, { enabled: 1, debug: 1 });
		const config = open();
		expect(config.takeWarnings()).toHaveLength(2);
		expect(config.takeWarnings()).toEqual([]);
		write(globalFile, { enabled: 1, debug: 1, nonsense: 1 });
		expect(config.takeWarnings()).toEqual([expect.stringContaining("nonsense")]);
		write(globalFile, {});
		expect(config.takeWarnings()).toEqual([]);
		write(globalFile, { enabled: 1 });
		expect(config.takeWarnings()).toHaveLength(1);
	});

	test("waits until it is taken", () => {
		write(globalFile, { enabled: 1 });
		const config = open({ environment: { ACP_DEBUG: "loud" } });
		config.current();
		write(globalFile, { debug: 1 });
		config.current();
		expect(config.takeWarnings()).toEqual([
			expect.stringContaining("ACP_DEBUG"),
			expect.stringContaining("enabled is 1"),
			expect.stringContaining("debug is 1"),
		]);
	});
});

describe("the path of the log", () => {
	test.each([
		["~/logs/acp.log", () => join(home, "logs", "acp.log")],
		["logs/acp.log", () => join(cwd, "logs", "acp.log")],
		["~name/acp.log", () => join(cwd, "~name", "acp.log")],
		["/var/log/acp.log", () => "/var/log/acp.log"],
	])("%s is made absolute", (path, expected) => {
		expect(open({ environment: { ACP_LOG_FILE: path } }).current().logPath).toBe(expected());
	});
});
