import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type RangeRequest, readCompressArguments } from "../../kernel/arguments.ts";

const first: RangeRequest = { startId: "m00001", endId: "m00005", summary: "Found the cause of the failing login." };
const second: RangeRequest = { startId: "m00006", endId: "m00009", summary: "Wrote the fix.", topic: "auth bug" };

/** The ranges of arguments that must be readable as a whole. */
function rangesOf(args: unknown): RangeRequest[] {
	const result = readCompressArguments(args);
	expect(result).toMatchObject({ lost: [] });
	return "ranges" in result ? result.ranges : [];
}

function problemOf(args: unknown): string {
	const result = readCompressArguments(args);
	return "problem" in result ? result.problem : expect.unreachable(`read ${JSON.stringify(result)}`);
}

/** The ranges of a `content` text that must be readable as a whole. */
function salvaged(content: string): RangeRequest[] {
	return rangesOf({ content });
}

describe("the declared shape", () => {
	it("gives refs, summary and topic as they were written", () => {
		expect(rangesOf({ content: [first, second] })).toEqual([first, second]);
	});

	it("leaves out a topic that is missing, null, blank or no text", () => {
		for (const topic of [undefined, null, " ", 7])
			expect(rangesOf({ content: [{ ...first, topic }] })).toEqual([first]);
	});

	it("leaves refs, odd names and empty summaries to whoever checks them", () => {
		const odd = { startId: " M0001 ", endId: "nonsense", summary: "" };
		expect(rangesOf({ content: [odd], reason: "because" })).toEqual([odd]);
	});

	it("gives every summary byte for byte, as an object and in every layer of JSON text", () => {
		fc.assert(
			fc.property(fc.array(rangeArbitrary(), { minLength: 1 }), fc.nat(2), (ranges, layers) => {
				let content: unknown = ranges;
				for (let layer = 0; layer < layers; layer += 1) content = JSON.stringify(content);
				expect(rangesOf({ content })).toEqual(ranges);
				expect(rangesOf(JSON.stringify({ content }))).toEqual(ranges);
			}),
		);
	});
});

describe("deviations that mean one thing", () => {
	it.each([
		["one object instead of a list", { content: first }],
		["the list as JSON text", { content: JSON.stringify([first]) }],
		["one object as JSON text", { content: JSON.stringify(first) }],
		["a list of JSON texts", { content: [JSON.stringify(first)] }],
		["a list in a list", { content: [[first]] }],
		["the fields at top level", first],
		["the fields at top level beside an empty list", { ...first, content: [] }],
		["the list at top level", [first]],
		["all arguments as JSON text", JSON.stringify({ content: [first] })],
	])("reads %s", (_, args) => {
		expect(rangesOf(args)).toEqual([first]);
	});

	it.each([
		["start", "end"],
		["startRef", "endRef"],
		["start_id", "end_id"],
		["start_ref", "end_ref"],
		["StartID", "EndID"],
	])("takes %s and %s for the refs", (start, end) => {
		expect(rangesOf({ content: [{ [start]: "m1", [end]: "m5", summary: "x" }] })).toEqual([
			{ startId: "m1", endId: "m5", summary: "x" },
		]);
	});

	it("prefers the declared name to its variants, whatever their order", () => {
		const refs = { start: "m2", startId: "m1", startRef: "m3", endId: "m5", end: "m6" };
		expect(rangesOf({ content: [{ ...refs, summary: "x" }] })).toEqual([{ startId: "m1", endId: "m5", summary: "x" }]);
	});

	it("takes plain text in content for the summary if the refs stand beside it", () => {
		const args = { startId: "m1", endId: "m5", content: "Did [all] of {it}." };
		expect(rangesOf(args)).toEqual([{ startId: "m1", endId: "m5", summary: "Did [all] of {it}." }]);
		expect(rangesOf({ startId: "m1", endId: "m5", content: JSON.stringify([second]) })).toEqual([second]);
	});
});

