/**
 * What reading settings costs: 1,000 made-up files, good, hostile and truncated, read the way a changed acp.json is, beside
 * JSON.parse of the same texts. Times are medians of one file; the machine may be shared, so read the ratio.
 */
import fc from "fast-check";
import { parseJsonc } from "../../src/config/jsonc.ts";
import { describeProblems, type Layer, readDocument, readEnvironment, resolveFor } from "../../src/config/merge.ts";
import { allKeys } from "../../src/config/schema.ts";

/** The goal, in milliseconds a file. */
const goalMs = 1;
const files = 1_000;

const names = [...new Set(allKeys.flatMap(({ path }) => path)), "providers", "models", "acme", "autoUpdate", "unknown"];
const value = fc.oneof(
	fc.constantFrom<unknown>(true, false, 0, 5, 20_000, "20K", "75%", 0.5, [], ["read", "todo*"], null, "nonsense", -1),
	fc.jsonValue(),
);
const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
	tree: fc.oneof({ maxDepth: 3 }, value, fc.dictionary(fc.constantFrom(...names), tie("tree"), { maxKeys: 6 })),
}));
const document = fc.dictionary(fc.constantFrom(...names), tree, { minKeys: 3, maxKeys: 12 });
const good = document.map((each) => JSON.stringify(each, undefined, "\t"));
const text = fc.oneof(
	good,
	good.map((each) => `// settings\n${each}`),
	fc.tuple(good, fc.nat()).map(([each, seed]) => each.slice(0, seed % each.length)),
);
const texts = fc.sample(text, { numRuns: files, seed: 8 });

const environment = readEnvironment({});
let warnings = 0;

function read(source: string): void {
	const parsed = parseJsonc(source);
	const layer: Layer = parsed.ok
		? readDocument("acp.json", parsed.value)
		: { source: "acp.json", values: new Map(), problems: [{ text: parsed.reason }] };
	const layers = { environment, files: [layer] };
	resolveFor(layers, "acme", "big");
	warnings += describeProblems(layers).length;
}

function parse(source: string): void {
	try {
		JSON.parse(source);
	} catch {
		// A truncated text costs what it costs up to its end.
	}
}

/** The median time of one text, in milliseconds; the first round warms up. */
function medianMs(work: (source: string) => void): number {
	for (const source of texts) work(source);
	const timesMs = texts.map((source) => {
		const begin = performance.now();
		work(source);
		return performance.now() - begin;
	});
	return timesMs.sort((left, right) => left - right)[files / 2] ?? 0;
}

const readMs = medianMs(read);
const parseMs = medianMs(parse);
const bytes = texts.reduce((sum, each) => sum + Buffer.byteLength(each), 0);
console.log(`${files} files of ${Math.round(bytes / files)} bytes on average, ${warnings / 2} warnings, none thrown`);
console.log(
	`reading one: ${readMs.toFixed(3)} ms; JSON.parse: ${parseMs.toFixed(4)} ms; ratio ${(readMs / parseMs).toFixed(0)}`,
);
console.log(`goal < ${goalMs} ms at the median: ${readMs < goalMs ? "met" : "missed"}`);
