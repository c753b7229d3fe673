import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { type AcpSession, closeAcp, openAcp, output, range, work } from "../support/acp.ts";
import type { RecordedRequest } from "../support/provider.ts";
import { expectGrowth, expectWholePairs, textOf } from "../support/wire.ts";

afterEach(closeAcp);

/** What a request shows of the results of `read`, in their order: the first word. */
function reads({ requests }: Pick<AcpSession, "requests">, request: RecordedRequest | undefined = requests.at(-1)) {
	const results = request?.body.messages.filter((message) => message.role === "tool") ?? [];
	return results.map((message) => textOf(message).split(" ", 1)[0]);
}

it("A read that a later one repeats is reduced at a fold before it, and the requests after that only grow.", async () => {
	const acp = await openAcp({ seed: work(1) });
	writeFileSync(join(acp.home.cwd, "notes.txt"), output(7, 1_500));
	await acp.call("read", { path: "notes.txt" });
	await acp.call("read", { path: "notes.txt" });
	expect(reads(acp)).toEqual(["needle1", "needle7", "needle7"]);
	const before = acp.requests.at(-1) ?? expect.unreachable();
	const folding = acp.requests.length;
	await acp.call("compress", { content: [range("m2", "m3")] });
	const { home, sessionFile } = acp;
	await acp.prompt("and on");
	expect(reads(acp).slice(0, 2)).toEqual(["[left", "needle7"]);
	const [marker] = acp.requests.at(-1)?.body.messages.filter((message) => message.role === "tool") ?? [];
	expect(textOf(marker)).toContain('decompress({ id: "m00006" })');
	expectWholePairs(acp.requests.at(-1));
	const again = await openAcp({ home, sessionFile, acp: { filters: { supersededReads: false } } });
	await again.prompt("after a restart, with the rule off");
	expectGrowth([...acp.requests.slice(folding + 1), ...again.requests]);
	expect(before.body.messages.slice(0, 2)).toEqual(acp.requests.at(-1)?.body.messages.slice(0, 2));
	const shown = await again.execute("decompress", { id: "m00006" });
	expect(JSON.stringify(shown.content)).toContain("needle7");
});
