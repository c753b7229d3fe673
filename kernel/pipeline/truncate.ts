import { cutMessage } from "../reduce.ts";
import type { Stage } from "../view.ts";

/** Cuts what commits recorded as cut. */
export const truncate: Stage = (view, { branch }) => ({
	...view,
	items: view.items.map((item) => {
		if (item.kind !== "entry") return item;
		const reduction = branch.state.reductions.get(item.record.ordinal);
		if (reduction?.rule !== "truncate") return item;
		return { ...item, message: cutMessage(item.message, item.record.ordinal, reduction.keepChars) };
	}),
});
