import { existsSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ExecResult, ExtensionAPI } from "@earendil-works/pi-coding-agent";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isNewer, sayUpdate } from "../../../src/hooks/update.ts";
import { createSessions } from "../../../src/session.ts";
import { version } from "../../../src/version.ts";
import { closeAcp, openAcp, openWithUi } from "../../support/acp.ts";

const exec = vi.fn<ExtensionAPI["exec"]>();
const notify = vi.fn();

beforeEach(() => {
	exec.mockReset();
	notify.mockReset();
});
afterEach(async () => {
	vi.unstubAllEnvs();
	vi.restoreAllMocks();
	await closeAcp();
});

const nowMs = 1_800_000_000_000;
const hourMs = 3_600_000;
const answer = (stdout: string, code = 0): ExecResult => ({
	stdout,
	stderr: "",
	code,
	killed: false,
	truncated: false,
});

/** A session at a terminal, that asks at a time so many hours after the first. */
async function open(acp: Record<string, unknown>) {
	const given: { pi?: ExtensionAPI } = {};
	const one = await openWithUi(notify, { acp, extensions: [(pi) => void Object.assign(given, { pi })] });
	vi.stubEnv("PI_OFFLINE", "");
	const stampPath = join(one.home.path, ".pi", "acp.update");
	const ask = async (afterHours = 0) => {
		const { pi } = given;
		if (pi === undefined) throw new Error("the extension was not loaded");
		const ctx = one.session.extensionRunner.createContext();
		try {
			await sayUpdate({ exec }, createSessions(pi), ctx, nowMs + afterHours * hourMs);
		} finally {
			if (existsSync(stampPath)) utimesSync(stampPath, nowMs / 1_000, nowMs / 1_000);
		}
	};
	return { ask, stampPath };
}

describe("with updateNotice on", () => {
	it("a newer version is said, and npm is asked once a day at most", async () => {
		exec.mockResolvedValue(answer("99.0.0\n"));
		const { ask } = await open({ updateNotice: true });
		await ask();
		expect(notify.mock.calls).toEqual([[expect.stringContaining(`99.0.0 is out (here: ${version})`), "info"]]);
		expect(exec.mock.calls).toEqual([
			["npm", ["view", "pi-billion-context", "version"], expect.objectContaining({ timeout: 10_000 })],
		]);
		await ask(23);
		expect(exec).toHaveBeenCalledTimes(1);
		await ask(25);
		expect(exec).toHaveBeenCalledTimes(2);
	});

	it.each([
		["is not newer", answer(version)],
		["cannot be asked for", answer("", 1)],
		["is nonsense", answer("npm notice: 99.0.0")],
	])("nothing is said of a version that %s", async (_why, result) => {
		exec.mockResolvedValue(result);
		const { ask } = await open({ updateNotice: true });
		await ask();
		expect(exec).toHaveBeenCalledTimes(1);
		expect(notify).not.toHaveBeenCalled();
	});

	it("a registry that fails is not asked again the same day", async () => {
		exec.mockRejectedValue(new Error("spawn npm ENOENT"));
		const { ask } = await open({ updateNotice: true });
		await expect(ask()).rejects.toThrow("ENOENT");
		await ask(1);
		expect(exec).toHaveBeenCalledTimes(1);
		expect(notify).not.toHaveBeenCalled();
	});
});

it.each([
	["off by default", {}, ""],
	["offline", { updateNotice: true }, "1"],
])("npm is not asked: %s", async (_why, acp, offline) => {
	const { ask, stampPath } = await open(acp);
	vi.stubEnv("PI_OFFLINE", offline);
	await ask();
	expect(exec).not.toHaveBeenCalled();
	expect(existsSync(stampPath)).toBe(false);
});

it("npm is not asked where nobody sits at a terminal", async () => {
	const given: { pi?: ExtensionAPI } = {};
	const one = await openAcp({ acp: { updateNotice: true }, extensions: [(pi) => void Object.assign(given, { pi })] });
	vi.stubEnv("PI_OFFLINE", "");
	const sessions = createSessions(given.pi ?? expect.unreachable());
	await sayUpdate({ exec }, sessions, one.session.extensionRunner.createContext(), nowMs);
	expect(exec).not.toHaveBeenCalled();
});

it("on Windows npm is asked through its shell, since it is a script there", async () => {
	exec.mockResolvedValue(answer("99.0.0"));
	const { ask } = await open({ updateNotice: true });
	vi.spyOn(process, "platform", "get").mockReturnValue("win32");
	await ask();
	expect(exec.mock.calls[0]?.slice(0, 2)).toEqual(["cmd", ["/c", "npm", "view", "pi-billion-context", "version"]]);
});

it("the answer of a day ago counts, whoever asked", async () => {
	const { ask, stampPath } = await open({ updateNotice: true });
	writeFileSync(stampPath, "");
	utimesSync(stampPath, nowMs / 1_000, nowMs / 1_000);
	await ask(1);
	expect(exec).not.toHaveBeenCalled();
});

it.each([
	["0.1.1", "0.1.0", true],
	["0.10.0", "0.9.9", true],
	["1.0.0", "0.99.99", true],
	["0.1.0", "0.1.0", false],
	["0.0.9", "0.1.0", false],
	["1.0.0-beta.1", "0.1.0", false],
	["", "0.1.0", false],
])("%s is later than %s: %s", (candidate, than, expected) => {
	expect(isNewer(candidate, than)).toBe(expected);
});
