import type {
	BeforeAgentStartEvent,
	BeforeProviderRequestEvent,
	ContextWithSystemEvent,
	ExtensionAPI,
	MessageEndEvent,
	SessionBeforeCompactEvent,
	ToolCallEvent,
} from "@earendil-works/pi-coding-agent";
import { acpCommand } from "./commands/acp.ts";
import { registerGuards } from "./guards/index.ts";
import { registerThrottle } from "./guards/throttle.ts";
import { type OnShown, registerBoundaries } from "./hooks/boundary.ts";
import { onBeforeProviderRequest } from "./hooks/cache-marker.ts";
import { onSessionBeforeCompact } from "./hooks/compaction.ts";
import { onContext } from "./hooks/context.ts";
import { onMessageEnd, onToolCall } from "./hooks/echo.ts";
import { guard } from "./hooks/guard.ts";
import { onSessionShutdown, onSessionStart } from "./hooks/lifecycle.ts";
import { onModelSelect } from "./hooks/model.ts";
import { onBeforeAgentStart } from "./hooks/prompt.ts";
import { onSettled } from "./hooks/settle.ts";
import { takeOver } from "./hooks/takeover.ts";
import { sayUpdate } from "./hooks/update.ts";
import { hostProblem } from "./host.ts";
import { createSessions, type Sessions } from "./session.ts";
import { createTools } from "./tools/index.ts";
import { showStatusLine } from "./ui/status-line.ts";

/** The extension: wires hooks, tools and commands. */
export default function piBillionContext(pi: ExtensionAPI): void {
	const sessions = createSessions(pi);
	const throttle = registerThrottle(pi, sessions);
	registerSession(pi, sessions);
	registerRequests(pi, sessions, registerBoundaries(pi, sessions, throttle));
	registerGuards(pi, sessions);
	pi.registerCommand("acp", acpCommand(sessions));
}

/** What happens to a session as a whole. */
function registerSession(pi: ExtensionAPI, sessions: Sessions): void {
	const tools = createTools(pi, sessions);
	const guarded = guard(sessions);
	pi.on(
		"session_start",
		guarded("session_start", async (_event, ctx) => {
			tools.register(ctx);
			onSessionStart(sessions, ctx);
			await takeOver(sessions, ctx);
			// Nobody waits for it, and where npm cannot be asked there is nothing to say.
			const { log } = sessions.of(ctx);
			sayUpdate(pi, sessions, ctx, Date.now()).catch((error: unknown) => log.info("update", { error: String(error) }));
		}),
	);
	pi.on(
		"session_tree",
		guarded("session_tree", async (_event, ctx) => {
			await takeOver(sessions, ctx);
			showStatusLine(sessions, sessions.at(ctx));
		}),
	);
	pi.on(
		"model_select",
		guarded("model_select", (_event, ctx) => onModelSelect(sessions, ctx)),
	);
	pi.on(
		"before_agent_start",
		guarded("before_agent_start", (event: BeforeAgentStartEvent, ctx) => {
			tools.register(ctx);
			onBeforeAgentStart(sessions, event, ctx);
		}),
	);
	pi.on(
		"session_before_compact",
		guarded(
			"compaction",
			(event: SessionBeforeCompactEvent, ctx) =>
				hostProblem(ctx) === undefined ? onSessionBeforeCompact(sessions, event, ctx) : undefined,
			// Pi's own summary of the raw log would overflow, or bury the blocks.
			{ cancel: true },
		),
	);
	pi.on(
		"session_shutdown",
		guarded("shutdown", (_event, ctx) => onSessionShutdown(sessions, ctx)),
	);
}

/** What happens around a request. */
function registerRequests(pi: ExtensionAPI, sessions: Sessions, onShown: OnShown): void {
	const guarded = guard(sessions);
	pi.on(
		"context_with_system",
		guarded("context", (event: ContextWithSystemEvent, ctx) => onContext(sessions, event, ctx, onShown)),
	);
	pi.on(
		"before_provider_request",
		guarded("marker", (event: BeforeProviderRequestEvent, ctx) => onBeforeProviderRequest(sessions, event, ctx)),
	);
	pi.on(
		"message_end",
		guarded("echo", (event: MessageEndEvent, ctx) => onMessageEnd(sessions, event, ctx)),
	);
	pi.on(
		"tool_call",
		guarded("echo", (event: ToolCallEvent, ctx) => onToolCall(sessions, event, ctx)),
	);
	pi.on(
		"agent_settled",
		guarded("settled", (_event, ctx) => onSettled(sessions, ctx)),
	);
}
