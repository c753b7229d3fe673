import { type ExtensionFactory, SessionManager } from "@earendil-works/pi-coding-agent";
import { afterEach, describe, expect, it, vi } from "vitest";
import piBillionContext from "../../../src/index.ts";
import { type AcpSession, closeAcp, openAcp, piWith, range, work } from "../../support/acp.ts";

afterEach(async () => {
	vi.restoreAllMocks();
	await closeAcp();
});

const listensToSettling = (acp: AcpSession) => acp.session.extensionRunner.hasHandlers("agent_before_settle");

/** A session in which an anchor is due, and was written in the last of some turns. */
async function nearThreshold(extensions: ExtensionFactory[]) {
	const acp = await openAcp({ models: [{ contextWindow: 40_000, maxTokens: 4_096 }], seed: work(4), extensions });
	await acp.call("compress", { content: [range("m2", "m5", "What was found.")] });
	const near = { text: "on", usage: { promptTokens: 22_500, completionTokens: 50 } };
	acp.replies(near, near, near);
	for (const prompt of ["hello", "and on", "and on again"]) await acp.prompt(prompt);
	const anchors = acp.branch().filter((entry) => entry.type === "compaction").length;
	return { anchors, listens: acp.session.extensionRunner.hasHandlers("turn_end") };
}

describe("the end of a turn", () => {
	it("costs no copy of the session where there is nothing to write", async () => {
		const acp = await openAcp({ seed: work(2) });
		const copy = vi.spyOn(SessionManager, "inMemory");
		await acp.prompt("go on");
		await acp.prompt("and on");
		expect(copy).not.toHaveBeenCalled();
	});

	it("is heard of only in a turn that may have something to write", async () => {
		expect(await nearThreshold([piBillionContext])).toEqual({ anchors: 1, listens: false });
	});

	it("costs no view where it cannot be told whether something is to be written", async () => {
		let isBroken = false;
		const breaking: ExtensionFactory = (pi) => {
			const getSettings = () => {
				if (isBroken) throw new Error("broken on purpose");
				return pi.getSettings();
			};
			piBillionContext(piWith(pi, { getSettings }));
		};
		const acp = await openAcp({ seed: work(4), extensions: [breaking] });
		await acp.call("compress", { content: [range("m2", "m5", "What was found.")] });
		isBroken = true;
		await acp.prompt("go on");
		isBroken = false;
		expect(JSON.stringify(acp.requests.at(-1)?.body.messages)).toContain("<acp-block");
		expect(await acp.logText()).toContain('[turn_end] message="Error: broken on purpose"');
	});

	it("is heard of once for good on a host that cannot end a listener", async () => {
		const withoutEnds: ExtensionFactory = (pi) => {
			const on = (...listener: unknown[]) => void Reflect.apply(pi.on, pi, listener);
			piBillionContext(piWith(pi, { on }));
		};
		expect(await nearThreshold([withoutEnds])).toEqual({ anchors: 1, listens: true });
	});
});

describe("the settling of a run", () => {
	it("is heard of only after a failure", async () => {
		const acp = await openAcp({ seed: work(2), settings: { retry: { enabled: false } } });
		await acp.prompt("go on");
		expect(listensToSettling(acp)).toBe(false);
		const listened: boolean[] = [];
		acp.session.subscribe((event) => {
			if (event.type === "agent_end") listened.push(listensToSettling(acp));
		});
		acp.replies({ status: 400, error: "broken" });
		await acp.prompt("and on");
		expect(listened).toEqual([true]);
		expect(listensToSettling(acp)).toBe(false);
	});

	it("is heard of where an extension after us makes an error of the answer", async () => {
		const errorMessage = "maximum context length is 8192 tokens, however you requested 9000 tokens";
		let fails = 1;
		const failing: ExtensionFactory = (pi) =>
			void pi.on("message_end", ({ message }) => {
				if (message.role !== "assistant" || fails-- <= 0) return undefined;
				return { message: { ...message, stopReason: "error" as const, errorMessage } };
			});
		const settings = { retry: { enabled: false }, compaction: { enabled: false } };
		const acp = await openAcp({ seed: work(2), settings, extensions: [piBillionContext, failing] });
		await acp.prompt("go on");
		expect(acp.requests).toHaveLength(2);
	});
});
