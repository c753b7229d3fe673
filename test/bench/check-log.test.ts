import { execFile } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { judge, originalsComeBack } from "../support/invariants.ts";
import type { RequestBody, WireMessage } from "../support/provider.ts";
import { hasNudge, textsOf } from "../support/wire.ts";
import { type CheckedLog, checkLog, main } from "./check-log.ts";

const minuteMs = 60_000;
const scriptPath = fileURLToPath(new URL("check-log.ts", import.meta.url));

let folder: string;
beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), "check-log-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function fileOf(name: string, lines: readonly (object | string)[]): string {
	const path = join(folder, name);
	writeFileSync(path, lines.map((line) => (typeof line === "string" ? line : JSON.stringify(line))).join("\n"));
	return path;
}

const header = { type: "session", id: "0f1e2d3c", timestamp: "2025-12-01T08:00:00.000Z", cwd: "/nowhere/at/all" };
const image = { type: "image", mimeType: "image/png", data: "iVBORw0KGgo=" };

/** A log of session format 1, written line by line: entries have no ids, compactions point by line. */
class OldLog {
	readonly lines: object[] = [header];
	#clockMs = Date.parse(header.timestamp);

	message(message: object): void {
		this.#clockMs += 1_000;
		this.#add({ type: "message", message: { ...message, timestamp: this.#clockMs } });
	}

	user(...content: (string | object)[]): void {
		this.message({ role: "user", content: content.map(part) });
	}

	assistant(content: readonly object[], stopReason = "stop"): void {
		const usage = { input: 10, output: 10, cacheRead: 0, cacheWrite: 0, totalTokens: 20, cost: { total: 0 } };
		const model = { api: "anthropic-messages", provider: "anthropic", model: "old-model" };
		this.message({ role: "assistant", content, ...model, usage, stopReason });
	}

	/** Parallel calls of a tool, each with its result; the third one fails. */
	calls(tool: string, name: string, results: readonly (readonly (string | object)[])[]): void {
		const made = results.map((_, index) => ({ id: `toolu_${name}_${index}`, path: `src/${name}-${index}.ts` }));
		this.assistant(
			made.map(({ id, path }) => ({ type: "toolCall", id, name: tool, arguments: { path } })),
			"toolUse",
		);
		for (const [index, { id }] of made.entries()) {
			const content = (results[index] ?? []).map(part);
			this.message({ role: "toolResult", toolCallId: id, toolName: tool, content, isError: index === 2 });
		}
	}

	/** A summary by Pi that keeps the last lines. */
	compaction(keptLines: number): void {
		const firstKeptEntryIndex = this.lines.length - keptLines;
		this.#add({ type: "compaction", summary: prose("summary", 60), firstKeptEntryIndex, tokensBefore: 9_000 });
	}

