import type { RecordedRequest, Reply, ScriptedCall } from "../support/provider.ts";
import { type Received, type Result, receive } from "./request.ts";
import { type Move, summaryOf, turns, type Work } from "./scenario.ts";

/** What happens in the session, in order, as the provider sees it. */
export type Event =
	| { readonly kind: "prompt"; readonly text: string }
	| { readonly kind: "says"; readonly text: string }
	| { readonly kind: "nudge"; readonly received: Received }
	| { readonly kind: "result"; readonly result: Result; readonly received: Received };

/** A model that plays the scenario: it answers what it is sent, and folds when a nudge asks for it. */
export interface ScriptedModel {
	/** Everything it was sent, request by request. */
	readonly received: readonly Received[];
	readonly events: readonly Event[];
	/** Every tool result it ever got, by call id. */
	readonly results: ReadonlyMap<string, Result>;
	/** True once the last turn was answered. */
	readonly isDone: () => boolean;
	/** Why it could not go on by its script, if that happened. */
	readonly gaveUp: () => string | undefined;
	readonly reply: (request: RecordedRequest) => Reply;
}

/** How the model behaves. */
export interface ModelManner {
	/** How long it thinks before it answers. */
	readonly delayMs?: number;
	/** What it adds to its last answer, and says to whatever comes after the script. */
	readonly farewell?: string;
	/** Hears each event as it happens. */
	readonly onEvent?: (event: Event) => void;
}

/** A model that has not been sent anything yet. */
export function scriptedModel({ delayMs = 0, farewell, onEvent }: ModelManner): ScriptedModel {
	const received: Received[] = [];
	const events: Event[] = [];
	const results = new Map<string, Result>();
	const heard = new Set<string>();
	const works = new Map<number, Work>();
	let answered = 0;
	let failure: string | undefined;
	let lastCalls: string[] = [];

	function happen(event: Event): void {
		events.push(event);
		onEvent?.(event);
	}

	function hear(now: Received): void {
		for (const turn of turns.filter(({ prompt }) => now.prompts.includes(prompt) && !heard.has(prompt))) {
			heard.add(turn.prompt);
			happen({ kind: "prompt", text: turn.prompt });
		}
		for (const result of now.results) {
			if (results.has(result.call.id)) continue;
			results.set(result.call.id, result);
			happen({ kind: "result", result, received: now });
		}
		if (now.nudge !== undefined) happen({ kind: "nudge", received: now });
	}

	function next(now: Received): Move {
		const place = turns.findLastIndex((turn) => now.prompts.includes(turn.prompt));
		const turn = turns[place];
		if (turn === undefined || place < answered) return { say: farewell ?? "The script is over.", calls: [] };
		const fold = foldCall(now);
		if (fold !== undefined) return { calls: [fold] };
		let work = works.get(place);
		if (work === undefined) {
			work = turn.work();
			works.set(place, work);
		}
		const step = work.next(lastCalls.map((id) => results.get(id)?.text ?? ""));
		if (!step.done) return step.value;
		answered = place + 1;
		const isLast = answered === turns.length && farewell !== undefined;
		return { say: isLast ? `${step.value}\n\n${farewell}` : step.value, calls: [] };
	}

	function nextOrGiveUp(now: Received): Move {
		try {
			return next(now);
		} catch (error) {
			failure ??= error instanceof Error ? error.message : String(error);
			return { say: `I give up: ${failure}`, calls: [] };
		}
	}

	function reply(request: RecordedRequest): Reply {
		const now = receive(request);
		received.push(now);
		hear(now);
		const move = nextOrGiveUp(now);
		const toolCalls = move.calls.map((call, index) => ({ ...call, id: `call_${request.index}_${index}` }));
		// A fold comes between a move and the next one, which still has to see the results of the former.
		if (toolCalls.some((call) => call.name !== "compress")) lastCalls = toolCalls.map((call) => call.id);
		if (move.say !== undefined) happen({ kind: "says", text: move.say });
		return {
			...(move.say === undefined ? {} : { text: move.say }),
			toolCalls,
			usage: { promptTokens: now.sizeTokens },
			delayMs: request.index === 0 ? 0 : delayMs,
		};
	}

	return { received, events, results, isDone: () => answered === turns.length, gaveUp: () => failure, reply };
}

/** Folds what a nudge lists, each range with what is worth keeping of the results in it. */
function foldCall({ nudge, results }: Received): ScriptedCall | undefined {
	if (nudge === undefined || nudge.ranges.length === 0) return undefined;
	const content = nudge.ranges.map(({ startId, endId, from, to }) => ({
		startId,
		endId,
		...summaryOf(results.filter(({ ordinal }) => from <= ordinal && ordinal <= to)),
	}));
	return { name: "compress", arguments: { content } };
}
