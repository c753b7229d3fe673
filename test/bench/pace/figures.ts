import type { SessionEntry } from "@earendil-works/pi-coding-agent";
import { readMarked, type Voice } from "../../../kernel/operation.ts";
import { operationsIn, resultsIn } from "../../support/acp.ts";

/** A request counted by the provider, and its nudge. */
export interface CountedRequest {
	readonly sentTokens: number;
	readonly nudgeTokens: number;
}

/** What a run came to, in the provider's tokens. */
export interface Figures {
	readonly requests: number;
	readonly sentTokens: number;
	readonly meanTokens: number;
	readonly largestTokens: number;
	readonly folds: number;
	/** Of the folds those made by rules. */
	readonly ruleFolds: number;
	/** Times that texts were cut without a fold. */
	readonly cuts: number;
	/** Calls of our tools that were refused. */
	readonly refused: number;
	/** Calls that the repetition guard blocked. */
	readonly blocked: number;
	readonly nudges: Readonly<Record<Voice, number>>;
	readonly nudgeTokens: number;
	readonly nudgeShare: number;
}

const ourTools: readonly string[] = ["compress", "decompress", "search_context", "acp_status"];

/** What the branch, the requests and the log of the extension say of a run. */
export function figuresOf(branch: readonly SessionEntry[], seen: readonly CountedRequest[], log: string): Figures {
	const sentTokens = sum(seen.map((request) => request.sentTokens));
	const nudgeTokens = sum(seen.map((request) => request.nudgeTokens));
	const operations = operationsIn(branch).flatMap((op) => readMarked({ acp: 1, op }) ?? []);
	const results = resultsIn(branch).map((result) => ({ ...result, text: JSON.stringify(result.content) }));
	const blocked = results.filter(({ text }) => text.includes("Blocked: ")).length;
	const refused = results.filter(({ toolName, isError }) => isError && ourTools.includes(toolName)).length;
	const spoken = (voice: Voice) => log.split(` nudge=${voice} `).length - 1;
	return {
		requests: seen.length,
		sentTokens,
		meanTokens: sentTokens / seen.length,
		largestTokens: Math.max(...seen.map((request) => request.sentTokens)),
		folds: operations.filter(({ kind }) => kind === "fold").length,
		ruleFolds: operations.filter((op) => op.kind === "fold" && op.author === "rules").length,
		cuts: operations.filter(({ kind }) => kind === "truncate").length,
		refused,
		blocked,
		nudges: { soft: spoken("soft"), pressure: spoken("pressure"), emergency: spoken("emergency") },
		nudgeTokens,
		nudgeShare: nudgeTokens / sentTokens,
	};
}

function sum(numbers: readonly number[]): number {
	return numbers.reduce((total, number) => total + number, 0);
}
