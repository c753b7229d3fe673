import { Chain } from "../chain.ts";
import type { Message } from "../message.ts";
import type { BranchRecord } from "../timeline.ts";
import { failureOf } from "./overflow.ts";
import { reportedTokens } from "./usage.ts";

/** What the answers and failures on a branch say of the window of one model. */
export interface WindowEvidence {
	/** The largest request that succeeded. */
	readonly largestTokens: number;
	/** The last refusal that said the request was too large. */
	readonly overflow: Overflow | undefined;
	/** The second of two failures in a row that may have been overflows. */
	readonly guess: Lesson | undefined;
	/** Failures since the last success that may have been overflows. */
	readonly suspects: number;
}

/** A failure that teaches something, and the largest request that succeeded after it. */
export interface Lesson {
	readonly record: BranchRecord;
	readonly sinceTokens: number;
}

/** A refusal for size, and what its text says. */
export interface Overflow extends Lesson {
	readonly limitTokens: number | undefined;
	readonly requestedTokens: number | undefined;
}

/** By model, as `modelKey` names it. */
export type Evidence = Chain<string, WindowEvidence>;

export const noEvidence: Evidence = Chain.empty();

const nothingYet: WindowEvidence = { largestTokens: 0, overflow: undefined, guess: undefined, suspects: 0 };

/** So many failures in a row make a guess: one may be an accident of the network. */
const suspectsForGuess = 2;

/** The model that gave an answer; undefined for whatever is none. */
export function modelKey({ role, provider, model }: Message): string | undefined {
	return role === "assistant" && model !== undefined ? `${provider ?? ""}/${model}` : undefined;
}

/** The least size of a request that was refused for its size, if the refusal names one. */
export function refusedTokens({ evidence, message }: BranchRecord): number | undefined {
	const key = message && modelKey(message);
	const overflow = key === undefined ? undefined : evidence.get(key)?.overflow;
	return overflow?.record.message === message ? (overflow?.requestedTokens ?? overflow?.limitTokens) : undefined;
}

/** The evidence after one more message. */
export function evidenceAfter(all: Evidence, record: BranchRecord): Evidence {
	const { message } = record;
	const key = message && modelKey(message);
	if (message === undefined || key === undefined) return all;
	const before = all.get(key) ?? nothingYet;
	const after = message.stopReason === "error" ? afterFailure(before, record, message) : afterAnswer(before, message);
	return after === before ? all : all.with(key, after);
}

function afterFailure(before: WindowEvidence, record: BranchRecord, message: Message): WindowEvidence {
	const failure = failureOf(message.errorMessage ?? "");
	switch (failure?.kind) {
		case "overflow": {
			const { limitTokens, requestedTokens } = failure;
			const overflow = { record, limitTokens, requestedTokens, sinceTokens: 0 };
			return { ...before, overflow, guess: undefined, suspects: 0 };
		}
		case "suspect": {
			const suspects = before.suspects + 1;
			if (suspects !== suspectsForGuess) return { ...before, suspects };
			return { ...before, guess: { record, sinceTokens: 0 }, suspects };
		}
		default:
			return before;
	}
}

function afterAnswer(before: WindowEvidence, message: Message): WindowEvidence {
	if (message.stopReason === "aborted") return before;
	const sizeTokens = reportedTokens(message) ?? 0;
	const largestTokens = Math.max(before.largestTokens, sizeTokens);
	const overflow = before.overflow && afterSuccess(before.overflow, sizeTokens);
	const guess = before.guess && afterSuccess(before.guess, sizeTokens);
	const isNews =
		largestTokens > before.largestTokens ||
		overflow !== before.overflow ||
		guess !== before.guess ||
		before.suspects > 0;
	return isNews ? { largestTokens, overflow, guess, suspects: 0 } : before;
}

function afterSuccess<T extends Lesson>(lesson: T, sizeTokens: number): T {
	return sizeTokens > lesson.sinceTokens ? { ...lesson, sinceTokens: sizeTokens } : lesson;
}
