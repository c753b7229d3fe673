import type { SessionEntry } from "@earendil-works/pi-coding-agent";
import { describe, expect, it } from "vitest";
import { brokenRequest, loopsIn, strayTags } from "./pace/checks.ts";
import type { ModelName } from "./pace/models.ts";
import { type PaceRun, runPace } from "./pace/run.ts";
import { main, report } from "./pace.ts";

const steps = 60;
const windows = [16_000, 200_000];

async function runs(model: ModelName): Promise<readonly PaceRun[]> {
	const done: PaceRun[] = [];
	// One after the other: each run sets the home of this process.
	for (const windowTokens of windows) done.push(await runPace({ model, windowTokens, steps }));
	return done;
}

function nudgesOf({ nudges }: PaceRun): number {
	return nudges.soft + nudges.pressure + nudges.emergency;
}

describe("sixty steps on a narrow and on a wide window go wrong nowhere", () => {
	it("with an obedient model, which folds when asked", async () => {
		const both = await runs("obedient");
		expect(both.flatMap((run) => run.violations)).toEqual([]);
		for (const run of both) {
			expect(nudgesOf(run)).toBeGreaterThan(0);
			expect(run.folds - run.ruleFolds).toBeGreaterThan(0);
			expect(run.nudgeShare).toBeLessThanOrEqual(0.01);
			expect(run.largestTokens).toBeLessThanOrEqual(run.windowTokens);
		}
		for (const line of report(both).split("\n")) expect(line.length).toBeLessThanOrEqual(80);
		expect(report(both)).toMatch(/\nobedient +16K +60 +\d+ .*\n/);
		expect(report(both)).toContain("Nothing went wrong.");
	});

	it("with a lazy model, for which rules fold where the window is narrow", async () => {
		const both = await runs("lazy");
		expect(both.flatMap((run) => run.violations)).toEqual([]);
		const [narrow, wide] = both;
		expect(narrow?.ruleFolds).toBeGreaterThan(0);
		expect(wide?.ruleFolds).toBe(0);
		expect(wide?.largestTokens).toBeGreaterThan(60_000);
	});

	it("with a clumsy model, which is refused and stopped", async () => {
		const both = await runs("clumsy");
		expect(both.flatMap((run) => run.violations)).toEqual([]);
		for (const run of both) {
			expect(run.refused).toBeGreaterThan(2);
			expect(run.blocked).toBeGreaterThan(0);
		}
	});

	it("with a hostile model, whose tags reach no file", async () => {
		const both = await runs("hostile");
		expect(both.flatMap((run) => run.violations)).toEqual([]);
		for (const run of both) {
			expect(run.folds).toBeGreaterThan(steps / 4);
			expect(run.files).toBeGreaterThan(5);
		}
	});
});

describe("a run is found to be wrong", () => {
	const call = (id: string) => ({ role: "assistant", content: null, tool_calls: [{ id }] });
	const user = { role: "user", content: "Go on" };

	it("where a call lacks its result, a result its call, or a message its content", () => {
		const result = { role: "tool", tool_call_id: "a", content: "one" };
		expect(brokenRequest([user, call("a"), result, user])).toBeUndefined();
		expect(brokenRequest([user, call("a"), user])).toBe("a without a result");
		expect(brokenRequest([user, call("a")])).toBe("a without a result");
		expect(brokenRequest([user, result])).toBe("a result of a without its call");
		expect(brokenRequest([user, { role: "user", content: " " }])).toBe("an empty message of role user");
		expect(brokenRequest([call("a"), result])).toBe("no message of the user");
	});

	it("where a refused call is tried a third time, or a call is made a sixth time in a row", () => {
		const refused = [...branchOf("m1", "No."), ...branchOf("m1", "No.")];
		expect(loopsIn([...refused, ...branchOf("m2", "No."), ...branchOf("m1", "Stop: no.")])).toEqual([]);
		const [loop, ...more] = loopsIn([...refused, ...branchOf("m2", "No."), ...branchOf("m1", "No.")]);
		expect([loop, more]).toEqual([expect.stringMatching(/^refused more than 2 times: .*m1/), []]);
		const row = Array.from({ length: 6 }, () => branchOf("m1", "Blocked: no.")).flat();
		expect(loopsIn(row.slice(2))).toEqual([]);
		expect(loopsIn(row)).toEqual([expect.stringMatching(/^more than 5 calls in a row/)]);
	});

	it("where a tag is in a file, in a call, or at the end of an answer", () => {
		const tag = "<acp>m00012</acp>";
		const branch = [entry({ role: "assistant", content: [{ type: "text", text: `Done. ${tag}\n` }] })];
		expect(strayTags(new Map([["notes.md", `a ${tag}`]]), [`echo ${tag}`], branch)).toHaveLength(3);
		expect(strayTags(new Map([["notes.md", "a"]]), ["echo"], [])).toEqual([]);
	});
});

it("the command line refuses what it does not know", async () => {
	const said: string[] = [];
	const print = (text: string) => void said.push(text);
	expect(await main(["--model", "nobody"], print)).toBe(2);
	expect(await main(["--steps", "0"], print)).toBe(2);
	expect(await main(["--pace", "hasty"], print)).toBe(2);
	expect(await main(["--depth", "1"], print)).toBe(2);
	expect(said).toEqual([
		expect.stringContaining("The models are obedient, "),
		expect.stringContaining("0 is no number"),
		expect.stringContaining("The paces are thrifty, "),
		expect.stringContaining("Unknown option"),
	]);
});

/** A call of compress for one message, and what it was told. */
function branchOf(startId: string, text: string): readonly SessionEntry[] {
	const args = { content: [{ startId, endId: startId, summary: "What was found." }] };
	return [
		entry({ role: "assistant", content: [{ type: "toolCall", id: "a", name: "compress", arguments: args }] }),
		entry({ role: "toolResult", toolCallId: "a", isError: true, content: [{ type: "text", text }] }),
	];
}

/** An entry with what the checks read of it. */
function entry(message: object): SessionEntry {
	return JSON.parse(JSON.stringify({ type: "message", id: "e1", parentId: null, timestamp: "", message }));
}