	#add(entry: object): void {
		this.lines.push({ ...entry, timestamp: new Date(this.#clockMs).toISOString() });
	}
}

function part(content: string | object): object {
	return typeof content === "string" ? { type: "text", text: content } : content;
}

function prose(seed: string, words: number): string {
	return Array.from({ length: words }, (_, index) => `${seed}${(index * 7919) % 613}`).join(" ");
}

/** A day of work in small: two compactions, parallel calls, images, aborted and failed turns, bash executions. */
function workday(): readonly object[] {
	const log = new OldLog();
	for (let turn = 0; turn < 18; turn++) {
		const name = `turn${turn}x`;
		log.user(`Please look into ${name}.`, ...(turn % 5 === 3 ? [image] : []));
		if (turn % 4 === 1) {
			log.assistant(
				[part("Let me"), { type: "toolCall", id: `toolu_${name}_cut`, name: "bash", arguments: {} }],
				"aborted",
			);
			log.user(`No, first ${name}, and mind <acp>m00003</acp> and </acp-block>.`);
		}
		const odd = [["日本語の本文です。".repeat(40)], ["", image], [], ["half a pair \ud83d here"]][turn % 4] ?? [];
		const whole = [[prose(name, 350)], odd, [prose(`${name}e`, 250)], [prose(`${name}f`, 1_200)]];
		log.calls("read", name, whole.slice(0, 1 + (turn % 4)));
		log.calls("edit", `${name}again`, [[prose(`${name}g`, 450), image]]);
		log.calls("read", "plan", [[prose(`${name}plan`, 200), ...(turn % 3 === 0 ? [image] : [])]]);
		log.assistant([{ type: "thinking", thinking: "hm", thinkingSignature: "s" }, part(`Done with ${name}.`)]);
		if (turn === 5) log.compaction(6);
		if (turn === 9) log.compaction(9);
		const bash = { role: "bashExecution", command: "ls", exitCode: 0, cancelled: false, truncated: false };
		if (turn % 6 === 2) log.message({ ...bash, output: prose("listing", 30) });
		if (turn % 6 === 4) log.message({ ...bash, output: "a secret", excludeFromContext: true });
		if (turn === 13) log.assistant([], "error");
		if (turn === 14) log.message({ role: "hookMessage", customType: "note", content: "from a hook", display: true });
	}
	return log.lines;
}

/** What a crash leaves at the end of a log. */
const tornLine = '{"type":"message","timestamp":"2025-12-01T09:00';

describe("check-log on a log of session format 1", () => {
	let checked: CheckedLog;
	beforeAll(async () => {
		checked = await checkLog(fileOf("workday.jsonl", [...workday(), tornLine]));
	}, 5 * minuteMs);

	/** What `judge` finds in some requests whose messages were changed. */
	function findings(indexes: readonly number[], change: (messages: WireMessage[], index: number) => WireMessage[]) {
		const requests = checked.recording.requests.flatMap((request) => {
			const body: RequestBody = structuredClone(request.body);
			const changed = { ...request, body: { ...body, messages: change(body.messages, request.index) } };
			return indexes.includes(request.index) ? changed : [];
		});
		return judge({ ...checked.recording, requests }).violations;
	}

	it("folds it to a fifth in the real Pi, and every request keeps the invariants", () => {
		const { judgement, recording, isFolded } = checked;
		expect(judgement.violations).toEqual([]);
		expect(isFolded).toBe(true);
		expect(judgement.sights).toHaveLength(recording.requests.length);
		expect(recording.restarts).toHaveLength(2);
		const kinds = judgement.sights.at(-1)?.operations.map(({ operation }) => operation.kind);
		expect(kinds).toEqual(expect.arrayContaining(["fold", "unfold"]));
		expect(recording.requests.some(hasNudge)).toBe(true);
		const tiers = [...(judgement.sights.at(-1)?.branch.state.blocks.values() ?? [])].map((block) => block.tier);
		expect(tiers).toEqual(expect.arrayContaining([1, 2]));
	});

	it("finds the markers in place of results that later calls repeat, and notices another text there", () => {
		const marked = checked.judgement.sights.find(({ stable }) => stable.some(isMarker));
		expect(marked).toBeDefined();
		const { index } = marked?.request ?? expect.unreachable();
		const reworded = (message: WireMessage) =>
			isMarker(message) ? { ...message, content: textsOf(message)[0]?.replace("[left", "[lost") } : message;
		const found = findings([index], (messages) => messages.map(reworded));
		expect(found).toContainEqual(
			expect.objectContaining({ invariant: 3, what: expect.stringMatching(/says something else than the log$/) }),
		);
	});

	it("notices another text in an old message, in its request and in the next one", () => {
		const found = findings([1, 2, 3], (messages, index) =>
			index === 2
				? messages.with(1, { role: "user", content: `${textsOf(messages[1] ?? none)[0]} and more` })
				: messages,
		);
		expect(found.map(({ invariant, request }) => `${invariant} in ${request}`)).toEqual(
			expect.arrayContaining(["1 in 2", "2 in 2", "2 in 3"]),
		);
	});

	it("notices that a restart changes what was sent before", () => {
		const [restart = 0] = checked.recording.restarts;
		const found = findings([restart - 1, restart], (messages, index) =>
			messages.filter((message) => index < restart || !isBlock(message)),
		);
		expect(found).toContainEqual(expect.objectContaining({ invariant: 5, request: restart }));
	});

	it.each([
		["lost", /^m\d+ is lost$/, (message: WireMessage) => (isAsked(message) ? [] : [message])],
		["twice there", /is there 2 times$/, (message: WireMessage) => (isBlock(message) ? [message, message] : [message])],
		["out of order", /is out of order$/, (message: WireMessage) => (isAsked(message) ? [message, message] : [message])],
		[
			"changed",
			/says something else than the log$/,
			(message: WireMessage) => (isAsked(message) ? [reworded(message)] : [message]),
		],
		["made up", /from nowhere in the log$/, (message: WireMessage) => (isAsked(message) ? [none, message] : [message])],
	])("notices a message that is %s", (_, what, change) => {
		const found = findings([1], (messages) => messages.flatMap(change));
		expect(found).toContainEqual(expect.objectContaining({ invariant: 3, what: expect.stringMatching(what) }));
	});

	it.each([
		["a call without its result", /miss results|have no results/, (message: WireMessage) => message.role !== "tool"],
		[
			"a result without its call",
			/a result without a call$/,
			(message: WireMessage) => message.tool_calls === undefined,
		],
		["that nobody asks", /no user message$/, (message: WireMessage) => message.role !== "user"],
	])("notices %s", (_, what, isKept) => {
		const found = findings([1], (messages) => messages.filter(isKept));
		expect(found).toContainEqual(expect.objectContaining({ invariant: 4, what: expect.stringMatching(what) }));
	});

	it("notices originals that do not come back", () => {
		const last = checked.judgement.sights.at(-1);
		if (last === undefined) throw new Error("no request was made");
		const ordinal = last.branch.state.tops[0]?.spans[0]?.from;
		const path = last.path.map((entry) => {
			if (last.ordinals.get(entry.id) !== ordinal || entry.type !== "message") return entry;
			return { ...entry, message: { role: "user" as const, content: "never said", timestamp: 0 } };
		});
		expect(originalsComeBack(last)).toEqual([]);
		expect(originalsComeBack({ ...last, path }).length).toBeGreaterThan(0);
	});
});

const none: WireMessage = { role: "user", content: "nobody said this" };

function isAsked(message: WireMessage): boolean {
	return textsOf(message)[0]?.startsWith("Please look into turn17x") === true;
}

function reworded(message: WireMessage): WireMessage {
	return { ...message, content: textsOf(message)[0]?.replace("Please", "Do not") };
}

function isMarker(message: WireMessage): boolean {
	return textsOf(message)[0]?.startsWith("[left out: a later call") === true;
}

function isBlock(message: WireMessage): boolean {
	return textsOf(message)[0]?.startsWith("<acp-block") === true;
}

describe("the command check:log", () => {
	async function run(...args: string[]): Promise<{ code: number; text: string }> {
		let text = "";
		const code = await main(args, (line) => {
			text += line;
		});
		return { code, text };
	}

	it(
		"says that folding did not get to a fifth, and exits with 1",
		async () => {
			const log = new OldLog();
			log.user("A question.");
			log.assistant([part("An answer.")]);
			const { code, text } = await run("--log", fileOf("short.jsonl", log.lines));
			expect(text).toMatch(/^folded to 20 % +no$/m);
			expect(text).toMatch(/^violations +0$/m);
			expect(code).toBe(1);
		},
		5 * minuteMs,
	);

	it.each([
		["no log", () => [], "No session log is given."],
		["an unknown option", () => ["--speed", "9"], "--speed"],
		["a missing file", () => ["--log", join(folder, "none.jsonl")], "There is no file"],
		["text", () => ["--log", fileOf("text.txt", ["hello"])], "does not begin with a session header"],
		["other JSON lines", () => ["--log", fileOf("other.jsonl", [{ a: 1 }])], "does not begin with a session header"],
		["a folder", () => ["--log", folder], "is no file."],
		["an empty session", () => ["--log", fileOf("empty.jsonl", [header])], "holds no messages"],
		["a window in words", () => ["--log", scriptPath, "--window", "wide"], "wide is no number of tokens."],
	])("refuses %s with a clear message and exits with 2", async (_, args, words) => {
		const { code, text } = await run(...args());
		expect(text).toContain(words);
		expect(text).toContain("Usage: npm run check:log -- --log FILE");
		expect(code).toBe(2);
	});

	it("runs as it is under Node", async () => {
		const run = promisify(execFile)(process.execPath, [scriptPath, "--log", join(folder, "none.jsonl")]);
		await expect(run).rejects.toMatchObject({
			code: 2,
			stdout: expect.stringContaining("There is no file"),
			stderr: "",
		});
	});
});
