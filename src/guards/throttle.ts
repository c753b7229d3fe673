import type {
	AgentBeforeSettleEvent,
	BeforeAgentStartEvent,
	ExtensionAPI,
	ExtensionContext,
	InputEvent,
	SessionBeforeCompactEvent,
	TurnStartEvent,
} from "@earendil-works/pi-coding-agent";
import { type BranchRecord, failureOf } from "../../kernel/index.ts";
import { guard } from "../hooks/guard.ts";
import { continueWithout, lastAnswer } from "../hooks/settle.ts";
import type { Moment, Session, Sessions } from "../session.ts";
import { showStatusLine } from "../ui/status-line.ts";

/** How retries are paced. */
export interface ThrottlePace {
	readonly firstDelayMs: number;
	readonly maxDelayMs: number;
	readonly retries: number;
	/** Resolves after the delay, or as soon as the signal is aborted; a timer when not given. */
	readonly wait?: (delayMs: number, signal: AbortSignal) => Promise<void>;
}

const defaultPace: ThrottlePace = { firstDelayMs: 60_000, maxDelayMs: 300_000, retries: 10 };

/** What one session waits for. */
interface Episode {
	/** Retries since the last progress or word of the user. */
	retries: number;
	/** Waited before the next request; 0 for none. */
	delayMs: number;
	/** Ends the wait that goes on. */
	readonly ends: Set<AbortController>;
}

const throttled = /throttl|too many tokens,? please wait|tokens? (?:rate limit|(?:usage )?per[ -]min)|\btpm\b/i;

/** What no wait of minutes helps with: a plan is used up, or one request is more than the rate allows. */
const otherLimit =
	/quota|billing|\bcredits?\b|insufficient|per[ -](?:day|week|month)|daily|weekly|monthly|\btpd\b|too large/i;

/** True if an error text says that the provider limits tokens for a time; false for overflow, quota and billing. */
export function isThrottled(errorText: string): boolean {
	// Addresses name pages such as /billing for help.
	const text = errorText.slice(0, 8_000).replaceAll(/https?:\/\/\S+/g, "");
	return throttled.test(text) && !otherLimit.test(text) && failureOf(text) === undefined;
}

/**
 * Makes a request again where a token rate ended the run after Pi's own retries. The wait stands at the start of the next
 * turn, where Pi's abort ends it, and what the user says meanwhile goes out with the request. To be registered before what
 * answers compactions; who listens to answers and to settling calls `reset` and `onBeforeSettle` of what is returned.
 */
export function registerThrottle(pi: ExtensionAPI, sessions: Sessions, pace: ThrottlePace = defaultPace): Throttle {
	const guarded = guard(sessions);
	const throttle = new Throttle(sessions, pace);
	pi.on(
		"session_before_compact",
		guarded("throttle", (event: SessionBeforeCompactEvent, ctx) => throttle.onBeforeCompact(event, ctx)),
	);
	pi.on(
		"turn_start",
		guarded("throttle", (_event: TurnStartEvent, ctx) => throttle.onTurnStart(ctx)),
	);
	pi.on(
		"before_agent_start",
		guarded("throttle", (_event: BeforeAgentStartEvent, ctx) => throttle.reset(ctx)),
	);
	pi.on(
		"input",
		guarded("throttle", (event: InputEvent, ctx) => {
			if (event.source !== "extension") throttle.onInput(ctx);
		}),
	);
	pi.on(
		"session_shutdown",
		guarded("throttle", (_event, ctx) => throttle.reset(ctx)),
	);
	return throttle;
}

/** The retries of all sessions of an extension instance. */
export class Throttle {
	readonly #sessions: Sessions;
	readonly #pace: ThrottlePace;
	readonly #episodes = new WeakMap<Session, Episode>();

	constructor(sessions: Sessions, pace: ThrottlePace) {
		this.#sessions = sessions;
		this.#pace = pace;
	}

