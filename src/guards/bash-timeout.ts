import {
	type ExtensionContext,
	isToolCallEventType,
	type ToolCallEvent,
	type ToolResultEvent,
	type ToolResultEventResult,
} from "@earendil-works/pi-coding-agent";
import type { Sessions } from "../session.ts";
import { withNote } from "./note.ts";

/** A default timeout for calls of `bash` that give none, and a hint on the results of those that ran into it. */
export function createBashTimeout(sessions: Sessions) {
	/** Arguments completed here: Pi gives the same object to the tool and, with the result, to us. */
	const completed = new WeakMap<object, number>();
	return {
		onToolCall(event: ToolCallEvent, ctx: ExtensionContext): undefined {
			if (!isToolCallEventType("bash", event) || event.input.timeout !== undefined) return;
			const { enabled, toolBashDefaultTimeout } = sessions.at(ctx).config;
			if (!enabled || toolBashDefaultTimeout === 0) return;
			event.input.timeout = toolBashDefaultTimeout;
			completed.set(event.input, toolBashDefaultTimeout);
		},
		onToolResult({ input, content, isError }: ToolResultEvent): ToolResultEventResult | undefined {
			const seconds = completed.get(input);
			if (seconds === undefined || !isError) return undefined;
			const last = content.findLast((part) => part.type === "text");
			if (last?.type !== "text" || !endsAsStopped(last.text, seconds)) return undefined;
			return { content: withNote(content, timeoutHint(seconds)) };
		},
	};
}

/** Whether the last line is the one by which Pi's bash says that it stopped the command. */
function endsAsStopped(text: string, seconds: number): boolean {
	return text.slice(text.lastIndexOf("\n") + 1).startsWith(`Command timed out after ${seconds} seconds`);
}

/** What a call is told that ran into the default timeout. */
export function timeoutHint(seconds: number): string {
	return `[The call gave no timeout, so the default of ${seconds} seconds ended it. Where a command needs longer, give timeout, in seconds.]`;
}
