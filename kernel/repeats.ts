import { readCompressArguments } from "./arguments.ts";
import { canonicalJson } from "./json.ts";
import type { Branch, BranchRecord } from "./timeline.ts";

/** How many calls since the user's last message asked the same of a tool and were refused. */
export function refusedBefore(branch: Branch, name: string, args: unknown): number {
	const asked = whatIsAsked(name, args);
	const refused = resultsOfTurn(branch).filter(({ message }) => message?.isError === true);
	return refused.filter(({ call }) => call?.name === name && whatIsAsked(name, call.arguments) === asked).length;
}

/** How many calls right before, of one tool and nothing else, had arguments that `isSame` finds to be the same. */
export function askedInRow(branch: Branch, name: string, isSame: (args: unknown) => boolean): number {
	const results = resultsOfTurn(branch);
	const end = results.findIndex(({ call }) => call?.name !== name);
	return results.slice(0, end < 0 ? results.length : end).filter(({ call }) => isSame(call?.arguments)).length;
}

/** Ranges that are refused are refused in other words, too: of compress only the boundaries count. */
function whatIsAsked(name: string, args: unknown): string {
	const read = name === "compress" ? readCompressArguments(args) : undefined;
	if (read === undefined || "problem" in read) return canonicalJson(args);
	return canonicalJson(read.ranges.map(({ startId, endId }) => [startId, endId]));
}

/** The results since the user's last message, newest first. */
function resultsOfTurn(branch: Branch): readonly BranchRecord[] {
	const results: BranchRecord[] = [];
	for (let ordinal = branch.lastOrdinal; ordinal > 0; ordinal--) {
		const record = branch.message(ordinal);
		const role = record?.message?.role;
		if (role === "user") break;
		if (record !== undefined && role === "toolResult") results.push(record);
	}
	return results;
}
