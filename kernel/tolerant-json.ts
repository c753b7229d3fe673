/** What a damaged JSON text still holds. */
export interface Salvage {
	/**
	 * The outermost values in order. A member that is cut off or unreadable is left out of its record, a list item
	 * that is cut off is undefined.
	 */
	readonly values: readonly unknown[];
	/** The name of the member read last, "" if there was none. */
	readonly lastKey: string;
	/** True if the text stops inside a string, a list or a record. */
	readonly isCut: boolean;
}

/**
 * Reads JSON as models write it: fences and prose around it, trailing commas, raw newlines, invalid backslashes, single
 * or unescaped quotes, bare names, missing or surplus brackets, a cut end. Linear in the length; never throws. Among
 * unquoted values only refs such as m12 count; `isKnownName` tells member names from quoted words inside a string.
 */
export function salvageJson(text: string, isKnownName: (name: string) => boolean): Salvage {
	const reader = new Reader(text, isKnownName);
	const values = reader.readItems(0, false);
	return { values, lastKey: reader.lastKey, isCut: reader.isCut };
}

/** Deeper brackets are skipped as noise, so that no text can exhaust the stack. */
const DEEPEST = 16;

const ESCAPES = new Map([
	['"', '"'],
	["\\", "\\"],
	["/", "/"],
	["b", "\b"],
	["f", "\f"],
	["n", "\n"],
	["r", "\r"],
	["t", "\t"],
]);

interface MemberName {
	readonly name: string;
	readonly isKnown: boolean;
	readonly isQuoted: boolean;
	/** Where the value begins. */
	readonly end: number;
}

