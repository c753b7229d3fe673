import { homedir } from "node:os";
import { CONFIG_DIR_NAME, type ExtensionAPI, type ExtensionContext } from "@earendil-works/pi-coding-agent";
import {
	type Archive,
	type Branch,
	type Context,
	type Decision,
	encodeSidecar,
	Meter,
	type ModelTraits,
	mark,
	type Nudge,
	type Operation,
	operationEntryType,
	replayCall,
	type State,
	standingView,
	Timeline,
	type View,
} from "../kernel/index.ts";
import { createArchive } from "./archive.ts";
import { createConfig, type LiveConfig } from "./config/load.ts";
import { paced } from "./config/pace.ts";
import type { Config } from "./config/schema.ts";
import { type CompressOwner, createOwnership, type Host, hostOf, UnsupportedHost } from "./host.ts";
import { createLog, type Log, redacted } from "./log.ts";
import { type PiSession, shortenProjection } from "./projection.ts";
import { createSidecarStore, type SidecarStore, sidecarPath } from "./store/sidecar.ts";
import { isCompressParameters } from "./tools/compress-parameters.ts";
import { version } from "./version.ts";

/** What one session has: the memo of its log, its settings, its log file and its sidecar. */
export interface Session {
	readonly timeline: Timeline;
	readonly meter: Meter;
	readonly config: LiveConfig;
	readonly log: Log;
	readonly archive: { of(host: Host): Archive };
	readonly sidecar: SidecarStore;
	/** The state that the sidecar says. */
	savedState: State | undefined;
	/** The nudge of the last request, until the turn it belongs to has ended. */
	shownNudge: (Nudge & { readonly commitId: string | undefined }) | undefined;
	/** Why the last request had a nudge or none; undefined before the first one. */
	decision: Decision | undefined;
	readonly noticed: Set<string>;
	/** The user message after whose refused request one more was made. */
	continuedAfter: string | undefined;
	/** The last failures, oldest first: what failed, and how. */
	readonly failures: string[];
	/** True while the user hands the session over to Pi alone. */
	isHandingOver: boolean;
	/** Gives Pi its own projection back. */
	readonly releaseProjection: () => void;
}

/** A session at one moment: what hooks, tools and commands work with. */
export interface Moment {
	readonly session: Session;
	readonly host: Host;
	readonly branch: Branch;
	readonly config: Config;
	readonly owner: CompressOwner;
	/** Why we stand down beside somebody else who manages the context; undefined if nobody does. */
	readonly standsDown: string | undefined;
	readonly context: Context;
	/** True if we may fold: we are enabled and do not stand down. */
	readonly mayFold: boolean;
	/** True if rules fold alone: they are told to, or the model is not offered `compress`. */
	readonly foldsByRules: boolean;
	/** What a request may take of the usable window before it is made to fit. */
	readonly emergencyTokens: number;
}

/** The sessions of one extension instance, by session id. */
export interface Sessions {
	/** The session alone, for what asks nothing of its branch or its settings. */
	of(ctx: ExtensionContext): Session;
	at(ctx: ExtensionContext): Moment;
	/** Appends an operation to the log and returns the moment after it. */
	commit(ctx: ExtensionContext, operation: Operation): Moment;
	/** What Pi keeps free of the window before it compacts. */
	reserveTokens(): number;
	/** The view a tool call is judged against. */
	view(moment: Moment): View;
	/** Tells the user something once a session; texts with the same key are the same thing. */
	notice(moment: Moment, text: string, level: "info" | "warning", key?: string): void;
	/** Puts a failure into the log of the session looked at last; where there is none yet, on the error stream. */
	report(scope: string, error: unknown): void;
	/** Writes the sidecar if the branch has blocks and we do not stand down, and waits until it is written; never fails. */
	saveSidecar(moment: Moment): Promise<void>;
}

/** Pi's own default. */
const defaultReserveTokens = 16_384;

/** Stands in until a model is chosen. */
const unknownModel: ModelTraits = { key: undefined, countsAnswer: true, takesImages: true, needsAlternation: false };

