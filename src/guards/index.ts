import type {
	BeforeAgentStartEvent,
	ExtensionAPI,
	MessageStartEvent,
	ToolCallEvent,
	ToolExecutionEndEvent,
	ToolResultEvent,
} from "@earendil-works/pi-coding-agent";
import { guard } from "../hooks/guard.ts";
import type { Sessions } from "../session.ts";
import { createBashTimeout } from "./bash-timeout.ts";
import { capOutput } from "./output-cap.ts";
import { createRepetition } from "./repetition.ts";

/**
 * Registers what protects a session against failures of tools. Calls are compared before they are completed, and
 * results cut before they get notes.
 */
export function registerGuards(pi: ExtensionAPI, sessions: Sessions): void {
	const guarded = guard(sessions);
	const bashTimeout = createBashTimeout(sessions);
	const repetition = createRepetition(sessions);

	pi.on(
		"before_agent_start",
		guarded("repetition", (_event: BeforeAgentStartEvent, ctx) => repetition.onRunStart(ctx)),
	);
	pi.on(
		"message_start",
		guarded("repetition", (event: MessageStartEvent, ctx) => repetition.onMessageStart(event, ctx)),
	);
	pi.on(
		"tool_call",
		guarded("repetition", (event: ToolCallEvent, ctx) => repetition.onToolCall(event, ctx)),
	);
	pi.on(
		"tool_execution_end",
		guarded("repetition", (event: ToolExecutionEndEvent, ctx) => repetition.onExecutionEnd(event, ctx)),
	);
	pi.on(
		"tool_call",
		guarded("bash-timeout", (event: ToolCallEvent, ctx) => bashTimeout.onToolCall(event, ctx)),
	);
	pi.on(
		"tool_result",
		guarded("output-cap", (event: ToolResultEvent, ctx) => capOutput(sessions, event, ctx)),
	);
	pi.on(
		"tool_result",
		guarded("bash-timeout", (event: ToolResultEvent) => bashTimeout.onToolResult(event)),
	);
	pi.on(
		"tool_result",
		guarded("repetition", (event: ToolResultEvent) => repetition.onToolResult(event)),
	);
}
