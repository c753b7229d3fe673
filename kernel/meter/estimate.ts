import { imageSize } from "./image-size.ts";

/**
 * Estimated tokens of a text, a whole number; 0 for "" only. Weighs runs of characters by class. The weights are fitted to
 * the o200k vocabulary by least squares; the mean error per kind of text is within 10 % (test/kernel/estimate.test.ts).
 */
export function estimateTokens(text: string): number {
	const scan = new Scan(text);
	while (scan.at < text.length) scan.readRun();
	return text === "" ? 0 : Math.max(1, Math.round(scan.tokens));
}

/**
 * Tokens of an image: its pixels by 750, as Anthropic documents it, from 85 to 1,600; 1,600 if the header in the base64
 * text does not tell the size. The header decides, whatever `mimeType` says.
 */
export function estimateImageTokens(image: { readonly data?: string; readonly mimeType?: string }): number {
	const size = imageSize(image.data ?? "");
	if (size === undefined) return 1_600;
	return Math.min(1_600, Math.max(85, Math.ceil((size.widthPixels * size.heightPixels) / 750)));
}

/** A piece of a word: up to four letters, more, each letter beyond the eighth, each capital after the first. */
const shortPiece = 0.74;
const longPiece = 1.15;
const overlongLetter = 0.4;
const furtherCapital = 0.12;
/** A character of a hash, key or id, in one case and in both. */
const hexCharacter = 0.585;
const base64Character = 0.755;
const anyBlank = 0.01;
const blankRun = 0.77;
/** A blank belongs to the word after it, but not to a number. */
const blankBeforeDigit = 1.4;
/** A line end belongs to a mark before it, but not to a letter. */
const lineEnd = 1.29;
const markBeforeLetter = 0.38;
const markAlone = 1.1;
const markRun = 1.23;
const markInRun = 0.05;

/** Reads a text run by run and adds up tokens. */
class Scan {
	at = 0;
	tokens = 0;
	private readonly text: string;

	constructor(text: string) {
		this.text = text;
	}

	readRun(): void {
		const code = this.text.charCodeAt(this.at);
		if (code <= 32) this.readBlanks();
		else if (isLetter(code) || isDigit(code)) this.readWord();
		else if (code < 128) this.readMarks();
		else this.readOther(code);
	}

	private readBlanks(): void {
		const { text, at: from } = this;
		let at = from;
		let lineStart = from;
		let code = text.charCodeAt(at);
		while (code <= 32) {
			at += 1;
			if (code === 10) lineStart = at;
			code = text.charCodeAt(at);
		}
		this.at = at;
		if (lineStart > from && !isMark(text.charCodeAt(from - 1))) this.tokens += lineEnd;
		if (at - lineStart > 1) this.tokens += blankRun;
		this.tokens += (at - from) * anyBlank;
		if (at > lineStart && isDigit(code)) this.tokens += blankBeforeDigit;
	}

	/** Letters and digits, in pieces that end at the humps of camelCase and where letters meet digits. */
	private readWord(): void {
		const { text, at: from } = this;
		let at = from;
		let tokens = 0;
		let pieces = 0;
		let numbers = 0;
		let capitals = 0;
		let smalls = 0;
		for (let code = text.charCodeAt(at); isLetter(code) || isDigit(code); code = text.charCodeAt(at)) {
			const start = at;
			pieces += 1;
			if (isDigit(code)) {
				at = endOfDigits(text, at);
				tokens += Math.ceil((at - start) / 3);
				numbers += 1;
				continue;
			}
			const small = endOfCapitals(text, at);
			at = endOfSmalls(text, small);
			tokens += pieceTokens(small - start, at - small);
			capitals += small - start;
			smalls += at - small;
		}
		const length = at - from;
		const isRandom = length < 3 * pieces && ((numbers > 1 && length > 5) || (numbers > 0 && length > 15));
		if (isRandom) tokens = length * (capitals > 0 && smalls > 0 ? base64Character : hexCharacter);
		this.tokens += tokens;
		this.at = at;
	}

	private readMarks(): void {
		const { text, at: from } = this;
		let at = from + 1;
		while (isMark(text.charCodeAt(at))) at += 1;
		this.at = at;
		if (at - from > 1) this.tokens += markRun + markInRun * (at - from);
		else this.tokens += isLetter(text.charCodeAt(at)) ? markBeforeLetter : markAlone;
	}

	private readOther(code: number): void {
		const isRepeated = this.at > 0 && this.text.charCodeAt(this.at - 1) === code;
		this.tokens += isRepeated && isBoxDrawing(code) ? furtherLine : characterTokens(code);
		this.at += 1;
	}
}

function pieceTokens(capitals: number, smalls: number): number {
	const letters = capitals + smalls;
	const further = capitals > 1 ? (capitals - 1) * furtherCapital : 0;
	if (letters <= 4) return shortPiece + further;
	return longPiece + further + (letters > 8 ? (letters - 8) * overlongLetter : 0);
}

/** A character that continues a drawn line. */
const furtherLine = 0.3;

/** Tokens of a character beyond ASCII, by the order of the blocks in Unicode. */
function characterTokens(code: number): number {
	if (code < 0xc0) return 0.7; // signs of Latin-1
	if (code < 0x250) return 0.94; // accented Latin letters
	if (code < 0x2000) return 0.38; // other alphabets
	if (code < 0x2e80) return 0.7; // punctuation, arrows, box drawing
	if (code < 0x3040) return 1; // radicals, CJK punctuation
	if (code < 0x3100) return 0.74; // kana
	if (code < 0xa000) return 0.78; // Han
	if (code < 0xac00) return 1; // rare scripts
	if (code < 0xd800) return 0.79; // Hangul
	if (code < 0xe000) return 0.95; // half of a surrogate pair
	if (code < 0xff00) return 1.5; // private use, compatibility forms, variation selectors
	return isFullwidthLetter(code) ? 1.78 : 1;
}

function isDigit(code: number): boolean {
	return code >= 48 && code <= 57;
}

function isCapital(code: number): boolean {
	return code >= 65 && code <= 90;
}

function isSmall(code: number): boolean {
	return code >= 97 && code <= 122;
}

function isLetter(code: number): boolean {
	return isSmall(code) || isCapital(code);
}

/** ASCII punctuation. */
function isMark(code: number): boolean {
	return code > 32 && code < 128 && !isLetter(code) && !isDigit(code);
}

function isBoxDrawing(code: number): boolean {
	return code >= 0x2500 && code < 0x2580;
}

function isFullwidthLetter(code: number): boolean {
	return (code >= 0xff10 && code <= 0xff19) || (code >= 0xff21 && code <= 0xff5a);
}

function endOfDigits(text: string, from: number): number {
	let at = from;
	while (isDigit(text.charCodeAt(at))) at += 1;
	return at;
}

function endOfCapitals(text: string, from: number): number {
	let at = from;
	while (isCapital(text.charCodeAt(at))) at += 1;
	return at;
}

function endOfSmalls(text: string, from: number): number {
	let at = from;
	while (isSmall(text.charCodeAt(at))) at += 1;
	return at;
}
