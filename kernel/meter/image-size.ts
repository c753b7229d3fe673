export interface ImageSize {
	readonly widthPixels: number;
	readonly heightPixels: number;
}

/** Pixel size from the header of a PNG, JPEG, GIF or WebP in base64; undefined if it is none of these or says zero. */
export function imageSize(base64: string): ImageSize | undefined {
	const head = decodeBase64(base64, headBytes);
	const size = headSize(head) ?? (isJpeg(head) ? jpegSize(decodeBase64(base64, jpegScanBytes)) : undefined);
	return size !== undefined && size.widthPixels > 0 && size.heightPixels > 0 ? size : undefined;
}

/** Enough for the formats that have their size at a fixed place. */
const headBytes = 36;

/** How far a JPEG is searched: its size comes after metadata of any length. */
const jpegScanBytes = 4_096;

/** The first bytes of a base64 text, fewer if it ends or holds a foreign character before. */
function decodeBase64(base64: string, limitBytes: number): Uint8Array {
	const bytes = new Uint8Array(limitBytes);
	let count = 0;
	let bits = 0;
	let bitCount = 0;
	for (let at = 0; at < base64.length && count < limitBytes; at += 1) {
		const value = sextet(base64.charCodeAt(at));
		if (value < 0) break;
		bits = ((bits << 6) | value) & 0xfff;
		bitCount += 6;
		if (bitCount < 8) continue;
		bitCount -= 8;
		bytes[count] = (bits >> bitCount) & 0xff;
		count += 1;
	}
	return bytes.subarray(0, count);
}

function sextet(code: number): number {
	if (code >= 65 && code <= 90) return code - 65;
	if (code >= 97 && code <= 122) return code - 71;
	if (code >= 48 && code <= 57) return code + 4;
	if (code === 43) return 62;
	return code === 47 ? 63 : -1;
}

function headSize(head: Uint8Array): ImageSize | undefined {
	if (hasText(head, 1, "PNG") && hasText(head, 12, "IHDR")) {
		return { widthPixels: bigEndian(head, 16, 4), heightPixels: bigEndian(head, 20, 4) };
	}
	if (hasText(head, 0, "GIF8"))
		return { widthPixels: littleEndian(head, 6, 2), heightPixels: littleEndian(head, 8, 2) };
	return hasText(head, 0, "RIFF") && hasText(head, 8, "WEBP") ? webpSize(head) : undefined;
}

/** Lossy, lossless and extended WebP keep the size in three ways, the latter two less one. */
function webpSize(head: Uint8Array): ImageSize | undefined {
	if (hasText(head, 12, "VP8 ")) {
		return { widthPixels: littleEndian(head, 26, 2) & 0x3fff, heightPixels: littleEndian(head, 28, 2) & 0x3fff };
	}
	if (hasText(head, 12, "VP8L")) {
		const sizes = littleEndian(head, 21, 4);
		return { widthPixels: (sizes & 0x3fff) + 1, heightPixels: ((sizes >> 14) & 0x3fff) + 1 };
	}
	if (!hasText(head, 12, "VP8X")) return undefined;
	return { widthPixels: littleEndian(head, 24, 3) + 1, heightPixels: littleEndian(head, 27, 3) + 1 };
}

function isJpeg(head: Uint8Array): boolean {
	return head[0] === 0xff && head[1] === 0xd8;
}

/** Walks from segment to segment up to the start of a frame, which holds the size. */
function jpegSize(bytes: Uint8Array): ImageSize | undefined {
	let at = 2;
	while (at + 9 <= bytes.length && bytes[at] === 0xff) {
		const marker = bytes[at + 1] ?? 0;
		if (isFrameStart(marker)) {
			return { widthPixels: bigEndian(bytes, at + 7, 2), heightPixels: bigEndian(bytes, at + 5, 2) };
		}
		at += marker === 0xff ? 1 : 2 + bigEndian(bytes, at + 2, 2);
	}
	return undefined;
}

/** SOF0 to SOF15; DHT, JPG and DAC stand among them. */
function isFrameStart(marker: number): boolean {
	return marker >= 0xc0 && marker <= 0xcf && marker !== 0xc4 && marker !== 0xc8 && marker !== 0xcc;
}

function hasText(bytes: Uint8Array, from: number, text: string): boolean {
	for (let at = 0; at < text.length; at += 1) if (bytes[from + at] !== text.charCodeAt(at)) return false;
	return true;
}

/** Zero where bytes are missing. */
function bigEndian(bytes: Uint8Array, from: number, count: number): number {
	return bytes.subarray(from, from + count).reduce((number, byte) => number * 256 + byte, 0);
}

function littleEndian(bytes: Uint8Array, from: number, count: number): number {
	return bytes.subarray(from, from + count).reduceRight((number, byte) => number * 256 + byte, 0);
}
