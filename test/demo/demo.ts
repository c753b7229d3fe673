import { cpSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { text as readAll } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { formatTokens } from "../../kernel/problem.ts";
import { defaultSettings } from "../../kernel/settings.ts";
import { createHome, type Home, modelId, PROVIDER_NAME, writeHomeFiles } from "../support/home.ts";
import { startProvider } from "../support/provider.ts";
import { type ScriptedModel, scriptedModel } from "./model.ts";
import { BUNDLE_PATH, isolatedEnv, type RunningPi, startPi } from "./pi.ts";
import { turns } from "./scenario.ts";
import { sumUp } from "./summary.ts";
import { eventText } from "./transcript.ts";

const PROJECT_PATH = fileURLToPath(new URL("project", import.meta.url));

/** How long the scripted model thinks where somebody watches. */
const watchedDelayMs = 2_200;

/** What a shell reports for a program that ctrl+c ended. */
const interruptedCode = 130;

const farewell = "That was the script. Quit with ctrl+d; the figures are printed then.";

const windowTokens = 64_000;

/** The nudge comes early, so that a short session shows it. Settings hold for windows of 128K; half of them count here. */
const compress = { keepTokens: 8_000, stepTokens: 20_000 };

/** Plays the session, in the terminal or as a transcript on stdout. The exit code is 1 if something did not happen. */
export async function playDemo(isPrinted: boolean, piArgs: readonly string[]): Promise<number> {
	const home = createHome();
	const cleaning = cleanUpOnExit(home);
	try {
		return await playIn(home, isPrinted, piArgs, cleaning);
	} finally {
		cleaning.done();
	}
}

async function playIn(home: Home, isPrinted: boolean, piArgs: readonly string[], cleaning: Cleaning): Promise<number> {
	const model = isPrinted
		? scriptedModel({ onEvent: (event) => say(eventText(event)) })
		: scriptedModel({ delayMs: watchedDelayMs, farewell });
	const provider = await startProvider(model.reply);
	say(opening(isPrinted));
	const pi = startPi({
		extension: furnish(home, provider.url),
		args: [
			...(isPrinted ? ["-p"] : []),
			...["--model", `${PROVIDER_NAME}/${modelId(undefined)}`, ...piArgs],
			...turns.map((turn) => turn.prompt),
		],
		cwd: home.cwd,
		env: isolatedEnv(home),
		stdio: isPrinted ? ["ignore", "ignore", "pipe"] : "inherit",
	});
	cleaning.stops(pi);
	const errors = pi.child.stderr === null ? Promise.resolve("") : readAll(pi.child.stderr);
	const code = await pi.ended;
	await provider.close();
	if (cleaning.isInterrupted()) return interruptedCode;
	return conclude(home, model, isPrinted, code === 0 ? "" : `Pi ended with code ${code}: ${await errors}`);
}

/** Puts the sample project, the settings and the extension into the home; the path of the latter. */
function furnish(home: Home, providerUrl: string): string {
	cpSync(PROJECT_PATH, home.cwd, { recursive: true });
	writeHomeFiles(home, {
		providerUrl,
		models: [{ contextWindow: windowTokens, maxTokens: 8_000 }],
		settings: { quietStartup: true },
		acp: { compress },
	});
	// Outside this tree Pi serves its own packages to the extension, as for any user; inside it loads second copies.
	const extension = join(home.path, "pi-billion-context.js");
	cpSync(BUNDLE_PATH, extension);
	return extension;
}

/** Prints the figures and what did not happen; somebody who watches may leave early. */
function conclude(home: Home, model: ScriptedModel, isPrinted: boolean, piFailure: string): number {
	const sourceFile = join(home.cwd, "src/pricing.ts");
	const { text, missing } = sumUp({ model, sessionFile: home.sessionFiles().at(-1), sourceFile }, settingsText());
	say(`\n${text}`);
	const gaveUp = model.gaveUp();
	if (!isPrinted && !model.isDone() && gaveUp === undefined) {
		say("\nLeft before the end: what is not in these figures did not happen yet.");
		return 0;
	}
	const problems = [
		...(gaveUp === undefined ? [] : [`the scripted model gave up: ${gaveUp}`]),
		...(isPrinted && piFailure !== "" ? [piFailure] : []),
		...missing,
	];
	for (const problem of problems) say(`FAILED: ${problem}`);
	return problems.length === 0 ? 0 : 1;
}

function opening(isPrinted: boolean): string {
	const what = "Demo: a scripted model fixes a bug in a sample project.\nNothing leaves this machine; no key is used.";
	return isPrinted ? what : `${what} It takes about a minute.\nQuit Pi with ctrl+d to see the figures.`;
}

function settingsText(): string {
	const nudgeAt = ({ keepTokens, stepTokens }: typeof compress) =>
		formatTokens(((keepTokens + stepTokens) * windowTokens) / 128_000);
	return `window ${formatTokens(windowTokens)} tokens, nudge at ${nudgeAt(compress)} of unfolded messages (by default ${nudgeAt(defaultSettings.compress)})`;
}

function say(text: string): void {
	process.stdout.write(`${text}\n`);
}

interface Cleaning {
	/** From now on a signal ends this Pi first. */
	stops(pi: RunningPi): void;
	isInterrupted(): boolean;
	/** Removes the home; signals have their usual effect again. */
	done(): void;
}

/** Sees to it that neither a signal nor an exit leaves the home or Pi behind. */
function cleanUpOnExit(home: Home): Cleaning {
	const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
	let running: RunningPi | undefined;
	let isInterrupted = false;
	const onSignal = () => {
		isInterrupted = true;
		running?.stop();
	};
	const onExit = () => {
		running?.child.kill("SIGKILL");
		home.remove();
	};
	for (const signal of signals) process.on(signal, onSignal);
	process.on("exit", onExit);
	return {
		stops(pi) {
			running = pi;
			if (isInterrupted) pi.stop();
		},
		isInterrupted: () => isInterrupted,
		done() {
			for (const signal of signals) process.off(signal, onSignal);
			process.off("exit", onExit);
			home.remove();
		},
	};
}
