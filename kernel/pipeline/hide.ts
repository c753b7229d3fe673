import { isHidden } from "../state.ts";
import type { Stage } from "../view.ts";

/** Leaves out the units that a commit recorded as spent, whole. */
export const hide: Stage = (view, { branch }) => ({
	...view,
	items: view.items.filter((item) => item.kind !== "entry" || !isHidden(branch.state, item.record.unit)),
});
