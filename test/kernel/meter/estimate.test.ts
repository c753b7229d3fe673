import fc from "fast-check";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { estimateImageTokens, estimateTokens } from "../../../kernel/meter/estimate.ts";
import { textKinds } from "../../support/texts.ts";

describe("the error against o200k, averaged over pieces of one kind", () => {
	it.each(textKinds())("is at most 10 percent for $name", ({ texts }) => {
		const errors = texts.map((text) => estimateTokens(text) / countTokens(text) - 1);
		const bias = errors.reduce((sum, error) => sum + error, 0) / errors.length;
		expect(Math.abs(bias)).toBeLessThanOrEqual(0.1);
	});
});

describe("the estimate of a text", () => {
	const text = fc.oneof(
		fc.string({ unit: "binary", maxLength: 200 }),
		fc.string({ unit: fc.constantFrom(...'aZ09 \n\t.,({"é中あ한─😀'), maxLength: 200 }),
	);

	it("is 0 for the empty text and a whole number from 1 for any other", () => {
		expect(estimateTokens("")).toBe(0);
		fc.assert(
			fc.property(text, (any) => {
				const tokens = estimateTokens(any);
				expect(Number.isInteger(tokens)).toBe(true);
				expect(tokens).toBeGreaterThanOrEqual(Math.min(1, any.length));
				expect(tokens).toBeLessThanOrEqual(2 * any.length);
			}),
		);
	});

	it("is the sum of its parts, give or take what meets at the seam", () => {
		fc.assert(
			fc.property(text, text, (a, b) => {
				const apart = estimateTokens(a) + estimateTokens(b);
				expect(Math.abs(estimateTokens(`${a}\n${b}`) - apart)).toBeLessThanOrEqual(5);
			}),
		);
	});

	it("hardly ever shrinks when text is added", () => {
		fc.assert(
			fc.property(text, text, (a, b) => {
				expect(estimateTokens(a + b)).toBeGreaterThanOrEqual(0.65 * estimateTokens(a) - 3);
			}),
		);
	});

	it("does not take an identifier with a number in it for a random key", () => {
		expect(estimateTokens("getElementById2Something")).toBeLessThan(9);
		expect(estimateTokens("20251209T005254")).toBeLessThan(8);
		expect(estimateTokens("3f9a0c2b7d18e4f6")).toBeGreaterThan(8);
	});
});

describe("the estimate of an image", () => {
	it("is a 750th of its pixels, whatever the format", () => {
		const widthPixels = 1_001;
		const heightPixels = 300;
		const expected = Math.ceil((widthPixels * heightPixels) / 750);
		for (const image of Object.values(images(widthPixels, heightPixels))) {
			expect(estimateImageTokens({ data: image.toString("base64"), mimeType: "image/x" })).toBe(expected);
		}
	});

	it("stays between 85 and 1,600", () => {
		for (const image of Object.values(images(8, 8))) expect(imageTokens(image)).toBe(85);
		for (const image of Object.values(images(4_000, 3_000))) expect(imageTokens(image)).toBe(1_600);
	});

	it("does not depend on the length of the base64 text", () => {
		const { png, jpeg } = images(640, 480);
		for (const image of [png, jpeg]) {
			expect(imageTokens(Buffer.concat([image, Buffer.alloc(100_000, 7)]))).toBe(410);
		}
	});

	it("finds the size of a JPEG behind its metadata, up to 4 KB", () => {
		const frame = images(640, 480).jpeg.subarray(2);
		const behind = (sizeBytes: number) => {
			const segment = Buffer.alloc(sizeBytes);
			segment.set([0xff, 0xe1, (sizeBytes - 2) >> 8, (sizeBytes - 2) & 0xff]);
			return Buffer.concat([Buffer.from([0xff, 0xd8, 0xff]), segment, frame]);
		};
		expect(imageTokens(behind(3_000))).toBe(410);
		expect(imageTokens(behind(5_000))).toBe(1_600);
	});

	it("is 1,600 if the size cannot be told", () => {
		const { png, jpeg, webpLossy } = images(640, 480);
		expect(estimateImageTokens({})).toBe(1_600);
		const unknown = Buffer.from(webpLossy);
		unknown.write("VP9 ", 12);
		const endless = Buffer.from([0xff, 0xd8, 0xff, 0xe1, 0, 0, 1, 2, 3, 4, 5, 6]);
		const noFrame = Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xc4, 0, 7, 0, 9, 9, 9, 9]), Buffer.alloc(20)]);
		for (const image of [
			Buffer.from("BM, a bitmap"),
			png.subarray(0, 14),
			images(0, 480).png,
			jpeg.subarray(0, 6),
			unknown,
			endless,
			noFrame,
		]) {
			expect(imageTokens(image)).toBe(1_600);
		}
		for (const data of ["", "not base64", "????", `${png.toString("base64").slice(0, 20)}*${png.toString("base64")}`]) {
			expect(estimateImageTokens({ data })).toBe(1_600);
		}
	});

	it("is a number within its bounds for any header", () => {
		const start = fc.constantFrom(...Object.values(images(640, 480)), Buffer.alloc(0));
		fc.assert(
			fc.property(start, fc.nat(40), fc.uint8Array({ maxLength: 60 }), (image, keptBytes, rest) => {
				const tokens = imageTokens(Buffer.concat([image.subarray(0, keptBytes), rest]));
				expect(tokens).toBeGreaterThanOrEqual(85);
				expect(tokens).toBeLessThanOrEqual(1_600);
			}),
		);
	});
});

function imageTokens(image: Buffer): number {
	return estimateImageTokens({ data: image.toString("base64") });
}

/** The beginning of an image in each format. */
function images(width: number, height: number) {
	const png = Buffer.alloc(40);
	png.set([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13]);
	png.write("IHDR", 12);
	png.writeUInt32BE(width, 16);
	png.writeUInt32BE(height, 20);
	const gif = Buffer.alloc(40);
	gif.write("GIF89a");
	gif.writeUInt16LE(width, 6);
	gif.writeUInt16LE(height, 8);
	const webp = (kind: string) => {
		const buffer = Buffer.alloc(40);
		buffer.write(`RIFF....WEBP${kind}`);
		return buffer;
	};
	const webpLossy = webp("VP8 ");
	webpLossy.writeUInt16LE(width | 0x4000, 26);
	webpLossy.writeUInt16LE(height, 28);
	const webpLossless = webp("VP8L");
	webpLossless.writeUInt8(0x2f, 20);
	webpLossless.writeUInt32LE((((height - 1) << 14) | (width - 1)) >>> 0, 21);
	const webpExtended = webp("VP8X");
	webpExtended.writeUIntLE(Math.max(0, width - 1), 24, 3);
	webpExtended.writeUIntLE(Math.max(0, height - 1), 27, 3);
	const jpeg = Buffer.from([0xff, 0xd8, 0xff, 0xc4, 0, 5, 1, 2, 3, 0xff, 0xc2, 0, 17, 8, 0, 0, 0, 0, 3]);
	jpeg.writeUInt16BE(height, 14);
	jpeg.writeUInt16BE(width, 16);
	return { png, gif, webpLossy, webpLossless, webpExtended, jpeg };
}
