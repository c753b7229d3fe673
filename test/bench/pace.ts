/** Simulated models at work on windows of several sizes: what folding costs with them, and whether anything goes wrong. */
import { pathToFileURL } from "node:url";
import { parseArgs } from "node:util";
import { formatTokens } from "../../kernel/index.ts";
import { type PaceName, paces } from "../../kernel/pace.ts";
import { type ModelName, models } from "./pace/models.ts";
import { type PaceOptions, type PaceRun, runPace } from "./pace/run.ts";

const usage =
	"Usage: npm run bench:pace -- [--steps N] [--window TOKENS] [--model NAME] [--pace thrifty|relaxed]\n" +
	"--window and --model may be given several times; --pace adds the figures of that pace.";

const defaultWindows = [16_000, 64_000, 200_000, 1_000_000];
const defaultSteps = 300;

/** What is wrong with the command line. */
class BadInput extends Error {}

/** The command line: 0 if all holds in each run, 1 if not, 2 for bad input. */
export async function main(args: readonly string[], print: (text: string) => void): Promise<number> {
	try {
		const plans = readArguments(args);
		const runs: PaceRun[] = [];
		for (const plan of plans) {
			const startMs = performance.now();
			runs.push(await runPace(plan));
			process.stderr.write(`${nameOf(plan)}: ${((performance.now() - startMs) / 1_000).toFixed(0)} s\n`);
		}
		print(report(runs));
		return runs.every((run) => run.violations.length === 0) ? 0 : 1;
	} catch (error) {
		if (!(error instanceof BadInput)) throw error;
		print(`${error.message}\n${usage}`);
		return 2;
	}
}

function readArguments(args: readonly string[]): readonly PaceOptions[] {
	const { steps, window, model, pace } = parse(args);
	const names = Object.keys(models) as ModelName[];
	const chosen = model === undefined ? names : names.filter((name) => model.includes(name));
	if (chosen.length === 0) throw new BadInput(`The models are ${names.join(", ")}.`);
	const windows = window?.map(numberIn) ?? defaultWindows;
	const added = Object.keys(paces).filter((name) => name === pace && name !== "balanced") as PaceName[];
	if (pace !== undefined && !(pace in paces)) throw new BadInput(`The paces are ${Object.keys(paces).join(", ")}.`);
	const stepsOf = steps === undefined ? defaultSteps : numberIn(steps);
	return (["balanced", ...added] as PaceName[]).flatMap((pace) =>
		windows.flatMap((windowTokens) => chosen.map((model) => ({ model, windowTokens, steps: stepsOf, pace }))),
	);
}

function numberIn(text: string): number {
	const number = Number(text);
	if (!Number.isSafeInteger(number) || number < 1) throw new BadInput(`${text} is no number above zero.`);
	return number;
}

function parse(args: readonly string[]) {
	const one = { type: "string" } as const;
	const several = { type: "string", multiple: true } as const;
	try {
		return parseArgs({ args: [...args], options: { steps: one, window: several, model: several, pace: one } }).values;
	} catch (error) {
		throw new BadInput(error instanceof Error ? error.message : String(error));
	}
}

function nameOf({ model, windowTokens, pace }: PaceOptions): string {
	return `${model} on ${formatTokens(windowTokens)}, pace ${pace}`;
}

/** Two tables for each pace, at most 80 columns wide, and what went wrong. */
export function report(runs: readonly PaceRun[]): string {
	const paced = Map.groupBy(runs, (run) => run.pace);
	const tables = [...paced].flatMap(([pace, of]) => [`Pace ${pace}`, table(costs, of), "", table(asks, of), ""]);
	const wrong = runs.flatMap((run) =>
		run.violations.slice(0, shownViolations).map((each) => `${nameOf(run)}: ${each}`),
	);
	return [...tables, ...(wrong.length === 0 ? ["Nothing went wrong."] : wrong)].join("\n");
}

const shownViolations = 5;

type Column = readonly [name: string, width: number, value: (run: PaceRun) => string | number];

const names: readonly Column[] = [
	["model", -8, (run) => run.model],
	["window", 6, (run) => `${run.windowTokens / 1_000}K`],
];

const costs: readonly Column[] = [
	...names,
	["steps", 6, (run) => run.steps],
	["requests", 9, (run) => run.requests],
	["sent", 7, (run) => formatTokens(run.sentTokens)],
	["mean", 7, (run) => formatTokens(run.meanTokens)],
	["largest", 8, (run) => formatTokens(run.largestTokens)],
	["folds", 6, (run) => run.folds],
	["by rules", 9, (run) => run.ruleFolds],
	["cuts", 5, (run) => run.cuts],
	["refused", 8, (run) => run.refused],
];

const asks: readonly Column[] = [
	...names,
	["soft", 6, (run) => run.nudges.soft],
	["pressure", 9, (run) => run.nudges.pressure],
	["emergency", 10, (run) => run.nudges.emergency],
	["tokens", 8, (run) => formatTokens(run.nudgeTokens)],
	["share", 8, (run) => `${(run.nudgeShare * 100).toFixed(2)} %`],
	["blocked", 8, (run) => run.blocked],
	["verdict", 9, (run) => (run.violations.length === 0 ? "good" : "bad")],
];

function table(columns: readonly Column[], runs: readonly PaceRun[]): string {
	const line = (cells: readonly (string | number)[]) =>
		cells.map((cell, index) => padded(`${cell}`, columns[index]?.[1] ?? 0)).join("");
	return [
		line(columns.map(([name]) => name)),
		...runs.map((run) => line(columns.map(([, , value]) => value(run)))),
	].join("\n");
}

function padded(text: string, width: number): string {
	return width < 0 ? text.padEnd(-width) : text.padStart(width);
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
	process.exitCode = await main(process.argv.slice(2), (text) => process.stdout.write(`${text}\n`));
}
