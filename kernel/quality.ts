import { isImage, isThinking, type Message, parts, textOf, toolCalls } from "./message.ts";
import { sentMessage } from "./sent.ts";
import type { Branch } from "./timeline.ts";
import type { Piece } from "./unit.ts";

/** What code can say of a summary beside what it stands for. */
export type Quality =
	/** Its width, less than the least, in characters of narrow scripts. */
	| { readonly kind: "tooShort"; readonly width: number }
	/** Not one word of the range is in it. */
	| { readonly kind: "filler" }
	/** The names that were most frequent in the range and are lost, where nearly all are. */
	| { readonly kind: "fine"; readonly lost: readonly string[] };

/** Shorter summaries say nothing. */
export const leastWidth = 50;

/** The names that count: as many of the most frequent ones, if each occurs that often. A range with fewer has none. */
const countedNames = { most: 50, least: 5, occurrences: 2 };

/** A summary that keeps this share of the names is not warned about; else so many of the lost ones are named. */
const keptShare = 0.1;
const namedLost = 5;

/** Of a large range about so much is read for names, in messages evenly spread over it. */
const readChars = 300_000;

/** Judges a summary beside the pieces it is to replace: their texts, and the originals under their blocks. */
export function judgeSummary(summary: string, branch: Branch, kept: readonly Piece[]): Quality {
	const width = widthOf(summary.trim());
	if (width < leastWidth) return { kind: "tooShort", width };
	const shown = kept.flatMap((piece) => shownTexts(branch, piece));
	if (isFiller(summary, branch, kept, shown)) return { kind: "filler" };
	return { kind: "fine", lost: lostNames(summary, shown) };
}

/** What a summary of a piece may take its words from: all that the model sees of it but the frames made by code. */
function shownTexts(branch: Branch, piece: Piece): readonly string[] {
	if (piece.kind === "block") return [`${piece.block.topic ?? ""}\n${piece.block.summary}`];
	return piece.records.flatMap((record) => sentMessage(branch, record) ?? []).map(searchable);
}

function searchable(message: Message): string {
	const thoughts = parts(message).flatMap((part) => (isThinking(part) ? part.thinking : []));
	const calls = toolCalls(message).flatMap((call) => [call.name, unescaped(call.arguments)]);
	return [textOf(message), ...thoughts, ...calls].join("\n");
}

/** Arguments as text, without the letters of escapes such as `\\n`, which would stick to words. */
function unescaped(args: unknown): string {
	return (JSON.stringify(args) ?? "").replace(/\\(?:u[\da-f]{4}|.)/g, " ");
}

/**
 * True if a summary has not one word of its range. It may be about an image, or a translation into another script: of those
 * code cannot tell.
 */
function isFiller(summary: string, branch: Branch, kept: readonly Piece[], shown: readonly string[]): boolean {
	const words = new Set(wordsOf(summary));
	const isForeign = foreignLetter.test(summary);
	let knowsWords = false;
	let hasForeign = false;
	const isFamiliar = (text: string): boolean => {
		for (const word of wordsOf(text)) {
			knowsWords = true;
			if (words.has(word)) return true;
		}
		hasForeign ||= foreignLetter.test(text);
		return false;
	};
	if (shown.some(isFamiliar)) return false;
	for (const message of originals(branch, kept)) {
		if (parts(message).some(isImage) || isFamiliar(searchable(message))) return false;
	}
	return knowsWords && isForeign === hasForeign;
}

/** The messages as they are sent, those under blocks included, where one that is taken back since counts as it was. */
function* originals(branch: Branch, kept: readonly Piece[]): Iterable<Message> {
	for (const piece of kept) {
		const isUnit = piece.kind === "unit";
		const records = isUnit ? piece.records : piece.block.spans.flatMap(({ from, to }) => branch.messages(from, to));
		for (const record of records) {
			const message = sentMessage(branch, record) ?? (isUnit ? undefined : record.message);
			if (message !== undefined) yield message;
		}
	}
}

/** A letter of another script than Latin: Greek to Georgian and Khmer, kana, Han, Hangul. */
const foreignLetter = /[\u0370-\u1dff\u2c80-\u2dff\u3040-\ud7af]/;

/** Scripts whose characters stand for words or syllables: kana, Han, Hangul. One says as much as two letters. */
const wideCharacter = /[\u3040-\u9fff\uac00-\ud7af\u{20000}-\u{3ffff}]/u;

function widthOf(text: string): number {
	let width = 0;
	for (const char of text) width += wideCharacter.test(char) ? 2 : 1;
	return width;
}

/** Words that any text has. */
const commonWords: ReadonlySet<string> = new Set(
	"the and for with that this from was were are has have had not but all any its our you can will been into than then when what which who how out now".split(
		" ",
	),
);

/** Words of three letters and more in lower case, but those that any text has; of wide scripts each pair of characters. */
function* wordsOf(text: string): Iterable<string> {
	for (const [word] of text.toLowerCase().matchAll(/[\p{L}\p{N}_]+/gu)) {
		if (wideCharacter.test(word)) {
			const chars = [...word];
			for (let at = 0; at + 1 < chars.length; at++) yield `${chars[at]}${chars[at + 1]}`;
		} else if (word.length >= 3 && !commonWords.has(word)) yield word;
	}
}

/** The most frequent names of texts that a summary left out, if it kept fewer than a tenth of them. */
function lostNames(summary: string, texts: readonly string[]): readonly string[] {
	const counts = new Map<string, number>();
	const wholeChars = texts.reduce((sum, text) => sum + text.length, 0);
	// Odd, so that calls and results, which alternate, both have their turn.
	const step = Math.floor(wholeChars / readChars) | 1;
	for (const text of texts.filter((_, index) => index % step === 0)) {
		for (const [name] of text.slice(0, readChars).matchAll(namePattern)) {
			counts.set(name, (counts.get(name) ?? 0) + 1);
		}
	}
	const names = [...counts]
		.filter(([name, count]) => count >= countedNames.occurrences && isName(name))
		.toSorted((a, b) => b[1] - a[1])
		.slice(0, countedNames.most)
		.map(([name]) => name);
	const lost = names.filter((name) => !summary.includes(name));
	const kept = names.length - lost.length;
	return names.length < countedNames.least || kept >= names.length * keptShare ? [] : lost.slice(0, namedLost);
}

const namePattern = /[A-Za-z_$][\w$./-]+[\w$]/g;

/** What is longer is no name, but a key or an encoding. */
const longestName = 80;

/** Paths, and identifiers that are no plain words: with a hump, an underscore, a dot or a slash inside. */
function isName(word: string): boolean {
	return word.length <= longestName && /[a-z][A-Z]|\w[_$/.]\w/.test(word);
}
