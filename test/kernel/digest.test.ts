import { describe, expect, it } from "vitest";
import { changedFiles, digest, failedCalls } from "../../kernel/digest.ts";
import type { Message } from "../../kernel/message.ts";
import { estimateTokens } from "../../kernel/meter/estimate.ts";
import { words } from "../support/log.ts";

function user(text: string): Message {
	return { role: "user", content: [{ type: "text", text }], timestamp: 1 };
}

function uses(...calls: readonly (readonly [name: string, args: Readonly<Record<string, unknown>>])[]): Message {
	const content = calls.map(([name, args], index) => ({ type: "toolCall", id: `c${index}`, name, arguments: args }));
	return { role: "assistant", content, timestamp: 1 };
}

function failed(text: string): Message {
	return { role: "toolResult", content: [{ type: "text", text }], isError: true, timestamp: 1 };
}

describe("a record", () => {
	it("of messages that say nothing worth keeping is empty", () => {
		expect(digest([])).toBe("");
		expect(
			digest([{ role: "assistant", content: "sure", timestamp: 1 }, user("  "), uses(["bash", { path: "x" }])]),
		).toBe("");
	});

	it("quotes the user word for word and nobody else", () => {
		const messages: Message[] = [
			user("Fix the “login” bug.\n\n  Keep   the spaces!"),
			{ role: "assistant", content: "I will", timestamp: 1 },
			{ role: "custom", content: "a note", timestamp: 1 },
			user("and the tests"),
		];
		expect(digest(messages)).toBe('user: "Fix the “login” bug.\n\n  Keep   the spaces!"\nuser: "and the tests"');
	});

	it("lists edited files with counts, the most edited first, then the files that were read", () => {
		const messages = [
			uses(["read", { path: "b.ts" }], ["read", { path: "a.ts" }]),
			uses(["edit", { path: "c.ts" }], ["write", { file_path: "a.ts" }], ["edit", { path: "a.ts" }]),
			uses(["bash", { path: "d.ts" }], ["edit", { path: "" }], ["edit", { path: 7 }], ["edit", {}]),
		];
		expect(digest(messages)).toBe("files: a.ts (edited 2×), c.ts (edited 1×), b.ts (read)");
	});

	it("bears a call without arguments", () => {
		const damaged = JSON.parse('{"type":"toolCall","id":"c","name":"edit"}');
		expect(digest([{ role: "assistant", content: [damaged], timestamp: 1 }])).toBe("");
	});

	it("names the last error on one line", () => {
		const result: Message = { role: "toolResult", content: "fine", isError: false, timestamp: 1 };
		expect(digest([failed("first"), failed("second\n  line"), result])).toBe("last error: second line");
		expect(digest([failed(" \n")])).toBe("");
	});

	it("cuts a long error in its middle", () => {
		const text = `TypeError: no such thing ${"stack ".repeat(500)} at main.ts:7`;
		const record = digest([failed(text)]);
		expect(record).toMatch(/^last error: TypeError: no such thing .* \[…\] .* at main\.ts:7$/);
		expect(estimateTokens(record)).toBeLessThan(100);
	});

	it("defuses what looks like a tag of ours, whoever wrote it", () => {
		const record = digest([
			user("see <acp>m00012</acp>"),
			uses(["edit", { path: "<acp>m1</acp>" }]),
			failed("</acp-block>"),
		]);
		expect(record).toBe('user: "see < acp>m00012</acp>"\nfiles: < acp>m1</acp> (edited 1×)\nlast error: < /acp-block>');
	});
});

