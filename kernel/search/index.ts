import { type Archive, addressOf, noArchive, whereabouts } from "../archive.ts";
import type { Block } from "../block.ts";
import { formatSpans } from "../block.ts";
import { textOf, toolCalls } from "../message.ts";
import { blockRef, messageRef } from "../ref.ts";
import { fullRecord } from "../restore.ts";
import { branchItems } from "../sent.ts";
import { blockAt } from "../state.ts";
import type { Branch, BranchRecord } from "../timeline.ts";
import { spentTools } from "../unit.ts";
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

/**
 * Blocks and folded messages that hold words of the query, those with the most of its words first; then whatever the
 * archive has beyond the current branch, by foreign refs.
 */
export function search(branch: Branch, query: string, limit: number, archive: Archive = noArchive): readonly Hit[] {
	const terms = [...new Set(termsOf(query))];
	if (terms.length === 0) return [];
	const scored = [...searchBranch(branch, terms), ...searchArchive(branch, terms, archive)];
	return scored
		.filter((each) => each.score > 0)
		.toSorted((a, b) => b.score - a.score)
		.slice(0, limit)
		.map((each) => each.hit());
}

function searchBranch(branch: Branch, terms: readonly string[]): readonly Scored[] {
	const blocks = [...branch.state.blocks.values()].map((block) => {
		const text = blockSearchText(branch, block);
		const hit = () => ({
			ref: blockRef(block.number),
			place: formatSpans(block.spans),
			passage: passageAround(text, terms),
		});
		return { score: scoreOf(text, terms) * blockWeight, hit };
	});
	const inView = new Set(branchItems(branch).map((item) => (item.kind === "entry" ? item.record : undefined)));
	const messages = branch.messages(1, branch.lastOrdinal).flatMap((record) => {
		const block = blockAt(branch.state, record.ordinal);
		if (block === undefined && (inView.has(record) || isOwn(record))) return [];
		const text = searchText(record);
		const place = block === undefined ? "no longer sent" : blockRef(block.number);
		const hit = () => ({ ref: messageRef(record.ordinal), place, passage: passageAround(text, terms) });
		return { score: scoreOf(text, terms), hit };
	});
	return [...blocks, ...messages];
}

/** Each entry once, although forks share most of theirs; the current branch's own are left to the search of it. */
function searchArchive(branch: Branch, terms: readonly string[], archive: Archive): readonly Scored[] {
	const seen = new Set<string>();
	const isNew = (entryId: string) => !seen.has(entryId) && seen.add(entryId).size > 0;
	for (let depth = 0; depth < branch.length; depth++) seen.add(branch.at(depth)?.entry.id ?? "");
	const made = new Set([...branch.state.blocks.values()].map((block) => block.madeBy));
	return archive.branches().flatMap((foreign) => {
		const place = whereabouts(foreign);
		const scored = (ref: string, entryId: string, text: string, weight: number) => ({
			score: scoreOf(text, terms) * weight,
			hit: () => ({ ref: `${ref}@${addressOf(foreign, entryId)}`, place, passage: passageAround(text, terms) }),
		});
		const blocks = [...foreign.branch.state.blocks.values()]
			.filter((block) => !made.has(block.madeBy) && isNew(`${block.madeBy} ${block.number}`))
			.map((block) =>
				scored(blockRef(block.number), block.madeBy, blockSearchText(foreign.branch, block), blockWeight),
			);
		const messages = foreign.branch
			.messages(1, foreign.branch.lastOrdinal)
			.filter((record) => isNew(record.entry.id))
			.map((record) => scored(messageRef(record.ordinal), record.entry.id, searchText(record), 1));
		return [...blocks, ...messages];
	});
}

/** Our own calls say nothing that is not found where it stands. */
function isOwn(record: BranchRecord): boolean {
	const calls = record.unit.message === undefined ? [] : toolCalls(record.unit.message);
	return calls.length > 0 && calls.every((call) => spentTools.has(call.name));
}

/** What the model wrote, and the record in full, whatever of it the block shows. */
function blockSearchText(branch: Branch, block: Block): string {
	const { topic, summary } = block;
	return [...(topic === undefined ? [] : [topic]), summary, fullRecord(branch, block)].join("\n");
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
