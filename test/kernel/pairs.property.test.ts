import fc from "fast-check";
import { expect, test } from "vitest";
import { toolCalls } from "../../kernel/index.ts";
import { cutPoints, holds, play, scripts } from "../support/arbitraries.ts";
import { requestAt } from "../support/request.ts";

test("Whatever is left out, edited or folded, every result that is sent stands in the row behind the message of its call.", () => {
	let lone = 0;
	holds(
		20_261_140,
		fc.property(scripts, (script) => {
			for (const point of cutPoints(play(script))) {
				const { view, messages } = requestAt(point);
				let open: string[] = [];
				for (const [index, item] of view.items.entries()) {
					const message = messages[index] ?? item.message;
					const isUnsent = item.kind === "entry" && item.record.isSilent;
					if (message.role === "toolResult") {
						expect(open).toContain(message.toolCallId);
						open = open.filter((id) => id !== message.toolCallId);
					} else if (message.role === "assistant") {
						open = isUnsent ? [] : toolCalls(message).map((call) => call.id);
					} else if (!isUnsent && message.role !== "system") open = [];
					if (item.message.role === "toolResult" && message.role !== "toolResult") lone += 1;
				}
			}
		}),
	);
	expect(lone).toBeGreaterThan(20);
});
