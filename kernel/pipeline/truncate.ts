import { reductionsOf, shortenMessage } from "../reductions.ts";
import type { Stage } from "../view.ts";

/** Shortens what commits recorded as shortened. */
export const truncate: Stage = (view, { branch }) => ({
	...view,
	items: view.items.map((item) => {
		if (item.kind !== "entry") return item;
		const { message, record } = item;
		const shortened = shortenMessage(message, record.ordinal, reductionsOf(branch, record));
		return shortened === message ? item : { ...item, message: shortened };
	}),
});
