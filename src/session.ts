import { homedir } from "node:os";
import { CONFIG_DIR_NAME, type ExtensionAPI, type ExtensionContext } from "@earendil-works/pi-coding-agent";
import {
	type Archive,
	type Branch,
	type Context,
	encodeSidecar,
	mark,
	type Operation,
	operationEntryType,
	replayCall,
	type State,
	standingView,
	Timeline,
	type View,
	windowOf,
} from "../kernel/index.ts";
import { createArchive } from "./archive.ts";
import { createConfig, type LiveConfig } from "./config/load.ts";
import type { Config } from "./config/schema.ts";
import { type CompressOwner, compressOwner, type Host, hostOf } from "./host.ts";
import { createLog, type Log } from "./log.ts";
import { createSidecarStore, type SidecarStore, sidecarPath } from "./store/sidecar.ts";
import { compressParameters } from "./tools/compress-parameters.ts";
import { version } from "./version.ts";

/** What one session has: the memo of its log, its settings, its log file and its sidecar. */
export interface Session {
	readonly timeline: Timeline;
	readonly config: LiveConfig;
	readonly log: Log;
	readonly archive: { of(host: Host): Archive };
	readonly sidecar: SidecarStore;
	/** The state that the sidecar says. */
	savedState: State | undefined;
	/** The nudge of the last request, until the turn it belongs to has ended. */
	shownNudge: { readonly sizeTokens: number; readonly commitId: string | undefined } | undefined;
	readonly noticed: Set<string>;
}

/** A session at one moment: what hooks, tools and commands work with. */
export interface Moment {
	readonly session: Session;
	readonly host: Host;
	readonly branch: Branch;
	readonly config: Config;
	readonly owner: CompressOwner;
	readonly context: Context;
	/** True if we may fold: `compress` is ours and we are enabled. */
	readonly mayFold: boolean;
}

/** The sessions of one extension instance, by session id. */
export interface Sessions {
	at(ctx: ExtensionContext): Moment;
	/** Appends an operation to the log and returns the moment after it. */
	commit(ctx: ExtensionContext, operation: Operation): Moment;
	/** The view a tool call is judged against. */
	view(moment: Moment): View;
	/** Tells the user something once a session. */
	notice(moment: Moment, text: string, level: "info" | "warning"): void;
	/** Puts a failure into the log of the session looked at last; where there is none yet, on the error stream. */
	report(scope: string, error: unknown): void;
	/** Writes the sidecar if the branch has blocks and we do not stand down, and waits until it is written; never fails. */
	saveSidecar(moment: Moment): Promise<void>;
}

export function createSessions(pi: ExtensionAPI): Sessions {
	const known = new Map<string, Session>();
	let latest: Session | undefined;

	function sessionOf(host: Host): Session {
		const found = known.get(host.sessionId);
		if (found !== undefined) return found;
		const session = openSession(host);
		known.set(host.sessionId, session);
		return session;
	}

	function at(ctx: ExtensionContext): Moment {
		const host = hostOf(ctx);
		const session = sessionOf(host);
		latest = session;
		const config = session.config.current(host.model?.provider, host.model?.id);
		const owner = compressOwner(pi, compressParameters);
		const branch = session.timeline.branch(host.leafId, (id) => host.entry(id));
		const window = windowOf({
			declaredTokens: host.model?.windowTokens,
			overrideTokens: config.modelContextLimit,
			answerMaxTokens: host.model?.answerMaxTokens,
			headroomMax: config.outputHeadroomMaxPct,
		});
		const isActive = config.enabled && owner === "ours";
		const mayFold = config.enabled && owner !== "another extension's";
		return { session, host, branch, config, owner, mayFold, context: { branch, settings: config, window, isActive } };
	}

	return {
		at,
		commit(ctx, operation) {
			pi.appendEntry(operationEntryType, mark(operation));
			return at(ctx);
		},
		view: ({ branch, context }) => standingView(branch, context),
		notice({ session, host }, text, level) {
			if (session.noticed.has(text)) return;
			session.noticed.add(text);
			session.log.warn("notice", { text });
			host.notify(text, level);
		},
		report(scope, error) {
			const fields = { message: String(error), stack: error instanceof Error ? error.stack : undefined };
			if (latest === undefined) process.stderr.write(`pi-billion-context: ${scope}: ${fields.message}\n`);
			else latest.log.error(scope, fields);
		},
		async saveSidecar({ session, host, branch, mayFold }) {
			const { state } = branch;
			const path = sidecarPath(host);
			if (path === undefined || !mayFold || state.blocks.size === 0) return;
			if (state === session.savedState) return session.sidecar.flush();
			session.savedState = state;
			await session.sidecar.save(path, encodeSidecar(branch, version));
		},
	};
}

function openSession(host: Host): Session {
	const config = createConfig({
		home: homedir(),
		cwd: host.cwd,
		configDirName: CONFIG_DIR_NAME,
		projectTrusted: host.isProjectTrusted,
		environment: process.env,
	});
	const { logPath } = config.current();
	const log = createLog({ path: logPath, debug: () => config.current().debug, now: () => new Date() });
	const timeline = new Timeline(replayCall);
	return {
		timeline,
		archive: createArchive(timeline),
		config,
		log,
		sidecar: createSidecarStore((problem) => log.warn("sidecar", { problem })),
		savedState: undefined,
		shownNudge: undefined,
		noticed: new Set(),
	};
}
