import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ExtensionUIContext, VERSION } from "@earendil-works/pi-coding-agent";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import piBillionContext from "../../../src/index.ts";
import { version } from "../../../src/version.ts";
import { type AcpOptions, type AcpSession, closeAcp, openWithUi, rival, work, writeAcp } from "../../support/acp.ts";

let notify: ReturnType<typeof vi.fn<ExtensionUIContext["notify"]>>;

beforeEach(() => {
	notify = vi.fn();
});
afterEach(async () => {
	vi.unstubAllEnvs();
	vi.restoreAllMocks();
	await closeAcp();
});

/** What the doctor says, by line. */
async function diagnosis(options: AcpOptions = {}, before?: (acp: AcpSession) => unknown): Promise<readonly string[]> {
	const acp = await openWithUi(notify, { seed: work(2), ...options });
	await acp.prompt("hello");
	await before?.(acp);
	notify.mockClear();
	await acp.prompt("/acp doctor");
	return String(notify.mock.calls.at(-1)?.[0]).replaceAll(acp.home.path, "~").replaceAll(acp.home.cwd, ".").split("\n");
}

describe("/acp doctor", () => {
	it("finds nothing to do where all is well", async () => {
		expect(await diagnosis()).toEqual([
			`✓ loaded: pi-billion-context ${version} on Pi ${VERSION}`,
			"✓ tools: ours, and offered to the model",
			"✓ compaction: answered by us",
			"✓ sidecar: ./session.jsonl.acp.json can be written",
			"✓ settings: ~/.pi/acp.json: read",
			"✓ settings: ./.pi/acp.json: absent",
			"✓ log: ~/.pi/acp.log",
			"✓ errors: none in this session",
		]);
	});

	it.each<[string, AcpOptions, RegExp]>([
		["switched off", { acp: { enabled: false } }, /^! tools: switched off\. Set "enabled" to true in acp\.json\.$/],
		[
			"beside another's compress",
			{ extensions: [rival, piBillionContext] },
			/^! tools: we stand down: another extension owns compress\. Keep one of the two/,
		],
		[
			"with compress left out of the loadout",
			{ sessionOptions: { tools: ["read"] } },
			/^! tools: compress is not offered to the model\. Add our tools to --tools, or leave it out\.$/,
		],
	])("says what to do %s", async (_state, options, line) => {
		expect(await diagnosis(options)).toContainEqual(expect.stringMatching(line));
	});

	it("says that Pi compacts by itself behind a proxy, and what to do", async () => {
		vi.stubEnv("BILLION_CONTEXT_PROXY", "1");
		const lines = await diagnosis();
		expect(lines).toContain("! tools: we stand down: a proxy manages the context. Use the provider without it.");
		expect(lines).toContain("✓ compaction: left to Pi");
	});

	it("names every fault of the settings, also one that was said before", async () => {
		const lines = await diagnosis({ acp: { toolOutputMaxByte: 1, strategy: "fold" } });
		expect(lines).toContainEqual(
			expect.stringMatching(
				/^! settings: ~\/\.pi\/acp\.json: toolOutputMaxByte is not a known key .* CONFIGURATION\.md/,
			),
		);
		expect(lines).toContainEqual(expect.stringMatching(/^! settings: .*strategy is "fold", expected one of /));
	});

	it("says that the project's settings are not read until it is trusted", async () => {
		const lines = await diagnosis({}, (acp) => {
			mkdirSync(join(acp.home.cwd, ".pi"), { recursive: true });
			writeFileSync(join(acp.home.cwd, ".pi", "acp.json"), "{}");
			vi.spyOn(acp.session.settingsManager, "isProjectTrusted").mockReturnValue(false);
		});
		expect(lines).toContain("! settings: ./.pi/acp.json: not trusted. Trust the project in Pi to have it read.");
	});

	it("says that the sidecar cannot be written, or that there is none", async () => {
		const lost = await diagnosis({}, (acp) => {
			vi.spyOn(acp.session.sessionManager, "getSessionFile").mockReturnValue(join(acp.home.cwd, "gone", "s.jsonl"));
		});
		expect(lost).toContainEqual(
			expect.stringMatching(/^! sidecar: .*gone.* cannot be written \(ENOENT\)\. Make the folder/),
		);
		expect(await diagnosis({ inMemory: true })).toContain("✓ sidecar: none, the session lives in memory only");
	});

	it("shows the last errors of the session, without credentials", async () => {
		const lines = await diagnosis({}, async (acp) => {
			for (let n = 1; n <= 7; n++) {
				const broken = vi.spyOn(acp.session.sessionManager, "getLeafId").mockImplementation(() => {
					throw new Error(`broken ${n} with sk-${"a1".repeat(12)}`);
				});
				await acp.execute("acp_status", {});
				broken.mockRestore();
			}
		});
		const errors = lines.filter((line) => line.startsWith("! error:"));
		expect(errors).toHaveLength(5);
		expect(errors.at(-1)).toBe(
			"! error: acp_status: Error: broken 7 with ***. Please report it with its lines from the log.",
		);
	});

	it("follows the settings", async () => {
		const lines = await diagnosis({}, (acp) => writeAcp(acp.home, { enabled: false }));
		expect(lines[1]).toMatch(/^! tools: switched off/);
	});
});