	/** Pi takes "too many tokens" for an overflow, unless the text begins as Bedrock's does. */
	onBeforeCompact({ reason }: SessionBeforeCompactEvent, ctx: ExtensionContext) {
		return reason === "overflow" && throttledAnswer(this.#sessions.at(ctx)) ? { cancel: true } : undefined;
	}

	onBeforeSettle(event: AgentBeforeSettleEvent, ctx: ExtensionContext) {
		const moment = this.#sessions.at(ctx);
		const failed = event.outcome === "error" ? throttledAnswer(moment) : undefined;
		// What the user said meanwhile is sent next, at once; where another handler goes on, it is its affair.
		if (failed === undefined || event.continue || ctx.hasPendingMessages()) return undefined;
		const { session, host } = moment;
		const reason = failed.message?.errorMessage;
		const episode = this.#episodeOf(session);
		if (episode.retries >= this.#pace.retries) {
			session.log.warn("throttle", { givesUpAfter: episode.retries, reason });
			host.notify(`pi-billion-context: still throttled after ${episode.retries} retries.`, "warning");
			return undefined;
		}
		episode.delayMs = Math.min(this.#pace.maxDelayMs, this.#pace.firstDelayMs * 2 ** episode.retries);
		episode.retries++;
		if (episode.retries === 1) host.notify(notice(this.#pace), "warning");
		session.log.warn("throttle", { retry: episode.retries, delayMs: episode.delayMs, reason });
		return continueWithout(event, failed);
	}

	async onTurnStart(ctx: ExtensionContext): Promise<void> {
		const { session, host, config } = this.#sessions.at(ctx);
		const episode = this.#episodeOf(session);
		const { delayMs, retries } = episode;
		if (delayMs === 0) return;
		episode.delayMs = 0;
		const end = new AbortController();
		episode.ends.add(end);
		const at = new Date(Date.now() + delayMs).toTimeString().slice(0, 8);
		if (config.ui.statusLine) host.setStatus(`acp throttled, retry ${retries}/${this.#pace.retries} at ${at}`);
		const { wait = pause } = this.#pace;
		await wait(delayMs, AbortSignal.any([end.signal, ctx.signal ?? end.signal]));
		episode.ends.delete(end);
		showStatusLine(this.#sessions, this.#sessions.at(ctx));
	}

	/** The user takes over: the wait ends as soon as Pi has the message, and retries begin anew. */
	onInput(ctx: ExtensionContext): void {
		for (const end of this.#begin(ctx).ends) {
			endOnceQueued(ctx, end).catch((error: unknown) => this.#sessions.report("throttle", error));
		}
	}

	reset(ctx: ExtensionContext): void {
		for (const end of this.#begin(ctx).ends) end.abort();
	}

	#begin(ctx: ExtensionContext): Episode {
		const episode = this.#episodeOf(this.#sessions.of(ctx));
		episode.retries = 0;
		episode.delayMs = 0;
		return episode;
	}

	#episodeOf(session: Session): Episode {
		const episode = this.#episodes.get(session) ?? { retries: 0, delayMs: 0, ends: new Set() };
		this.#episodes.set(session, episode);
		return episode;
	}
}

/** The failed answer at the end of the branch that a retry is for. */
function throttledAnswer(moment: Moment): BranchRecord | undefined {
	const { config } = moment;
	const failed = lastAnswer(moment);
	if (!config.enabled || !config.throttleRetry || failed?.message?.stopReason !== "error") return undefined;
	return isThrottled(failed.message.errorMessage ?? "") ? failed : undefined;
}

/** Pi puts what the user said into its queue when all who hear of it have answered; another extension may keep it. */
async function endOnceQueued(ctx: ExtensionContext, end: AbortController): Promise<void> {
	try {
		for (let tries = 0; tries < 100 && !ctx.hasPendingMessages(); tries++) await pause(10, end.signal);
	} finally {
		end.abort();
	}
}

function notice({ firstDelayMs, retries }: ThrottlePace): string {
	return `pi-billion-context: the provider throttles tokens; trying again in ${firstDelayMs / 1_000} seconds, then less often, at most ${retries} times; interrupt to stop.`;
}

function pause(delayMs: number, signal: AbortSignal): Promise<void> {
	return new Promise((resolve) => {
		if (signal.aborted) return resolve();
		const timer = setTimeout(resolve, delayMs);
		const end = () => {
			clearTimeout(timer);
			resolve();
		};
		signal.addEventListener("abort", end, { once: true });
	});
}
