import type { Stage } from "../view.ts";

/** Marks what gets a tag: every counted message that reaches the wire as user or tool text. Assistants get none. */
export const refs: Stage = (view, { isActive }) =>
	isActive
		? {
				...view,
				items: view.items.map((item) =>
					item.kind === "entry" && item.record.isCounted && item.message.role !== "assistant"
						? { ...item, isTagged: true }
						: item,
				),
			}
		: view;
