import { readdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { countTokens } from "gpt-tokenizer/encoding/o200k_base";
import { describe, expect, it } from "vitest";
import { estimateImageTokens, estimateTokens } from "../../kernel/estimate.ts";
import { chinese, japanese, korean, python } from "../support/texts.ts";

const MODULES = fileURLToPath(new URL("../../node_modules/", import.meta.url));
const DOCS = "@earendil-works/pi-coding-agent/docs";

describe("the error against o200k, averaged over pieces of one kind", () => {
	const docs = readAll(DOCS, ".md");
	const types = [
		...readAll("@earendil-works/pi-coding-agent/dist/core", ".d.ts"),
		...readAll("typebox/build/type/types", ".d.mts"),
	];
	const examples = readAll("@earendil-works/pi-coding-agent/examples/extensions", ".ts");
	const next = random(20_250);
	const kinds: Record<string, string[]> = {
		"English prose": pieces(docs.flatMap(paragraphs).join("\n")),
		"Markdown docs": docs.flatMap((text) => pieces(text)),
		TypeScript: examples.flatMap((text) => pieces(text)),
		"type declarations": pieces(types.join("\n")),
		JSON: pieces(["package-lock.json", "biome.json", "tsconfig.json"].map((name) => read(`../${name}`)).join("\n")),
		"JSON lines of a session": pieces(sessionLines([...docs, ...examples], next).join("\n")),
		Chinese: pieces(chinese, 700),
		Japanese: pieces(japanese, 700),
		Korean: pieces(korean, 700),
		"Chinese with Latin": pieces(read("@biomejs/biome/README.zh-CN.md"), 2_000),
		"Japanese with Latin": pieces(read("@biomejs/biome/README.ja.md"), 2_000),
		"Korean with Latin": pieces(read("@biomejs/biome/README.kr.md"), 2_000),
		hex: times(10, () => lines(60, () => characters(next, "0123456789abcdef", 64))),
		base64: times(10, () => characters(next, BASE64, 4_000)),
		identifiers: times(10, () => lines(100, () => `toolu_${characters(next, BASE64.slice(0, 62), 24)} ${uuid(next)}`)),
		"server logs": times(10, () => lines(40, () => logLine(next))),
		"columns of numbers": times(10, () => lines(60, () => lines(7, () => (next(1e9) / 10 ** next(8)).toFixed(2), ","))),
		Python: pieces(python, 2_000),
		HTML: pieces(read("@earendil-works/pi-coding-agent/dist/core/export-html/template.html")),
		emoji: times(3, () => characters(next, "😀😂🚀🔥✅❌💡📦🐛🎉👍🔧📝", 400)),
		"text with emoji": docs.flatMap(paragraphs).map((text, index) => `${[..."🚀✅🐛"][index % 3]} ${text}`),
		"fullwidth Latin": docs.flatMap(paragraphs).slice(0, 20).map(toFullwidth),
	};

	it.each(Object.keys(kinds))("is at most 10 percent for %s", (kind) => {
		const errors = (kinds[kind] ?? []).slice(0, 40).map((text) => estimateTokens(text) / countTokens(text) - 1);
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

const BASE64 = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

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

function read(path: string): string {
	return readFileSync(MODULES + path, "utf8");
}

function readAll(folder: string, ending: string): string[] {
	const names = readdirSync(MODULES + folder).filter((name) => name.endsWith(ending));
	return names.sort().map((name) => read(`${folder}/${name}`));
}

/** Pieces of about 4 kB; a rest shorter than half a piece is dropped unless it is all there is. */
function pieces(text: string, sizeChars = 4_000): string[] {
	const count = Math.max(1, Math.round(text.length / sizeChars));
	return times(count, (index) => text.slice(index * sizeChars, (index + 1) * sizeChars));
}

/** Lines of plain prose in a Markdown text. */
function paragraphs(markdown: string): string[] {
	return markdown
		.split("\n")
		.filter((line) => /^[A-Z][a-z]/.test(line) && line.length > 100 && !/[`<|]|https?:/.test(line));
}

/** Whole numbers below a limit, the same sequence for the same seed (Numerical Recipes' generator). */
function random(seed: number): (limit: number) => number {
	let state = seed;
	return (limit) => {
		state = (state * 1_664_525 + 1_013_904_223) % 2 ** 32;
		return Math.floor((state / 2 ** 32) * limit);
	};
}

function times<T>(count: number, make: (index: number) => T): T[] {
	return Array.from({ length: count }, (_, index) => make(index));
}

function lines(count: number, make: () => string, separator = "\n"): string {
	return times(count, make).join(separator);
}

function characters(next: (limit: number) => number, alphabet: string, count: number): string {
	const all = [...alphabet];
	return times(count, () => all[next(all.length)]).join("");
}

function uuid(next: (limit: number) => number): string {
	return [8, 4, 4, 4, 12].map((length) => characters(next, "0123456789abcdef", length)).join("-");
}

function logLine(next: (limit: number) => number): string {
	const time = new Date(1_700_000_000_000 + next(1e10)).toISOString();
	const level = ["INFO", "WARN", "ERROR", "DEBUG"][next(4)];
	const path = `/api/v1/users/${next(9_999)}/orders?page=${next(50)}`;
	return `${time} ${level} [worker-${next(32)}] GET ${path} ${next(600)} ${next(100_000) / 100}ms bytes=${next(1e6)} id=${characters(next, "0123456789abcdef", 8)}`;
}

/** Entries as Pi writes them: questions, answers with a call, results that quote a file. */
function sessionLines(files: readonly string[], next: (limit: number) => number): string[] {
	return files.flatMap((text, index) => {
		const id = characters(next, "0123456789abcdef", 8);
		const entry = {
			type: "message",
			id,
			parentId: characters(next, "0123456789abcdef", 8),
			timestamp: new Date(1.7e12 + index * 6e4),
		};
		const call = {
			type: "toolCall",
			id: `toolu_${characters(next, BASE64.slice(0, 62), 24)}`,
			name: "read",
			arguments: { path: `src/part-${index}.ts` },
		};
		const usage = {
			input: next(9_999),
			output: next(999),
			cacheRead: next(99_999),
			cacheWrite: 0,
			totalTokens: next(99_999),
		};
		return [
			{
				...entry,
				message: {
					role: "user",
					content: [{ type: "text", text: paragraphs(text)[0] ?? "go on" }],
					timestamp: 1.7e12 + index,
				},
			},
			{
				...entry,
				message: {
					role: "assistant",
					content: [{ type: "text", text: "Let me read it." }, call],
					usage,
					stopReason: "toolUse",
				},
			},
			{
				...entry,
				message: {
					role: "toolResult",
					toolCallId: call.id,
					content: [{ type: "text", text: text.slice(0, 3_000) }],
					isError: false,
				},
			},
		].map((line) => JSON.stringify(line));
	});
}

function toFullwidth(text: string): string {
	return [...text]
		.map((char) => (/[!-~]/.test(char) ? String.fromCharCode(char.charCodeAt(0) + 0xfee0) : char))
		.join("");
}
