import type { Message } from "../message.ts";
import type { BranchRecord } from "../timeline.ts";
import type { Stage } from "../view.ts";

/** Marks what gets a tag. */
export const refs: Stage = (view, { isActive }) =>
	isActive
		? {
				...view,
				items: view.items.map((item) =>
					item.kind === "entry" && takesTag(item.record, item.message) ? { ...item, isTagged: true } : item,
				),
			}
		: view;

/** True for every counted message that reaches the wire as user or tool text. Assistants get no tag. */
export function takesTag({ isCounted }: BranchRecord, { role }: Message): boolean {
	return isCounted && role !== "assistant";
}
