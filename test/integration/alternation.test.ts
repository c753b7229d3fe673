import { afterEach, describe, expect, it } from "vitest";
import { type AcpOptions, bareAcp, closeAcp, openAcp, range, work } from "../support/acp.ts";
import type { RecordedRequest } from "../support/provider.ts";
import { textOf } from "../support/wire.ts";

afterEach(closeAcp);

const compat = { requiresAssistantAfterToolResult: true };
const eager = { ...bareAcp, compress: { keepTokens: 0, stepTokens: 500 } };

/** How many messages of a request are ours alone: a block or a nudge that is no part of another message. */
function ownMessages({ body }: RecordedRequest): number {
	const texts = body.messages.map(textOf);
	return texts.filter((text) => /^(?:<acp-block |\[acp\] )/.test(text) && !/<acp>m\d+<\/acp>/.test(text)).length;
}

/** A session that folds what stands behind the user's message, and is nudged. */
async function folded(setting: string, options: AcpOptions = {}) {
	const acp = await openAcp({ seed: work(4), acp: { ...eager, strictAlternation: setting }, ...options });
	await acp.call("compress", { content: [range("m2", "m5")] });
	acp.replies({ toolCalls: [{ name: "bash", arguments: { command: "seq 2000" } }] });
	await acp.prompt("Count");
	const isNudged = ({ body }: RecordedRequest) => textOf(body.messages.at(-1)).includes("[acp] The context holds");
	expect(acp.requests.some(isNudged)).toBe(true);
	return acp;
}

describe("blocks and nudges", () => {
	const alone = (requests: readonly RecordedRequest[]) => requests.map(ownMessages).filter((count) => count > 0);

	it.each<[string, string, AcpOptions]>([
		["the settings always ask for it", "always", {}],
		["the model is declared to need it", "auto", { models: [{ compat }] }],
	])("are merged into the messages beside them where %s", async (_where, setting, options) => {
		const acp = await folded(setting, options);
		expect(alone(acp.requests)).toEqual([]);
		expect(acp.requests.at(-1)?.body.messages.map(textOf).join("\n")).toContain('<acp-block id="b1"');
	});

	it.each<[string, string, AcpOptions]>([
		["the settings never ask for it", "never", { models: [{ compat }] }],
		["the model is declared to need nothing", "auto", {}],
	])("stand alone where %s", async (_where, setting, options) => {
		expect(alone((await folded(setting, options)).requests)).not.toEqual([]);
	});
});