describe("the line form", () => {
	const summary = '## Summary with "quotes" | pipes \\ ok\n\n{"not": "json"}\n';

	it.each(["-", "--", "->", "–", "—", "‑", "−", "~", "→", "..", "…", " - ", " to "])(
		"takes %s between the refs",
		(dash) => {
			expect(rangesOf({ content: [`m00150${dash}m00220 login bug\n${summary}`] })).toEqual([
				{ startId: "m00150", endId: "m00220", summary, topic: "login bug" },
			]);
		},
	);

	it("works for several ranges in a list, for one outside a list, and for blocks", () => {
		expect(rangesOf({ content: ["m1-m5\nDid a.", "b1–b3: all of it\r\nDid b."] })).toEqual([
			{ startId: "m1", endId: "m5", summary: "Did a." },
			{ startId: "b1", endId: "b3", summary: "Did b.", topic: "all of it" },
		]);
		expect(rangesOf({ content: "\n m1-m5 | setup\nDid a.\nm2-m3 in detail" })).toEqual([
			{ startId: "m1", endId: "m5", summary: "Did a.\nm2-m3 in detail", topic: "setup" },
		]);
	});

	it("is read from a damaged list too", () => {
		expect(salvaged('["m1–m5 setup\nused "vite" here", ]')).toEqual([
			{ startId: "m1", endId: "m5", summary: 'used "vite" here', topic: "setup" },
		]);
		expect(salvaged('["m1–m5\nDid a.", "m6–m9\nDid b.",]')).toHaveLength(2);
	});

	it.each(["m00150 login bug\nDid it.", "m1 m5\nDid it.", "from m1-m5\nDid it.", "m1-m5x\nDid it."])(
		"does not see a range in %j",
		(text) => {
			expect(problemOf({ content: text })).toContain("holds no range");
		},
	);
});

