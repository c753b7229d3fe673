import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseJsonc } from "../../../src/config/jsonc.ts";

describe("reading", () => {
	test("allows comments, trailing commas and a byte order mark", () => {
		const text = '\uFEFF{\n// one\n"a": [1, 2,], /* two */ "url": "http://x", // three\n}';
		expect(parseJsonc(text)).toEqual({ ok: true, value: { a: [1, 2], url: "http://x" } });
	});

	test.each(["", "  \r\n\t", "// nothing yet", "\uFEFF/* nothing */\n"])("takes %j for an empty object", (text) => {
		expect(parseJsonc(text)).toEqual({ ok: true, value: {} });
	});

	test("gives back every JSON value", () => {
		fc.assert(
			fc.property(fc.json(), (text) => {
				expect(parseJsonc(text)).toEqual({ ok: true, value: JSON.parse(text) });
			}),
		);
	});
});

describe("a refusal names the first fault", () => {
	test.each([
		['{"a": }', 1, 7, 'unexpected "}"'],
		["{", 1, 2, "the text ends too early"],
		['{"a": 1', 1, 8, "the text ends too early"],
		['{"a": [1, 2}', 1, 12, 'unexpected "}"'],
		['{\n\t"a": 1\n\t"b": 2\n}', 3, 2, 'unexpected "\\""'],
		['{\r\n  "a": 1,\r\n  b: 2\r\n}', 3, 3, 'unexpected "b"'],
		["{a: 1}", 1, 2, 'unexpected "a"'],
		["{'a': 1}", 1, 2, 'unexpected "\'"'],
		['{"a" 1}', 1, 6, 'unexpected "1"'],
		['{"a": tru}', 1, 7, 'unexpected "t"'],
		['{"a": 01}', 1, 8, 'unexpected "1"'],
		['{"a": 1}}', 1, 9, 'unexpected "}"'],
		['{"a": "x\n"}', 1, 7, "a string is not closed or holds a bad escape"],
		['{"a": "\\x"}', 1, 7, "a string is not closed or holds a bad escape"],
		['{"a": 1} /* open', 1, 10, 'unexpected "/"'],
		['// ok\n{"a": /* ok */ 🙂}', 2, 16, 'unexpected "🙂"'],
		['\uFEFF{"a": x}', 1, 7, 'unexpected "x"'],
		["[1, , 2]", 1, 5, 'unexpected ","'],
		["]", 1, 1, 'unexpected "]"'],
		["[[], {}, null 5]", 1, 15, 'unexpected "5"'],
		['{"a": 1, 5: 2}', 1, 10, 'unexpected "5"'],
	])("%j", (text, line, column, reason) => {
		expect(parseJsonc(text)).toEqual({ ok: false, line, column, reason });
	});

	test("for a text nested deeper than the stack is high", () => {
		const depth = 200_000;
		expect(parseJsonc("[".repeat(depth))).toEqual({
			ok: false,
			line: 1,
			column: depth + 1,
			reason: "the text ends too early",
		});
	});

	test("at the end of whatever is a good beginning, and not after the place where a character was damaged", () => {
		const document = fc.json().filter((text) => text.length > 2 && /^[{["]/.test(text));
		fc.assert(
			fc.property(document, fc.nat(), (text, seed) => {
				const cutAt = 1 + (seed % (text.length - 1));
				const cut = parseJsonc(text.slice(0, cutAt));
				if (cut.ok) return;
				expect(cut.column).toBeLessThanOrEqual(cutAt + 1);
				const damaged = parseJsonc(`${text.slice(0, cutAt)}\u0001${text.slice(cutAt)}`);
				expect(damaged.ok).toBe(false);
				expect(damaged.ok || damaged.column).toBeLessThanOrEqual(cutAt + 1);
			}),
		);
	});
});
