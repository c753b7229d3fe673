import type { Block } from "../block.ts";
import { blockAt } from "../state.ts";
import { blockItem, type Item, type Stage } from "../view.ts";

/** Puts each standing block in the place of its first message and leaves out the rest of what it covers. */
export const prune: Stage = (view, { branch }) => {
	if (view.standing.size === 0) return view;
	const shown = new Set<Block>();
	const items: Item[] = [];
	for (const item of view.items) {
		const block = item.kind === "entry" ? blockAt(branch.state, item.record.ordinal) : undefined;
		if (block === undefined || !view.standing.has(block)) items.push(item);
		else if (!shown.has(block)) {
			shown.add(block);
			items.push(blockItem(block));
		}
	}
	return { ...view, items };
};
