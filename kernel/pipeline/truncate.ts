import { isText, type Message, mapText, parts } from "../message.ts";
import { messageTokens } from "../meter.ts";
import type { LoggedReduction, Operation } from "../operation.ts";
import { messageRef } from "../ref.ts";
import type { Reduction } from "../state.ts";
import { type Context, type EntryItem, type Stage, type View, viewTokens } from "../view.ts";

/** What a cut result keeps at each end. */
const keepChars = 2_000;

/** Cutting less than this gains too little to be worth a hole in the text. */
const leastTokens = 1_500;

/** What stands after the head of a text that is cut; another copy of us may have cut it already. */
const cutMark = "\n[… ";

/** Cuts what commits recorded as cut. */
export const truncate: Stage = (view, { branch }) => ({
	...view,
	items: view.items.map((item) => {
		if (item.kind !== "entry") return item;
		const reduction = branch.state.reductions.get(item.record.ordinal);
		return reduction?.rule === "truncate"
			? { ...item, message: cut(item.message, item.record.ordinal, reduction) }
			: item;
	}),
});

/**
 * The cuts that bring a view under a limit, largest tool result first; undefined if it fits or nothing can be cut.
 * Cuts are recorded once and hold from then on, so that the view stays a prefix of the next one.
 */
export function planTruncation(view: View, { branch }: Context, limitTokens: number): Operation | undefined {
	let sizeTokens = viewTokens(view);
	if (sizeTokens <= limitTokens) return undefined;
	const reductions: LoggedReduction[] = [];
	for (const item of view.items.filter(isCuttable).toSorted((a, b) => b.sizeTokens - a.sizeTokens)) {
		if (sizeTokens <= limitTokens) break;
		const { record } = item;
		if (branch.state.reductions.has(record.ordinal)) continue;
		const keptTokens = messageTokens(cut(item.message, record.ordinal, { keepChars }));
		const savedTokens = item.sizeTokens - keptTokens;
		if (savedTokens <= 0) continue;
		sizeTokens -= savedTokens;
		reductions.push({ id: record.entry.id, ordinal: record.ordinal, rule: "truncate", keepChars, savedTokens });
	}
	return reductions.length === 0 ? undefined : { kind: "truncate", reductions, sizeTokens };
}

function isCuttable(item: View["items"][number]): item is EntryItem {
	return item.kind === "entry" && item.message.role === "toolResult" && item.sizeTokens >= leastTokens;
}

function cut(
	message: Message,
	ordinal: number,
	{ keepChars }: Pick<Extract<Reduction, { rule: "truncate" }>, "keepChars">,
) {
	const isLong = parts(message).some((part) => isText(part) && part.text.length > 2 * keepChars);
	if (!isLong) return message;
	return mapText(message, (text) => {
		if (text.length <= 2 * keepChars || text.startsWith(cutMark, keepChars)) return text;
		const left = text.length - 2 * keepChars;
		const hint = `${cutMark}${left} characters left out; decompress({ id: "${messageRef(ordinal)}" }) shows all …]`;
		return `${text.slice(0, keepChars)}${hint}\n${text.slice(-keepChars)}`.toWellFormed();
	});
}
