import type { Block } from "../block.ts";
import { formatSpans } from "../block.ts";
import { textOf, toolCalls } from "../message.ts";
import { blockRef, messageRef } from "../ref.ts";
import { blockAt } from "../state.ts";
import type { Branch, BranchRecord } from "../timeline.ts";
import { passageAround } from "./passage.ts";
import { termsOf } from "./terms.ts";

/** One place where something was found. */
export interface Hit {
	/** What opens it: a message or block ref. */
	readonly ref: string;
	/** Where it is: the block around a message, or what a block covers. */
	readonly place: string;
	readonly passage: string;
}

interface Scored {
	readonly hit: () => Hit;
	readonly score: number;
}

/** Blocks and folded messages that hold words of the query, those with the most of its words first. */
export function search(branch: Branch, query: string, limit: number): readonly Hit[] {
	const terms = [...new Set(termsOf(query))];
	if (terms.length === 0) return [];
	const scored: Scored[] = [];
	for (const block of branch.state.blocks.values()) {
		const text = `${block.topic ?? ""}\n${block.summary}`;
		scored.push({ score: scoreOf(text, terms) * blockWeight, hit: () => blockHit(block, text, terms) });
	}
	for (const record of branch.messages(1, branch.lastOrdinal)) {
		const block = blockAt(branch.state, record.ordinal);
		if (block === undefined) continue;
		const text = searchText(record);
		scored.push({ score: scoreOf(text, terms), hit: () => messageHit(record, block, text, terms) });
	}
	return scored
		.filter((each) => each.score > 0)
		.toSorted((a, b) => b.score - a.score)
		.slice(0, limit)
		.map((each) => each.hit());
}

/** A block's summary says in a few words what its messages say in many. */
const blockWeight = 1.2;

/** Distinct terms count whole, repetitions ever less. */
function scoreOf(text: string, terms: readonly string[]): number {
	const lower = text.toLowerCase();
	return terms.reduce((score, term) => {
		const count = lower.split(term).length - 1;
		return count === 0 ? score : score + 1 + Math.log(count) / 10;
	}, 0);
}

function searchText({ message }: BranchRecord): string {
	const calls = message === undefined ? [] : toolCalls(message);
	const texts = calls.map((call) => `${call.name} ${JSON.stringify(call.arguments)}`);
	return [message === undefined ? "" : textOf(message), ...texts].join("\n");
}

function blockHit(block: Block, text: string, terms: readonly string[]): Hit {
	return { ref: blockRef(block.number), place: formatSpans(block.spans), passage: passageAround(text, terms) };
}

function messageHit(record: BranchRecord, block: Block, text: string, terms: readonly string[]): Hit {
	return { ref: messageRef(record.ordinal), place: blockRef(block.number), passage: passageAround(text, terms) };
}