describe("damaged JSON text", () => {
	it.each([
		["a code fence", `\`\`\`json\n${JSON.stringify([first, second], null, 2)}\n\`\`\``],
		["a fence around invalid JSON", `\`\`\`\n[${JSON.stringify(first)},${JSON.stringify(second)},]\n\`\`\`\n`],
		["prose around it", `Here's the "list": ${JSON.stringify([first, second])} It's done, isn't it?`],
		["trailing commas", JSON.stringify([first, second]).replaceAll("}", ",}").replace("]", ",]")],
		["several objects with commas", `${JSON.stringify(first)},${JSON.stringify(second)}`],
		["several objects in lines", `${JSON.stringify(first)}\n${JSON.stringify(second)}`],
		["several objects side by side", `${JSON.stringify(first)}${JSON.stringify(second)}`],
		["no closing bracket", JSON.stringify([first, second]).slice(0, -1)],
		["no closing brace", JSON.stringify([first, second]).replace("}]", "]")],
		["no closing brackets at all", JSON.stringify([first, second]).slice(0, -2)],
		["no brace between the entries", JSON.stringify([first, second]).replace("},{", ",{")],
		["no braces between the entries", JSON.stringify([first, second]).replace("},{", ",").replace("]", ",]")],
		["no braces", JSON.stringify([first, second]).replaceAll(/[{}]/g, "")],
		["no brackets", JSON.stringify([first, second]).replaceAll(/[{}[\]]/g, "")],
		[
			"surplus braces",
			JSON.stringify({ content: [first, second] })
				.replaceAll("}", "}}")
				.replace("{", "{{"),
		],
		["wrong brackets", JSON.stringify([first, second]).replace("},{", "],{")],
		["an unclosed list in a record", JSON.stringify({ content: [first, second] }).replace("]", "")],
		["no comma between members", JSON.stringify([first, second]).replaceAll('","', '" "')],
		["single quotes", JSON.stringify([first, second]).replaceAll('"', "'")],
		["bare names", JSON.stringify([first, second]).replaceAll(/"(\w+)":/g, "$1: ")],
		["bare refs", JSON.stringify([first, second]).replaceAll(/"(m\d+)"/g, "$1")],
		["a byte order mark", `\uFEFF${JSON.stringify([first, second])}`],
		["a marker of the model after it", `${JSON.stringify([first, second])}</parameter>`],
		[
			"members nobody asked for",
			JSON.stringify([
				{ tags: ["a", "b"], ...first, n: [{ x: 1 }, null] },
				{ ...second, ok: true },
			]).replace("}]", ",}]"),
		],
	])("is read in spite of %s", (_, content) => {
		expect(salvaged(content)).toEqual([first, second]);
	});

	it("keeps raw newlines, tabs and backslashes that escape nothing, in one string too", () => {
		const content = '[{"startId":"m1","endId":"m5","summary":"line1\npath C:\\dir \\_x\t\\u12 \\\n"}]';
		expect(salvaged(content)).toEqual([
			{ startId: "m1", endId: "m5", summary: "line1\npath C:\\dir \\_x\t\\u12 \\\n" },
		]);
	});

	it("decodes valid escapes beside invalid ones", () => {
		const content = `[{'startId':'m1','endId':'m5','summary':'\\"a\\" \\'b\\' \\\\ \\/ \\b\\f\\n\\r\\t \\u00e9 \\ud83d\\ude00 \\q'}]`;
		expect(salvaged(content)[0]?.summary).toBe("\"a\" 'b' \\ / \b\f\n\r\t é 😀 \\q");
	});

	it.each([
		'He said "hi", then "bye" and left',
		'set {"a": "b", "c": ["d", "e"]} in it',
		'the "main" topic: auth, "x": 3',
		'code {"a": "b"}, and "more"',
		'ends in a "quote"',
		'"all of it"',
		'a [link] to "b" } and [{"c": 1}] too',
	])("keeps unescaped quotes inside a summary: %s", (summary) => {
		const entry = (ref: string, topic: string) =>
			`{"startId":"${ref}","endId":"${ref}","summary":"${summary}"${topic}}`;
		const range = { startId: "m1", endId: "m1", summary };
		expect(salvaged(`[${entry("m1", "")}]`)).toEqual([range]);
		expect(salvaged(`[${entry("m1", ',"topic":"t"')},${entry("m2", "")},]`)).toEqual([
			{ ...range, topic: "t" },
			{ startId: "m2", endId: "m2", summary },
		]);
	});

	it("keeps unescaped quotes between bare names", () => {
		const content = '[{startId: m1, endId: m5, summary: "the "main" one"}, {startId: m6, endId: m9, summary: "b"},]';
		expect(salvaged(content)).toEqual([
			{ startId: "m1", endId: "m5", summary: 'the "main" one' },
			{ startId: "m6", endId: "m9", summary: "b" },
		]);
	});

	it("keeps apostrophes inside single quotes", () => {
		const content = "[{'startId': 'm1', 'endId': 'm5', 'summary': 'it's done, the users' way', 'topic': 'x'}]";
		expect(salvaged(content)).toEqual([
			{ startId: "m1", endId: "m5", summary: "it's done, the users' way", topic: "x" },
		]);
	});

	it("survives several kinds of damage at once", () => {
		const content =
			'Sure!\n```json\n[{startId: \'m1\', "end_id": "m5", "summary": "line1\nin C:\\dir the "x" \\_y",},\n' +
			'{"start":"m6","end":"m9","summary":"b","topic":"t",\n]\n```';
		expect(salvaged(content)).toEqual([
			{ startId: "m1", endId: "m5", summary: 'line1\nin C:\\dir the "x" \\_y' },
			{ startId: "m6", endId: "m9", summary: "b", topic: "t" },
		]);
	});

	it("gives every properly escaped summary byte for byte, whatever the damage around it", () => {
		const damages: ((json: string) => string)[] = [
			(json) => `\`\`\`json\n${json}\n\`\`\``,
			(json) => `${json.slice(0, -1)},]`,
			(json) => json.slice(0, -1),
			(json) => `${json.slice(0, -2)}]`,
			(json) => json.slice(1, -1),
			(json) => `{"content":${json}`,
			(json) => `I fold: ${json} That's it.`,
			(json) => json.replace(/(?<!\\)((?:\\\\)*)\\n/g, "$1\n"),
		];
		fc.assert(
			fc.property(fc.array(rangeArbitrary(), { minLength: 1 }), fc.constantFrom(...damages), (ranges, damage) => {
				expect(salvaged(damage(JSON.stringify(ranges)))).toEqual(ranges);
			}),
		);
	});
});

