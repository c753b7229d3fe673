import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { afterEach, describe, expect, it } from "vitest";
import piBillionContext from "../../src/index.ts";
import { type AcpSession, closeAcp, openWithUi, output, range, textIn, work } from "../support/acp.ts";
import type { RecordedRequest } from "../support/provider.ts";
import { hasNudge, textOf } from "../support/wire.ts";

afterEach(closeAcp);

/** What each place says while a request is on its way. */
interface Said {
	readonly status: string;
	readonly command: string;
	readonly statusLine: string;
	readonly compress: string;
}

const nudging = {
	acp: { preserveRecentMessages: 0, preserveRecentTokens: 0, compress: { keepTokens: 0, stepTokens: 4_000 } },
	seed: work(6, 3_000),
};

/** Opens a session in which every place is asked just before each request. */
async function openAsked(...others: readonly ExtensionFactory[]): Promise<{ acp: AcpSession; said: readonly Said[] }> {
	const said: Said[] = [];
	const shown = { notice: "", footer: "" };
	const session: { acp?: AcpSession } = {};
	const asker: ExtensionFactory = (pi) => {
		pi.on("before_provider_request", async () => {
			const { acp } = session;
			if (acp === undefined) throw new Error("a request was made too early");
			const status = textIn(await acp.execute("acp_status", {}));
			await acp.session.prompt("/acp");
			const compress = textIn(await acp.execute("compress", { content: [range("m2", "m3")] }));
			said.push({ status, command: shown.notice, statusLine: shown.footer, compress });
		});
	};
	const acp = await openWithUi(
		(text) => {
			shown.notice = text;
		},
		{ ...nudging, extensions: [...others, piBillionContext, asker] },
		(_key, text) => {
			shown.footer = text ?? "";
		},
	);
	session.acp = acp;
	return { acp, said };
}

/** The size in each place: its figure, and the figure with its error and its window where the place has room for them. */
function sizesIn(request: RecordedRequest | undefined, said: Said | undefined) {
	const nudge = textOf(request?.body.messages.at(-1));
	const whole = [
		/^\[acp\] The context holds (.+? tokens)\. /.exec(nudge)?.[1],
		/^The view holds (.+? tokens)[.;]/.exec(said?.status ?? "")?.[1],
		/^The view holds (.+? tokens)[.;]/.exec(said?.command ?? "")?.[1],
	];
	const figures = [
		...whole.map((text) => text?.split(" ")[0]),
		/^acp (\S+)\//.exec(said?.statusLine ?? "")?.[1],
		/^The view went from (\S+) to /m.exec(said?.compress ?? "")?.[1],
	];
	return { whole, figures };
}

function expectOneNumber(request: RecordedRequest | undefined, said: Said | undefined): string {
	const { whole, figures } = sizesIn(request, said);
	const [text = "none"] = whole;
	expect(whole).toEqual([text, text, text]);
	expect(figures).toEqual(Array(5).fill(text.split(" ")[0]));
	expect(said?.statusLine).toContain(`/${/of (\S+) tokens/.exec(text)?.[1]}`);
	return text;
}

describe("the size of the context", () => {
	it("is the same in the nudge, the status, the command, the footer and the answer of compress, at every moment", async () => {
		const { acp, said } = await openAsked();
		writeFileSync(join(acp.home.cwd, "large.txt"), output(7, 9_000));
		const read = { toolCalls: [{ name: "read", arguments: { path: "large.txt" } }] };
		acp.replies({ ...read, usage: { promptTokens: 61_000, cachedTokens: 20_000 } });
		await acp.prompt("hello");
		expect(acp.requests.map(hasNudge)).toEqual([true, true]);
		expect(said).toHaveLength(2);
		const before = expectOneNumber(acp.requests[0], said[0]);
		expect(before).toMatch(/^\d\d\.\dK \(±\d\.\dK\) of 191\.8K tokens$/);
		const after = expectOneNumber(acp.requests[1], said[1]);
		const [size = 0, error = 0] = [...after.matchAll(/(\d+\.\d)K/g)].map((match) => Number(match[1]));
		expect(size).toBeGreaterThan(70);
		expect(error).toBeGreaterThan(0);
		expect(error).toBeLessThan(0.3 * size);
	});

	it("is the same where another extension puts a message of its own into each request", async () => {
		const note: ExtensionFactory = (pi) => {
			const message = { role: "custom", customType: "note", display: false, timestamp: 5 } as const;
			pi.on("context", ({ messages }) => ({ messages: [{ ...message, content: "word ".repeat(3_000) }, ...messages] }));
		};
		const { acp, said } = await openAsked(note);
		writeFileSync(join(acp.home.cwd, "large.txt"), output(7, 9_000));
		const read = { toolCalls: [{ name: "read", arguments: { path: "large.txt" } }] };
		acp.replies({ ...read, usage: { promptTokens: 41_000 } });
		await acp.prompt("hello");
		expect(acp.requests.map(hasNudge)).toEqual([true, true]);
		for (const index of [0, 1]) expectOneNumber(acp.requests[index], said[index]);
	});
});