export function createSessions(pi: ExtensionAPI): Sessions {
	const known = new Map<string, Session>();
	const views = new WeakMap<Moment, View>();
	const ownership = createOwnership(pi, isCompressParameters);
	let latest: Session | undefined;
	let hasSaidHost = false;

	function sessionOf(host: Host, ctx: ExtensionContext): Session {
		const session = known.get(host.sessionId) ?? openSession(host, ctx.sessionManager);
		known.set(host.sessionId, session);
		latest = session;
		return session;
	}

	function at(ctx: ExtensionContext): Moment {
		const host = hostOf(ctx);
		const session = sessionOf(host, ctx);
		const config = session.config.current(host.model?.provider, host.model?.id);
		const { owner, standsDown } = ownership(host);
		const branch = session.timeline.branch(host.leafId, (id) => host.entry(id));
		const isActive = config.enabled && owner === "ours";
		const mayFold = config.enabled && standsDown === undefined;
		const metered = session.meter.context(branch, { model: host.model ?? unknownModel, settings: config, isActive });
		const isAlone = config.strategy === "rules" || (config.strategy === "hybrid" && owner !== "ours");
		const foldsByRules = mayFold && isAlone;
		const emergencyTokens = Math.min(
			Math.floor(metered.window.usableTokens * config.compress.emergencyThresholdPercent),
			answerableTokens(host.model?.windowTokens),
		);
		const settings = paced(config, metered.window.limitTokens);
		const context = { ...metered, settings, fitTokens: emergencyTokens };
		return { session, host, branch, config, owner, standsDown, mayFold, foldsByRules, emergencyTokens, context };
	}

	return {
		of: (ctx) => sessionOf(hostOf(ctx), ctx),
		at,
		commit(ctx, operation) {
			pi.appendEntry(operationEntryType, mark(operation));
			return at(ctx);
		},
		reserveTokens: () => pi.getSettings().compaction?.reserveTokens ?? defaultReserveTokens,
		view(moment) {
			const found = views.get(moment) ?? standingView(moment.branch, moment.context);
			views.set(moment, found);
			return found;
		},
		notice({ session, host }, text, level, key = text) {
			if (session.noticed.has(key)) return;
			session.noticed.add(key);
			session.log.warn("notice", { text });
			host.notify(text, level);
		},
		report(scope, error) {
			if (error instanceof UnsupportedHost) {
				if (!hasSaidHost) process.stderr.write(`pi-billion-context does nothing here: ${error.message}.\n`);
				hasSaidHost = true;
				return;
			}
			const fields = { message: String(error), stack: error instanceof Error ? error.stack : undefined };
			if (latest === undefined) process.stderr.write(`pi-billion-context: ${scope}: ${fields.message}\n`);
			else {
				latest.log.error(scope, fields);
				keep(latest.failures, `${scope}: ${fields.message}`);
			}
		},
		saveSidecar,
	};
}

async function saveSidecar({ session, host, branch, mayFold }: Moment): Promise<void> {
	const { state } = branch;
	const path = sidecarPath(host);
	if (path === undefined || !mayFold || state.blocks.size === 0) return;
	if (state === session.savedState) return session.sidecar.flush();
	session.savedState = state;
	await session.sidecar.save(path, encodeSidecar(branch, version));
}

/** Pi lets no answer be longer than the declared window less the request and this margin. */
const piMarginTokens = 4_096;

/** An answer in which a model can still fold, or say what it found. */
const leastAnswerTokens = 1_024;

/** On the smallest windows the request gets this share all the same: the system prompt and the tools have to be in it. */
const leastRequestShare = 0.4;

/** The largest request that Pi leaves an answer to. */
function answerableTokens(declaredTokens: number | undefined): number {
	if (declaredTokens === undefined) return Number.POSITIVE_INFINITY;
	return Math.floor(Math.max(declaredTokens - piMarginTokens - leastAnswerTokens, declaredTokens * leastRequestShare));
}

const keptFailures = 5;

function keep(failures: string[], failure: string): void {
	failures.push(redacted(failure.slice(0, 400)).slice(0, 200));
	if (failures.length > keptFailures) failures.shift();
}

function openSession(host: Host, piSession: PiSession): Session {
	const config = createConfig({
		home: homedir(),
		cwd: host.cwd,
		configDirName: CONFIG_DIR_NAME,
		projectTrusted: host.isProjectTrusted,
		environment: process.env,
	});
	const { logPath } = config.current();
	const failures: string[] = [];
	const log = createLog({ path: logPath, debug: () => config.current().debug, now: () => new Date() });
	const timeline = new Timeline(replayCall);
	return {
		timeline,
		meter: new Meter(),
		archive: createArchive(timeline),
		config,
		log,
		sidecar: createSidecarStore((problem) => {
			log.warn("sidecar", { problem });
			keep(failures, `sidecar: ${problem}`);
		}),
		savedState: undefined,
		shownNudge: undefined,
		decision: undefined,
		noticed: new Set(),
		failures,
		continuedAfter: undefined,
		isHandingOver: false,
		releaseProjection: shortenProjection(piSession, (problem) => log.warn("projection", { problem })),
	};
}