describe("a damaged tail", () => {
	const whole = JSON.stringify([first, second]);

	it("costs the entry that is cut off, and names it", () => {
		const content = whole.slice(0, whole.indexOf("fix"));
		expect(readCompressArguments({ content })).toEqual({
			ranges: [first],
			lost: [
				`entry 2 (m00006 to m00009) is cut off after "summary" (character ${content.length}) and has no text in "summary"`,
			],
		});
	});

	it("costs only the topic if everything else is complete", () => {
		expect(salvaged(whole.slice(0, whole.indexOf(" bug")))).toEqual([first, withoutTopic(second)]);
	});

	it("never changes or shortens a summary, wherever the text is cut", () => {
		fc.assert(
			fc.property(fc.array(rangeArbitrary(), { minLength: 1 }), fc.nat(), (written, cut) => {
				const text = JSON.stringify(written);
				const result = readCompressArguments({ content: text.slice(0, cut % text.length) });
				const ranges = "ranges" in result ? result.ranges : [];
				const complete = written.slice(0, ranges.length);
				expect(ranges.map(withoutTopic)).toEqual(complete.map(withoutTopic));
			}),
			{ numRuns: 2_000 },
		);
	});

	it("is named in the line form too", () => {
		const content = '["m1-m5\nDid a.", "m6-m9\nDid';
		expect(readCompressArguments({ content })).toEqual({
			ranges: [{ startId: "m1", endId: "m5", summary: "Did a." }],
			lost: ["entry 2 is cut off (character 27) and cannot be read"],
		});
	});

	it("is a problem with its position if no entry is complete", () => {
		expect(problemOf({ content: '[{"startId":"m1","endId":"m5","summary":"half' })).toContain(
			'entry 1 (m1 to m5) is cut off after "summary" (character 45)',
		);
		expect(problemOf('{"content": [')).toContain('entry 1 is cut off after "content" (character 13)');
	});
});

describe("what cannot be read", () => {
	it("is named entry by entry while the others are applied", () => {
		const content = [
			{ startId: "m1", summary: "x" },
			first,
			7,
			undefined,
			"I finished the work",
			{ ...second, summary: ["a"] },
		];
		expect(readCompressArguments({ content })).toEqual({
			ranges: [first],
			lost: [
				'entry 1 (m1) has no text in "endId"',
				"entry 3 is neither an object nor text",
				"entry 4 cannot be read",
				'entry 5 holds no range: "I finished the work"',
				'entry 6 (m00006 to m00009) has no text in "summary"',
			],
		});
	});

	it("names eight entries and counts the rest", () => {
		const result = readCompressArguments({ content: [first, ...Array(20).fill(null)] });
		expect(result).toMatchObject({ lost: { length: 9, 8: "12 more entries could not be read" } });
	});

	it.each([
		["an empty list", { content: [] }, "The list of ranges is empty"],
		["an empty list as text", { content: "[]" }, "The list of ranges is empty"],
		["prose", { content: "I finished the work" }, 'entry 1 holds no range: "I finished the work"'],
		["prose with brackets", { content: "I [finished] the {work}" }, 'holds no range: "I [finished] the {work}"'],
		["a number as text", { content: "42" }, 'holds no range: "42"'],
		["blank text", { content: " \n" }, "entry 1 holds no range: it is empty"],
		["no arguments", {}, '"content" is missing'],
		["unknown names only", { ranges: [first] }, '"content" is missing'],
		["null", null, '"content" is missing'],
		["a number", 7, '"content" is missing'],
		["an empty object", { content: [{}] }, 'entry 1 has no text in "startId", "endId", "summary"'],
		["an unquoted summary", { content: "[{startId: m1, endId: m5, summary: all done}]" }, 'no text in "summary"'],
	])("gives a problem for %s that says what and shows the shape", (_, args, what) => {
		const problem = problemOf(args);
		expect(problem).toContain(what);
		expect(problem).toContain("Nothing was folded.");
		expect(problem).toContain('"startId"');
		expect(problem).not.toContain("\n");
	});

	it("is quoted in a few characters", () => {
		expect(problemOf({ content: "word\n".repeat(100_000) }).length).toBeLessThan(300);
		expect(problemOf({ content: [{ startId: "m".repeat(100_000), endId: "m5" }] }).length).toBeLessThan(300);
	});
});

