import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { ExtensionUIContext } from "@earendil-works/pi-coding-agent";
import type { PaceName } from "../../../kernel/pace.ts";
import piBillionContext from "../../../src/index.ts";
import { answerRoom, counting, countRequest, nudgeOf } from "../../support/counting.ts";
import { createHome } from "../../support/home.ts";
import { type InProcess, inProcess } from "../../support/in-process.ts";
import type { RecordedRequest, Reply } from "../../support/provider.ts";
import { brokenRequest, loopsIn, lostContent, strayTags } from "./checks.ts";
import { type CountedRequest, type Figures, figuresOf } from "./figures.ts";
import { type ModelName, models } from "./models.ts";
import { projectTools, Work } from "./work.ts";

/** What to simulate. */
export interface PaceOptions {
	readonly model: ModelName;
	readonly windowTokens: number;
	/** Steps of work; what a model does about its context comes on top. */
	readonly steps: number;
	readonly pace?: PaceName;
	/** What the provider counts for one token of o200k. */
	readonly factor?: number;
}

/** A run: what it cost, and what went wrong in it. */
export interface PaceRun extends PaceOptions, Figures {
	/** Files that the model wrote. */
	readonly files: number;
	readonly violations: readonly string[];
}

/** As providers differ from the estimator: some count as o200k, some up to a third more. */
const factors: Readonly<Record<number, number>> = { 64000: 1.15, 200000: 1.3 };

/** A run that takes more requests for each of its steps does not end by itself. */
const requestsPerStep = 4;

const seed = 20_261;

/** Drives a real session by a simulated model until its work is done. */
export async function runPace(options: PaceOptions): Promise<PaceRun> {
	const { windowTokens, pace = "balanced" } = options;
	const home = createHome();
	const violations: string[] = [];
	const seen: CountedRequest[] = [];
	const heard: string[] = [];
	const work = new Work(seed, options.steps);
	const one = await inProcess({
		home,
		sessionFile: join(home.cwd, "session.jsonl"),
		extensions: [projectTools(seed, (args) => heard.push(args)), piBillionContext],
		acp: { pace },
		models: [{ contextWindow: windowTokens, maxTokens: Math.min(8_192, windowTokens / 8) }],
		script: scriptOf(options, work, seen, violations),
	});
	try {
		await bind(one, violations);
		while (!work.isDone) await one.prompt(work.prompt());
		const branch = one.session.sessionManager.getBranch();
		const log = await logText(one, home.path);
		violations.push(...errorsIn(log), ...loopsIn(branch), ...(await lostContent(one.session, branch)));
		const files = writtenFiles(home.cwd);
		violations.push(...strayTags(files, heard, branch));
		const figures = figuresOf(branch, seen, log);
		if (figures.nudgeShare > nudgeShareLimit) violations.push(`nudges: ${(figures.nudgeShare * 100).toFixed(2)} %`);
		return { ...options, ...figures, files: files.size, violations };
	} finally {
		await one.dispose();
		home.remove();
	}
}

const nudgeShareLimit = 0.01;

/** The model behind a provider that counts, and refuses what is too large or not whole. */
function scriptOf(
	{ model, windowTokens, steps, factor = factors[windowTokens] ?? 1 }: PaceOptions,
	work: Work,
	seen: CountedRequest[],
	violations: string[],
): (request: RecordedRequest) => Promise<Reply> {
	const answer = models[model]();
	const mostRequests = steps * requestsPerStep;
	let before: RecordedRequest | undefined;
	const reply = (request: RecordedRequest): Reply => {
		const broken = brokenRequest(request.body.messages);
		if (broken !== undefined) {
			violations.push(`request ${request.index}: ${broken}`);
			return { error: broken };
		}
		if (seen.length > mostRequests) {
			if (seen.length === mostRequests + 1) violations.push("the run does not end by itself");
			work.giveUp();
			return { text: "Stopped." };
		}
		const nudge = nudgeOf(request);
		const beginsTurn = request.body.messages.at(nudge === undefined ? -1 : -2)?.role === "user";
		return answer({ request, nudge, beginsTurn, work });
	};
	const counted = counting(reply, { factor, windowTokens });
	return async (request) => {
		// What was answered is not looked at again, and all requests of a run together are too much to keep.
		if (before !== undefined) Object.assign(before, { raw: "", body: { model: "", messages: [] } });
		before = request;
		const sentTokens = Math.round(factor * countRequest(request.body));
		seen.push({ sentTokens, nudgeTokens: factor * nudgeTokensIn(request) });
		const roomTokens = answerRoom(request);
		if (sentTokens + roomTokens > windowTokens) {
			violations.push(`request ${request.index} takes ${sentTokens} tokens and asks for ${roomTokens}`);
		}
		return counted(request);
	};
}

function nudgeTokensIn(request: RecordedRequest): number {
	const content = nudgeOf(request);
	return content === undefined ? 0 : countRequest({ model: "", messages: [{ role: "user", content }] });
}

/** Starts the extensions with a user interface that nobody sees, so that notices are not written to the error stream. */
async function bind({ session }: InProcess, violations: string[]): Promise<void> {
	const uiContext: Partial<ExtensionUIContext> = { notify: () => undefined, setStatus: () => undefined };
	await session.bindExtensions({
		uiContext: uiContext as ExtensionUIContext,
		mode: "tui",
		onError: ({ event, error }) => violations.push(`a handler of ${event} threw: ${error}`),
	});
}

async function logText({ session }: InProcess, home: string): Promise<string> {
	await session.extensionRunner.emit({ type: "session_shutdown", reason: "quit" });
	return readFileSync(join(home, ".pi", "acp.log"), "utf8");
}

function errorsIn(log: string): readonly string[] {
	return log.split("\n").filter((line) => line.includes(" [error] "));
}

function writtenFiles(folder: string): ReadonlyMap<string, string> {
	const names = readdirSync(folder).filter((name) => name.endsWith(".md"));
	return new Map(names.map((name) => [name, readFileSync(join(folder, name), "utf8")]));
}