class Reader {
	lastKey = "";
	isCut = false;
	private readonly text: string;
	private readonly isKnownName: (name: string) => boolean;
	/** End of the text without blanks and a closing fence. */
	private readonly end: number;
	private at = 0;
	private readonly memberName = /(?:"([^"\\\n]{1,60})"|'([^'\\\n]{1,60})'|([A-Za-z_]\w{0,60}))\s*:/y;
	private readonly bareRef = /[A-Za-z]\d{1,15}(?=\s*[,}\]])/y;
	private readonly blanks = /\s*/y;
	private readonly punctuation = /[\s,{}[\]]*/y;
	private readonly noise = /[^\s,{}[\]]+|./sy;

	constructor(text: string, isKnownName: (name: string) => boolean) {
		this.text = text;
		this.isKnownName = isKnownName;
		const trimmed = text.trimEnd();
		this.end = trimmed.endsWith("```") ? trimmed.slice(0, -3).trimEnd().length : trimmed.length;
	}

	/** Reads up to the closing bracket; at depth 0, where there is none, up to the end of the text. */
	readItems(depth: number, isMember: boolean): unknown[] {
		const items: unknown[] = [];
		while (this.at < this.end) {
			const char = this.text[this.at];
			if (char === "]" && depth > 0) {
				this.at += 1;
				return items;
			}
			if (char === "}" && isMember) return items;
			this.readItem(items, depth);
		}
		this.isCut ||= depth > 0;
		return items;
	}

	private readItem(items: unknown[], depth: number): void {
		const char = this.text[this.at];
		if (depth < DEEPEST && char === "{") {
			this.at += 1;
			items.push(this.readRecord(depth + 1));
		} else if (depth < DEEPEST && char === "[") {
			this.at += 1;
			items.push(this.readItems(depth + 1, false));
		} else if (isQuote(char)) this.readQuotedItem(items, depth);
		else this.skipNoise();
	}

	/** A known name with a colon starts a record whose brace is missing; outside brackets any other quote is prose. */
	private readQuotedItem(items: unknown[], depth: number): void {
		if (depth < DEEPEST && this.nameAt(this.at)?.isKnown) items.push(this.readRecord(depth + 1));
		else if (depth > 0) items.push(this.readString(true));
		else this.skipNoise();
	}

	private readRecord(depth: number): Record<string, unknown> {
		const record: Record<string, unknown> = Object.create(null);
		let isEmpty = true;
		while (this.at < this.end) {
			const char = this.text[this.at];
			if (char === "}") {
				this.at += 1;
				return record;
			}
			if (char === "]" || (char === "{" && !isEmpty)) return record;
			const name = this.nameAt(this.at);
			if (name === undefined) this.skipNoise();
			else if (name.name in record) return record;
			else {
				isEmpty = false;
				this.readMember(record, name, depth);
			}
		}
		this.isCut = true;
		return record;
	}

	private readMember(record: Record<string, unknown>, { name, end }: MemberName, depth: number): void {
		this.lastKey = name;
		this.at = end;
		this.take(this.blanks);
		const value = this.readValue(depth);
		if (value !== undefined) record[name] = value;
	}

	private readValue(depth: number): unknown {
		const char = this.text[this.at];
		if (depth < DEEPEST && char === "{") {
			this.at += 1;
			return this.readRecord(depth + 1);
		}
		if (depth < DEEPEST && char === "[") {
			this.at += 1;
			return this.readItems(depth + 1, true);
		}
		return isQuote(char) ? this.readString(false) : this.take(this.bareRef) || undefined;
	}

	/** The text between two quotes, undefined if the end of the text comes first. */
	private readString(isItem: boolean): string | undefined {
		const quote = this.text[this.at];
		const parts: string[] = [];
		this.at += 1;
		let from = this.at;
		let hasInnerQuotes = false;
		while (this.at < this.end) {
			const char = this.text[this.at];
			if (char === "\\") {
				parts.push(this.text.slice(from, this.at), this.readEscape(quote));
				from = this.at;
			} else if (char !== quote) this.at += 1;
			else if (this.endsString(this.at + 1, isItem, hasInnerQuotes)) {
				parts.push(this.text.slice(from, this.at));
				this.at += 1;
				return parts.join("");
			} else {
				hasInnerQuotes = true;
				this.at += 1;
			}
		}
		this.isCut = true;
		return undefined;
	}

	/** A backslash that escapes nothing stands for itself. */
	private readEscape(quote: string | undefined): string {
		const next = this.text[this.at + 1] ?? "";
		const hex = this.text.slice(this.at + 2, this.at + 6);
		if (next === "u" && /^[0-9a-fA-F]{4}$/.test(hex)) {
			this.at += 6;
			return String.fromCharCode(Number.parseInt(hex, 16));
		}
		const plain = next === quote ? quote : ESCAPES.get(next);
		this.at += plain === undefined ? 1 : 2;
		return plain ?? "\\";
	}

	/**
	 * Whether a quote closes its string: only punctuation may stand between it and the next member name or the end.
	 * Once a quote turned out to be inside the string, names we do not know no longer count, since the string may quote JSON.
	 */
	private endsString(after: number, isItem: boolean, hasInnerQuotes: boolean): boolean {
		const between = this.peek(this.punctuation, after);
		const at = after + between.length;
		const comma = between.includes(",");
		const closer = /[}\]]/.test(between);
		if (at >= this.end) return true;
		if (!hasInnerQuotes && (closer || (comma && (isItem || this.isCutName(at))))) return true;
		const name = this.nameAt(at);
		if (name === undefined) return false;
		if (hasInnerQuotes) return name.isKnown && (name.isQuoted || closer);
		return comma || (name.isKnown && name.isQuoted);
	}

	private nameAt(at: number): MemberName | undefined {
		this.memberName.lastIndex = at;
		const match = this.memberName.exec(this.text);
		if (match === null) return undefined;
		const quoted = match[1] ?? match[2];
		const name = quoted ?? match[3] ?? "";
		const isQuoted = quoted !== undefined;
		return { name, isKnown: this.isKnownName(name), isQuoted, end: this.memberName.lastIndex };
	}

	/** Whether nothing follows but the beginning of a quoted name. */
	private isCutName(at: number): boolean {
		return this.end - at <= 62 && /^["'][^"'\\\n]*["']?$/.test(this.text.slice(at, this.end));
	}

	private skipNoise(): void {
		this.take(this.noise);
	}

	private take(token: RegExp): string {
		const taken = this.peek(token, this.at);
		this.at += taken.length;
		return taken;
	}

	private peek(token: RegExp, at: number): string {
		token.lastIndex = at;
		return token.exec(this.text)?.[0] ?? "";
	}
}

function isQuote(char: string | undefined): boolean {
	return char === '"' || char === "'";
}
