/** A ref as it was read: a message or block number, and the entry it was qualified with if it is a foreign one. */
export interface Ref {
	readonly kind: "message" | "block";
	readonly number: number;
	/** `<entry id>` or `<session id>/<entry id>` after the `@` of a foreign ref. */
	readonly at?: string;
}

const refPattern = /^([mb])(\d{1,12})(?:@(\S+))?$/i;
const rangePattern = /^([mb]\d{1,12}(?:@\S+?)?)\s*(?:-|–|—|\.\.|:|to)\s*([mb]\d{1,12}(?:@\S+)?)$/i;

/** Reads a ref leniently (`m12`, ` M0012 `, `b03`); undefined if the text is none. Numbers count from 1. */
export function parseRef(text: string): Ref | undefined {
	const match = refPattern.exec(unwrapTag(text.trim()));
	const [, letter, digits, at] = match ?? [];
	if (letter === undefined || digits === undefined || Number(digits) < 1) return undefined;
	const kind = letter.toLowerCase() === "m" ? "message" : "block";
	return at === undefined ? { kind, number: Number(digits) } : { kind, number: Number(digits), at };
}

/** Two foreign refs with session and entry ids are far shorter; the pattern is not made for more. */
const longestRange = 400;

/** Reads `m00005-m00031`; a single ref is a range of one. */
export function parseRefRange(text: string): { readonly from: Ref; readonly to: Ref } | undefined {
	const [, first, last] = (text.length > longestRange ? null : rangePattern.exec(text.trim())) ?? [];
	const from = parseRef(first ?? text);
	const to = last === undefined ? from : parseRef(last);
	return from && to ? { from, to } : undefined;
}

/** The canonical message ref of an ordinal: five digits at least. */
export function messageRef(ordinal: number): string {
	return `m${String(ordinal).padStart(5, "0")}`;
}

export function blockRef(number: number): string {
	return `b${number}`;
}

/** `m00005-m00031`, or one ref if both ends are the same. */
export function rangeRef(from: number, to: number): string {
	return from === to ? messageRef(from) : `${messageRef(from)}-${messageRef(to)}`;
}

export function formatRef(ref: Ref): string {
	const plain = ref.kind === "message" ? messageRef(ref.number) : blockRef(ref.number);
	return ref.at === undefined ? plain : `${plain}@${ref.at}`;
}

/** The tag that shows the model which message it reads. */
export function tag(ordinal: number): string {
	return `<acp>${messageRef(ordinal)}</acp>`;
}

const lookalikePattern = /<(?=acp>\s*[mb]\d+\s*<\/acp>|\/?acp-block\b)/gi;

/** The text with look-alikes of our tags and blocks made visibly different: a blank after the opening bracket. */
export function defuse(text: string): string {
	return text.replace(lookalikePattern, "< ");
}

function unwrapTag(text: string): string {
	return /^<acp>\s*(.*?)\s*<\/acp>$/i.exec(text)?.[1] ?? text;
}
