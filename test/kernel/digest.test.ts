import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { changedFiles, digest, failedCalls, fullDigest } from "../../kernel/digest.ts";
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
			uses(["read", { path: "b.ts" }]),
			uses(["edit", { path: "c.ts" }], ["write", { file_path: "a.ts" }], ["edit", { path: "a.ts" }]),
			uses(["bash", { path: "d.ts" }], ["edit", { path: "" }], ["edit", { path: 7 }], ["edit", {}]),
		];
		expect(digest(messages)).toBe("files: a.ts (edited 2×, read 1×), c.ts (edited 1×), b.ts (read 2×)");
	});

	it("bears a call without arguments", () => {
		const damaged = JSON.parse('{"type":"toolCall","id":"c","name":"edit"}');
		expect(digest([{ role: "assistant", content: [damaged], timestamp: 1 }])).toBe("");
	});

	it("names the last error on one line, and the errors before it, each once", () => {
		const result: Message = { role: "toolResult", content: "fine", isError: false, timestamp: 1 };
		expect(digest([failed("second\n  line"), result])).toBe("last error: second line");
		expect(digest([failed("first"), failed("a\nb"), failed("first"), failed("second")])).toBe(
			"earlier errors: first; a b\nlast error: second",
		);
		expect(digest([failed(" \n")])).toBe("");
	});

	it("lists shell commands in the order of their last run, with the runs and those that failed", () => {
		const run = (command: unknown) => uses(["bash", { command }]);
		const failing = (command: string) => [run(command), { ...failed("exit 1"), toolCallId: "c0" }];
		const messages = [
			...failing("npm test"),
			run("ls\n  -l"),
			...failing("make"),
			run("npm test"),
			run(" "),
			run(7),
			...failing("make"),
			run(`echo ${"x".repeat(100)}`),
			run("ls -l"),
		];
		expect(digest(messages).split("\n")[0]).toBe(
			`commands: npm test (2×, failed 1×), make (2×, failed), echo ${"x".repeat(75)}…, ls -l (2×)`,
		);
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
	const runs = Array.from({ length: 90 }, (_, index) => uses(["bash", { command: `npm run step-${index}` }]));
	const errors = Array.from({ length: 30 }, (_, index) => failed(`error number ${index} of the build`));

	function linesOf(...messages: readonly Message[]): readonly string[] {
		const record = digest(messages);
		expect(estimateTokens(record)).toBeLessThanOrEqual(limitTokens);
		return record.split("\n");
	}

	it("loses commands first, then reads, then older errors, the oldest of each", () => {
		const [, , commands] = linesOf(user("task"), edits, ...runs, failed("broken"));
		expect(commands).toMatch(/^commands: \d+ earlier, npm run step-\d+, .*, npm run step-89$/);
		const withReads = linesOf(user("task"), edits, reads, ...runs, failed("broken"));
		expect(withReads).toEqual([
			'user: "task"',
			expect.stringMatching(/^files: src\/main\.ts \(edited 1×\), src\/part-0\.ts \(read\), .*, \d+ more read$/),
			"last error: broken",
		]);
		const withErrors = linesOf(user("task"), edits, reads, ...runs, ...errors, failed("broken"));
		expect(withErrors).toEqual([
			'user: "task"',
			expect.stringMatching(/^files: src\/main\.ts \(edited 1×\), .*, \d+ more read$/),
			expect.stringMatching(/^earlier errors: error number 0 .* error number 29 of the build$/),
			"last error: broken",
		]);
		const withWords = linesOf(user(words(500)), edits, reads, ...runs, ...errors, failed("broken"));
		expect(withWords.slice(1)).toEqual(["files: src/main.ts (edited 1×)", "last error: broken"]);
		expect(
			linesOf(
				user("task"),
				...errors,
				...errors,
				edits,
				...runs,
				...errors.map((_, at) => failed(`e${at} ${words(30)}`)),
			)[2],
		).toMatch(/^earlier errors: \d+ earlier; /);
	});

	it("then loses the user's words from the middle: the first and the last stay", () => {
		const said = Array.from({ length: 40 }, (_, index) => user(`${index}: ${words(30, `w${index}-`)}`));
		const lines = linesOf(...said, edits, failed("broken"));
		expect(lines[0]).toMatch(/^user: "0: /);
		expect(lines.at(-3)).toMatch(/^user: "39: /);
		expect(lines.slice(-2)).toEqual(["files: src/main.ts (edited 1×)", "last error: broken"]);
		expect(lines.some((line) => line.startsWith('user: "20:'))).toBe(false);
	});

	it.each([
		"Never push to main.",
		"You must not touch dist/!",
		"please don’t rename it",
		"Only the tests in src/.",
		"Niemals die API ändern.",
		"Ne touche jamais au schéma.",
		"Никогда не трогай схему.",
		"不要修改公共接口。",
		"必ずテストを書いてください。",
		"절대 main에 푸시하지 마세요.",
	])("keeps the sentence in which the user sets a rule, wherever it stands: %s", (rule) => {
		const long = `begin ${words(400)}. ${rule} ${words(400)} end`;
		const said = [
			user(words(200)),
			user(words(200)),
			user(long.replace(`${rule} `, `${rule}\n`)),
			user(words(200)),
			user(words(200)),
		];
		expect(linesOf(...said, edits).filter((line) => line.startsWith("rule: "))).toEqual([`rule: "${rule}"`]);
	});

	it("says a rule once where the words around it are shown, and takes no page of output for one", () => {
		expect(digest([user("Never push."), user(words(900)), user("Never push.")]).match(/Never push/g)).toHaveLength(2);
		const lines = linesOf(user(words(300)), user(`it must ${"be long ".repeat(60)}`), user(words(300)));
		expect(lines.filter((line) => line.startsWith("rule: "))).toEqual([]);
	});

	it("keeps rules of the first and the last messages where there are too many", () => {
		const said = Array.from({ length: 90 }, (_, index) =>
			user(`${words(90)}.\nNever do thing number ${index}.\n${words(90)}`),
		);
		const rules = linesOf(...said).filter((line) => line.startsWith("rule: "));
		expect(rules.length).toBeGreaterThan(15);
		expect(rules[0]).toBe('rule: "Never do thing number 0."');
		expect(rules.at(-1)).toBe('rule: "Never do thing number 89."');
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
		const record = digest([user(dense), failed(dense), uses(["bash", { command: `${"x".repeat(79)}😀` }])]);
		expect(estimateTokens(record)).toBeLessThanOrEqual(limitTokens);
		expect(record.isWellFormed()).toBe(true);
	});

	it("cuts the list of edited files last, at whole names, and leaves rules their share", () => {
		const many = uses(
			...Array.from({ length: 300 }, (_, index) => ["edit", { path: `src/part-${index}.ts` }] as const),
			["edit", { path: "most.ts" }],
			["edit", { path: "most.ts" }],
		);
		const lines = linesOf(user(`${words(1_000)}\nNever push.\n${words(1_000)}`), many, failed("broken"));
		expect(lines).toEqual([
			expect.stringMatching(/^user: .* \[…\] /),
			'rule: "Never push."',
			expect.stringMatching(/^files: most\.ts \(edited 2×\), src\/part-0\.ts \(edited 1×\), .*, \d+ more edited$/),
			"last error: broken",
		]);
		expect(lines[2]?.split(", ").length).toBeGreaterThan(20);
		const deep = uses(["edit", { path: `src/${"deep/".repeat(200)}file.ts` }]);
		expect(linesOf(user(words(900)), deep)[1]).toMatch(/^files: src\/deep\/.* \[…\] .*file\.ts \(edited 1×\)$/);
	});

	it("never passes it, whatever is said and done", () => {
		const text = fc.oneof(
			fc.string({ maxLength: 300, unit: "grapheme" }),
			fc.constantFrom(words(50), words(800), "Never a.b!\n".repeat(40), "ok", "必须。".repeat(90), " ".repeat(9_000)),
		);
		const message = fc.oneof(
			text.map(user),
			text.map(failed),
			fc
				.tuple(fc.constantFrom("read", "edit", "bash"), text)
				.map(([name, value]) => uses([name, { path: value, command: value }])),
		);
		fc.assert(
			fc.property(fc.array(message, { maxLength: 60 }), (messages) => {
				expect(estimateTokens(digest(messages))).toBeLessThanOrEqual(limitTokens);
			}),
			{ seed: 20_261_130, numRuns: 300 },
		);
	});

	it("is the same for the same messages", () => {
		const messages = [user(words(2_000)), reads, edits];
		expect(digest(structuredClone(messages))).toBe(digest(messages));
	});
});

describe("a record with the session's first message of the user", () => {
	const edits = uses(["edit", { path: "src/main.ts" }]);

	it("shows it whole beside its limit", () => {
		const first = words(1_900);
		const record = digest([user(first), user(words(300)), edits], 2_000);
		expect(record).toBe(`user: "${first}"\nuser: "${words(300)}"\nfiles: src/main.ts (edited 1×)`);
	});

	it("shows both ends and the rules of a longer one", () => {
		const record = digest([user(`begin ${words(2_000)}\nNever push.\n${words(2_000)} end`), edits], 2_000);
		const [first = "", ...others] = record.split("\n");
		expect(first).toMatch(/^user: "begin .* \[…\] .* end"$/);
		expect(estimateTokens(first)).toBeGreaterThan(1_800);
		expect(estimateTokens(first)).toBeLessThanOrEqual(2_000);
		expect(others).toEqual(['rule: "Never push."', "files: src/main.ts (edited 1×)"]);
	});

	it("leaves out what the summary tells in a line of its own, that message too", () => {
		const messages = [user("first"), user("Never push."), user("second\nline"), user("third"), edits];
		const rest = 'user: "second\nline"\nuser: "third"\nfiles: src/main.ts (edited 1×)';
		expect(digest(messages, 2_000, "x\nuser: first\nuser: Never push.\nuser: third, and more")).toBe(rest);
		expect(digest(messages, 2_000, "user: Never push.")).toBe(`user: "first"\n${rest}`);
	});

	it("leaves it out where there is no room for anything of use", () => {
		expect(digest([user(words(900)), edits], 5)).toBe("files: src/main.ts (edited 1×)");
	});
});

describe("a full record", () => {
	it("is the visible one where that is not cut", () => {
		const messages = [user("task"), uses(["edit", { path: "a.ts" }], ["bash", { command: "ls" }]), failed("no")];
		expect(fullDigest(messages)).toBe(digest(messages));
		expect(fullDigest(messages)).toBe(digest(messages, 2_000));
	});

	it("names every file, command, error and message of the user", () => {
		const messages = Array.from({ length: 200 }, (_, index) => [
			user(`message ${index}`),
			uses(
				["edit", { path: `e${index}.ts` }],
				["read", { path: `r${index}.ts` }],
				["bash", { command: `run ${index}` }],
			),
			failed(`error ${index}`),
		]).flat();
		const record = fullDigest(messages);
		for (let index = 0; index < 200; index++) {
			for (const fact of [
				`"message ${index}"`,
				`e${index}.ts (edited 1×)`,
				`r${index}.ts (read)`,
				`run ${index}`,
				`error ${index}`,
			]) {
				expect(record).toContain(fact);
			}
		}
	});

	it("has both ends and all rules of a very long message", () => {
		const record = fullDigest([user(`begin ${words(3_000)}\nNever push.\nKeep it.\n${words(3_000)} end`)]);
		const [first, ...rules] = record.split("\n");
		expect(first).toMatch(/^user: "begin .* \[…\] .* end"$/);
		expect(rules).toEqual(['rule: "Never push."', 'rule: "Keep it."']);
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
