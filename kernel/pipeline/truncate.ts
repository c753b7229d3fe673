import { collapseMessage } from "../degenerate.ts";
import type { Message } from "../message.ts";
import { cutMessage } from "../reduce.ts";
import type { Reduction } from "../state.ts";
import type { Stage } from "../view.ts";

function reduced(message: Message, ordinal: number, reduction: Reduction): Message {
	return reduction.rule === "truncate" ? cutMessage(message, ordinal, reduction.keepChars) : collapseMessage(message);
}

/** Shortens what commits recorded as shortened. */
export const truncate: Stage = (view, { branch }) => ({
	...view,
	items: view.items.map((item) => {
		if (item.kind !== "entry") return item;
		const reduction = branch.state.reductions.get(item.record.ordinal);
		if (reduction === undefined || reduction.rule === "hide") return item;
		return { ...item, message: reduced(item.message, item.record.ordinal, reduction) };
	}),
});
