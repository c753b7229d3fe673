import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { startProvider } from "../support/provider.ts";
import { BUNDLE_PATH, runPi } from "../support/run-pi.ts";

/** Times the real Pi from its start to the answer of one prompt: alone, and with each bundle. Runs take turns. */
const { values } = parseArgs({
	options: { runs: { type: "string", default: "11" }, bundle: { type: "string", multiple: true } },
});
const bundles = values.bundle ?? [BUNDLE_PATH];
const folder = mkdtempSync(join(tmpdir(), "acp-start-"));
const provider = await startProvider();
const ways = [{ name: "Pi alone", extensions: [] as string[] }].concat(
	bundles.map((path, index) => ({ name: path.replace(process.cwd(), "."), extensions: [copied(path, index)] })),
);
const timesMs = ways.map((): number[] => []);

for (let run = -1; run < Number(values.runs); run++) {
	for (const [index, { extensions }] of ways.entries()) {
		const startMs = performance.now();
		const { code, stderr, home } = await runPi({ providerUrl: provider.url, prompt: "hello", extensions });
		// The first run fills the cache of transpiled extensions.
		if (run >= 0) timesMs[index]?.push(performance.now() - startMs);
		home.remove();
		if (code !== 0) throw new Error(`Pi ended with ${code}: ${stderr}`);
	}
}
await provider.close();
rmSync(folder, { recursive: true });

const [alone = 0] = timesMs.map(median);
console.log(`One prompt in print mode, median of ${values.runs} runs taking turns; the first start is left out`);
for (const [index, { name }] of ways.entries()) {
	const medianMs = median(timesMs[index] ?? []);
	const more = index === 0 ? "" : `, ${medianMs - alone >= 0 ? "+" : ""}${(medianMs - alone).toFixed(0)} ms`;
	console.log(`${medianMs.toFixed(0).padStart(6)} ms  ${name}${more}`);
}

/** A copy outside this tree, so that the bundle's imports are Pi's own as in an installation. */
function copied(path: string, index: number): string {
	const copy = join(folder, String(index), "index.js");
	mkdirSync(join(folder, String(index)));
	copyFileSync(path, copy);
	return copy;
}

function median(times: readonly number[]): number {
	return times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0;
}
