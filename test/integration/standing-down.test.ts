import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import piBillionContext from "../../src/index.ts";
import {
	type AcpOptions,
	type AcpSession,
	bareAcp,
	callOfEach,
	closeAcp,
	openAcp,
	operationsIn,
	range,
	textIn,
	work,
} from "../support/acp.ts";
import { type Provider, startProvider } from "../support/provider.ts";
import { blocksIn, hasNudge, outline, systemText, toolNames } from "../support/wire.ts";

let stderr: { mock: { calls: unknown[][] } };
let folded: AcpSession;
let proxied: Provider;

/** A session of ours with one fold, which other sessions go on with. */
beforeEach(async () => {
	stderr = vi.spyOn(process.stderr, "write").mockReturnValue(true);
	folded = await openAcp({ seed: work(4) });
	await folded.call("compress", { content: [range("m2", "m3")] });
	expect(blocksIn(folded.requests.at(-1))).toEqual(["b1"]);
	const { url, ...provider } = await startProvider();
	proxied = { ...provider, url: `${url}/bili` };
});
afterEach(async () => {
	vi.unstubAllEnvs();
	vi.restoreAllMocks();
	await closeAcp();
	await proxied.close();
});

const notices = () => stderr.mock.calls.map(([text]) => String(text)).filter((text) => text.includes("stands down"));

function toolNamed(name: string): ExtensionFactory {
	return (pi) =>
		pi.registerTool({
			name,
			label: name,
			description: name,
			parameters: { type: "object", properties: {} },
			execute: async () => ({ content: [], details: {} }),
		});
}

/** What manages the context instead: its name in the notice, and how it comes about. */
const others: readonly [what: string, notice: string, begin: () => AcpOptions][] = [
	[
		"the environment names a proxy",
		"a proxy manages the context",
		() => {
			vi.stubEnv("BILLION_CONTEXT_PROXY", "http://127.0.0.1:1");
			return {};
		},
	],
	["the model is reached through a proxy", "a proxy manages the context", () => ({ provider: proxied })],
	[
		"another context manager has its tools here",
		"the extension with the tool lcm_grep manages the context",
		() => ({ extensions: [toolNamed("lcm_grep"), piBillionContext] }),
	],
	[
		"another context manager is among Pi's packages",
		"pi-vcc manages the context",
		() => ({ settings: { packages: ["npm:is-odd@3.0.1", { source: "git:github.com/x/pi-vcc@v1" }] } }),
	],
	[
		"another context manager is among Pi's extensions",
		"pi-lcm manages the context",
		() => ({ settings: { extensions: ["./somewhere/pi-lcm.ts"] } }),
	],
];

describe.each(others)("where %s", (_what, notice, begin) => {
	it("there is one notice, folds are rendered and nothing else, and Pi's compaction is left alone", async () => {
		const { home, sessionFile } = folded;
		const eager = { ...bareAcp, compress: { keepTokens: 0, stepTokens: 1 } };
		const acp = await openAcp({ home, sessionFile, acp: eager, ...withoutPackages(begin()) });
		await acp.prompt("Go on");
		await acp.prompt("And on");
		const requests = acp.provider.requests;
		expect(requests).toHaveLength(2);
		for (const request of requests) {
			expect(blocksIn(request)).toEqual(["b1"]);
			expect(outline(request).join()).not.toMatch(/ m\d/);
			expect(hasNudge(request)).toBe(false);
			expect(systemText(request)).not.toContain("context_folding");
			expect(toolNames(request)).not.toContain("decompress");
		}
		expect(notices()).toEqual([
			expect.stringContaining(`stands down: ${notice}. Existing folds stay folded; see /acp doctor.`),
		]);
		const before = operationsIn(acp.branch()).length;
		const answer = await acp.session.extensionRunner.emit({
			type: "session_before_compact",
			preparation: { settings: { reserveTokens: 1 }, tokensBefore: 1 } as never,
			branchEntries: acp.branch(),
			reason: "threshold",
			willRetry: false,
			signal: new AbortController().signal,
		});
		expect(answer).toBeUndefined();
		expect(operationsIn(acp.branch())).toHaveLength(before);
		expect(acp.extensionErrors).toEqual([]);
	});
});

/** Pi is told of packages it does not load: that none is installed does not matter here. */
function withoutPackages({ settings, ...options }: AcpOptions): AcpOptions {
	if (settings === undefined) return options;
	const listing: ExtensionFactory = (pi) => {
		const own = pi.getSettings;
		pi.getSettings = () => ({ ...own(), ...settings });
		piBillionContext(pi);
	};
	return { ...options, extensions: [listing] };
}

describe("a package whose extensions are switched off", () => {
	it("does not make us stand down", async () => {
		const settings = { packages: [{ source: "npm:pi-vcc", extensions: [] }, "npm:pi-vcc-theme"] };
		const acp = await openAcp(withoutPackages({ settings }));
		await acp.prompt("Go on");
		expect(notices()).toEqual([]);
		expect(toolNames(acp.requests[0])).toContain("compress");
	});
});

describe.each(callOfEach)("a call of %s", (name, args) => {
	it("is refused with the reason once something else manages the context, and works again without it", async () => {
		vi.stubEnv("BILLION_CONTEXT_PROXY", "http://127.0.0.1:1");
		const refused = await folded.execute(name, args);
		expect(refused).toMatchObject({ isError: true });
		expect(textIn(refused)).toBe("Context folding is off here: a proxy manages the context. Go on with your task.");
		vi.stubEnv("BILLION_CONTEXT_PROXY", "");
		expect(textIn(await folded.execute(name, args))).not.toContain("off here");
	});
});

describe("on a host without Pi's session API", () => {
	it("one line says so, and nothing else happens", async () => {
		const acp = await openAcp({
			extensions: [
				(pi) => {
					const on = pi.on.bind(pi) as (event: string, handler: (event: unknown, ctx: object) => unknown) => void;
					const foreign = (event: string, handler: (event: unknown, ctx: object) => unknown) =>
						on(event, (given, ctx) => {
							const lacking = { getSessionId: () => "s", getSessionFile: () => undefined };
							return handler(given, Object.create(ctx, { sessionManager: { value: lacking } }));
						});
					piBillionContext(Object.create(pi, { on: { value: foreign } }));
				},
			],
			seed: work(1),
		});
		await acp.prompt("Go on");
		expect(stderr.mock.calls.map(([text]) => text)).toEqual([
			"pi-billion-context does nothing here: this host lacks getHeader of Pi's session API.\n",
		]);
		expect(outline(acp.requests[0])).toEqual(["system", "user", "assistant", "tool", "user"]);
		expect(toolNames(acp.requests[0])).not.toContain("compress");
		const answer = await acp.session.extensionRunner.emit({
			type: "session_before_compact",
			preparation: {} as never,
			branchEntries: [],
			reason: "threshold",
			willRetry: false,
			signal: new AbortController().signal,
		});
		expect(answer).toBeUndefined();
		expect(acp.extensionErrors).toEqual([]);
	});
});

describe("the tool-name conflict of two extensions", () => {
	it("never stops Pi from starting", async () => {
		const acp = await openAcp({ extensions: [piBillionContext, toolNamed("compress"), toolNamed("decompress")] });
		await acp.prompt("Go on");
		expect(acp.session.getLastAssistantText()).toBe("ok");
	});
});