describe("whatever is thrown at it", () => {
	it("answers with ranges or a problem for any value", () => {
		fc.assert(
			fc.property(fc.anything({ withNullPrototype: true, withSparseArray: true, withBigInt: true }), (value) => {
				expectAnswer(readCompressArguments(value));
				expectAnswer(readCompressArguments({ content: value }));
				expectAnswer(
					readCompressArguments({ content: [{ startId: value, endId: value, summary: value, topic: value }] }),
				);
			}),
		);
	});

	it("answers with ranges or a problem for any mutation of a JSON text", () => {
		const edits = fc.array(
			fc.tuple(fc.nat(), fc.nat(12), fc.string({ unit: fc.constantFrom(..."{}[]\",:\\'` \nm1a") })),
		);
		fc.assert(
			fc.property(fc.array(rangeArbitrary()), edits, (ranges, changes) => {
				let content = JSON.stringify({ content: ranges });
				for (const [at, length, insert] of changes) {
					const from = at % (content.length + 1);
					content = content.slice(0, from) + insert + content.slice(from + length);
				}
				expectAnswer(readCompressArguments(content));
			}),
			{ numRuns: 1_000 },
		);
	});

	it("answers for deep nesting, as a value and as text", () => {
		let value: unknown = first;
		for (let depth = 0; depth < 100_000; depth += 1) value = depth % 2 === 0 ? [value] : { content: value };
		expect(problemOf({ content: value })).toContain("entry 1 is nested too deeply");
		for (const unit of ["[", "{", '{"content":', '[{"content":[', "]", '}"']) {
			expectAnswer(readCompressArguments(unit.repeat(100_000)));
		}
	});

	it("comes to an end on long texts of every kind of damage", () => {
		const sizeChars = 300_000;
		for (const unit of [
			"'",
			'"',
			'" ',
			'","',
			'"}',
			"\\",
			' "summary" ',
			'"summary":',
			"a ",
			"[",
			"{a:",
			"m1-",
			" ",
			'\\"]}, ',
		]) {
			for (const start of ["", '[{"summary":"a "b ', "["]) {
				expectAnswer(readCompressArguments(start + unit.repeat(sizeChars / unit.length)));
			}
		}
	});
});

function expectAnswer(result: ReturnType<typeof readCompressArguments>): void {
	if ("problem" in result) expect(result.problem.length).toBeLessThan(2_000);
	else expect(result.ranges.length).toBeGreaterThan(0);
}

function withoutTopic({ startId, endId, summary }: RangeRequest): RangeRequest {
	return { startId, endId, summary };
}

function rangeArbitrary(): fc.Arbitrary<RangeRequest> {
	const text = fc.oneof(
		fc.string(),
		fc.string({ unit: "binary" }),
		fc.string({ unit: fc.constantFrom(...'"\\\n{}[],: nu') }),
	);
	const ref = fc.nat(99_999).map((ordinal) => `m${String(ordinal).padStart(5, "0")}`);
	return fc
		.record({ startId: ref, endId: ref, summary: text })
		.chain((range) =>
			fc
				.option(text.filter((topic) => topic.trim() !== ""))
				.map((topic) => (topic === null ? range : { ...range, topic })),
		);
}
