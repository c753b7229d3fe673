import type { Block } from "../block.ts";
import { blockAt } from "../state.ts";
import type { Stage } from "../view.ts";

/** Finds the blocks that stand: those of whose messages the host still sends at least one. */
export const sync: Stage = (view, { branch }) => {
	const standing = new Set<Block>();
	for (const item of view.items) {
		const block = item.kind === "entry" ? blockAt(branch.state, item.record.ordinal) : undefined;
		if (block !== undefined) standing.add(block);
	}
	return { ...view, standing };
};
