import stripJsonComments from "strip-json-comments";

export type ParsedJson =
	| { readonly ok: true; readonly value: unknown }
	| { readonly ok: false; readonly line: number; readonly column: number; readonly reason: string };

/**
 * Reads JSON with comments, trailing commas and a byte order mark; a text without any value is an empty object.
 * Refuses other text with the place of the first fault, line and column counted from 1.
 */
export function parseJsonc(source: string): ParsedJson {
	const text = stripJsonComments(source.replace(/^\uFEFF/, ""), { trailingCommas: true });
	if (/^[\t\n\r ]*$/.test(text)) return { ok: true, value: {} };
	try {
		return { ok: true, value: JSON.parse(text) };
	} catch {
		// The engine's message names a place for some faults only, and differs from engine to engine.
		const offset = findFault(text);
		return { ok: false, ...placeOf(text, offset), reason: reasonAt(text, offset) };
	}
}

type Expected = "value" | "first item" | "name" | "first name" | "colon" | "comma" | "end";

const spaces = /[\t\n\r ]*/y;
const lexemes =
	/[{}[\],:]|"[ !#-[\]-\uffff]*(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[ !#-[\]-\uffff]*)*"|-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** Offset of the first lexeme that no JSON text could have there; the length of the text if only the rest is missing. */
function findFault(text: string): number {
	const open: string[] = [];
	let expected: Expected | undefined = "value";
	let start = 0;
	let end = 0;
	while (expected !== undefined) {
		spaces.lastIndex = end;
		start = end + (spaces.exec(text)?.[0].length ?? 0);
		lexemes.lastIndex = start;
		const lexeme = lexemes.exec(text)?.[0];
		if (lexeme === undefined) return start;
		end = start + lexeme.length;
		expected = follow(expected, lexeme, open);
	}
	return start;
}

/** What may come after the lexeme, or undefined when the lexeme itself may not; `open` holds the brackets around it. */
function follow(expected: Expected, lexeme: string, open: string[]): Expected | undefined {
	switch (expected) {
		case "end":
			return undefined;
		case "colon":
			return lexeme === ":" ? "value" : undefined;
		case "name":
		case "first name":
			if (lexeme.startsWith('"')) return "colon";
			return expected === "first name" ? close(lexeme, open) : undefined;
		case "comma":
			if (lexeme !== ",") return close(lexeme, open);
			return open.at(-1) === "{" ? "name" : "value";
		case "value":
		case "first item":
			return followValue(expected, lexeme, open);
	}
}

function followValue(expected: Expected, lexeme: string, open: string[]): Expected | undefined {
	if (lexeme === "{" || lexeme === "[") {
		open.push(lexeme);
		return lexeme === "{" ? "first name" : "first item";
	}
	if (lexeme === "]" && expected === "first item") return close(lexeme, open);
	if (lexeme.length === 1 && "}],:".includes(lexeme)) return undefined;
	return open.length > 0 ? "comma" : "end";
}

function close(lexeme: string, open: string[]): Expected | undefined {
	if (lexeme !== (open.at(-1) === "{" ? "}" : "]")) return undefined;
	open.pop();
	return open.length > 0 ? "comma" : "end";
}

function placeOf(text: string, offset: number): { line: number; column: number } {
	const lines = text.slice(0, offset).split(/\r\n|\r|\n/);
	return { line: lines.length, column: (lines.at(-1) ?? "").length + 1 };
}

function reasonAt(text: string, offset: number): string {
	if (offset >= text.length) return "the text ends too early";
	if (text[offset] === '"' && !startsWithString(text, offset)) return "a string is not closed or holds a bad escape";
	return `unexpected ${JSON.stringify(String.fromCodePoint(text.codePointAt(offset) ?? 0))}`;
}

function startsWithString(text: string, offset: number): boolean {
	lexemes.lastIndex = offset;
	return lexemes.test(text);
}