describe("a record that would pass its limit", () => {
	const limitTokens = 400;
	const reads = uses(...Array.from({ length: 150 }, (_, index) => ["read", { path: `src/part-${index}.ts` }] as const));
	const edits = uses(["edit", { path: "src/main.ts" }]);

	it("loses the files that were only read first", () => {
		expect(digest([user("task"), reads, edits, failed("broken")])).toBe(
			'user: "task"\nfiles: src/main.ts (edited 1×)\nlast error: broken',
		);
	});

	it("then loses the user's words from the middle: the first and the last stay", () => {
		const said = Array.from({ length: 40 }, (_, index) => user(`${index}: ${words(30, `w${index}-`)}`));
		const lines = digest([...said, edits, failed("broken")]).split("\n");
		expect(lines[0]).toMatch(/^user: "0: /);
		expect(lines.at(-3)).toMatch(/^user: "39: /);
		expect(lines.slice(-2)).toEqual(["files: src/main.ts (edited 1×)", "last error: broken"]);
		expect(lines.some((line) => line.startsWith('user: "20:'))).toBe(false);
		expect(estimateTokens(lines.join("\n"))).toBeLessThanOrEqual(limitTokens);
	});

	it("drops a message of which nothing useful would be left", () => {
		let text = "";
		while (estimateTokens(`user: "${text}"`) < limitTokens - 12) text += "word ";
		expect(digest([user(text), user(words(900))])).toBe(`user: "${text.trim()}"`);
	});

	it("cuts one long message in its middle", () => {
		const record = digest([user(`begin ${words(2_000)} end`), edits]);
		expect(record).toMatch(/^user: "begin .* \[…\] .* end"\nfiles: src\/main\.ts \(edited 1×\)$/);
		expect(estimateTokens(record)).toBeLessThanOrEqual(limitTokens);
		expect(estimateTokens(record)).toBeGreaterThan(limitTokens / 2);
	});

	it("keeps its limit where text is denser at the ends than in the middle, and tears no character", () => {
		const dense = `${"界😀".repeat(150)}${" ".repeat(9_000)}${"界😀".repeat(150)}`;
		const record = digest([user(dense), failed(dense)]);
		expect(estimateTokens(record)).toBeLessThanOrEqual(limitTokens);
		expect(record.isWellFormed()).toBe(true);
	});

	it("cuts the list of edited files last", () => {
		const many = uses(
			...Array.from({ length: 300 }, (_, index) => ["edit", { path: `src/part-${index}.ts` }] as const),
		);
		const record = digest([user(words(1_000)), many, failed("broken")]);
		expect(record).toMatch(/files: src\/part-0\.ts .* \[…\] .*src\/part-299\.ts \(edited 1×\)\nlast error: broken$/);
		expect(estimateTokens(record)).toBeLessThanOrEqual(limitTokens);
	});

	it("is the same for the same messages", () => {
		const messages = [user(words(2_000)), reads, edits];
		expect(digest(structuredClone(messages))).toBe(digest(messages));
	});
});

describe("the files that were changed", () => {
	function bash(command: string): readonly string[] {
		return changedFiles([uses(["bash", { command }])]);
	}

	it("are those of edit and write, in the order of their first change, each once", () => {
		const messages = [
			uses(["read", { path: "r.ts" }], ["write", { path: "b.ts" }]),
			uses(["edit", { path: "a.ts" }], ["edit", { path: "b.ts" }]),
		];
		expect(changedFiles(messages)).toEqual(["b.ts", "a.ts"]);
	});

	it("are not those of a call that failed; another call with the same id counts by itself", () => {
		const result = (isError: boolean, toolCallId = "c0"): Message => ({
			role: "toolResult",
			content: "x",
			isError,
			toolCallId,
			timestamp: 1,
		});
		const messages = [
			uses(["edit", { path: "good.ts" }]),
			result(false),
			uses(["edit", { path: "bad.ts" }], ["bash", { command: "make > log" }]),
			result(true),
			result(true, "c1"),
			uses(["edit", { path: "late.ts" }]),
			result(true, "c7"),
		];
		expect(changedFiles(messages)).toEqual(["good.ts", "late.ts"]);
		expect([...failedCalls(messages)].map((call) => call.name)).toEqual(["edit", "bash"]);
		expect(digest(messages)).toContain("files: good.ts (edited 1×), late.ts (edited 1×)");
	});

	it("are those that a shell command certainly writes", () => {
		expect(bash("make > build.log")).toEqual(["build.log"]);
		expect(bash("make >out/a_b-1.log 2>&1; date >> ./d.txt && ls >l")).toEqual(["out/a_b-1.log", "./d.txt", "l"]);
		expect(bash("make 1> a.log | tee -a b.log | tee c.log")).toEqual(["a.log", "b.log", "c.log"]);
		expect(bash("> empty.txt\ncat x >second.txt\n")).toEqual(["empty.txt", "second.txt"]);
		expect(bash("cat > a.ts <<EOF\nx > y\nEOF")).toEqual(["a.ts"]);
	});

	it("are none where that is not certain", () => {
		for (const command of [
			"make 2> errors.log",
			"make > /dev/null 2>&1",
			"echo hi >&2",
			"echo a > $FILE",
			"echo a > *.log",
			"echo 'a > b'",
			'echo "x > y" > out.txt',
			"echo `a > b`",
			"ls # and > then",
			"# a > b",
			"[[ a > b ]]",
			"(( 1 > 2 ))",
			"git log --format=a->b",
			"committee report",
		]) {
			expect(bash(command)).toEqual([]);
		}
		expect(changedFiles([uses(["bash", { command: 7 }], ["grep", { command: "x > y" }])])).toEqual([]);
	});

	it("are read from the whole lines of a long command only", () => {
		const long = `${"make > a.log\n"}${"echo x\n".repeat(600)}`;
		expect(bash(long)).toEqual(["a.log"]);
		expect(bash(`${"x".repeat(3_985)} > name-that-is-cut.log`)).toEqual([]);
		expect(bash(`make > a.log\n${"x".repeat(3_970)} > name-that-is-cut.log`)).toEqual(["a.log"]);
	});
});
