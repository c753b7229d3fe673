import type {
	BeforeAgentStartEvent,
	ContextWithSystemEvent,
	ExtensionAPI,
	SessionBeforeCompactEvent,
	TurnEndEvent,
} from "@earendil-works/pi-coding-agent";
import { acpCommand } from "./commands/acp.ts";
import { onSessionBeforeCompact } from "./hooks/compaction.ts";
import { onContext } from "./hooks/context.ts";
import { guard } from "./hooks/guard.ts";
import { onSessionShutdown, onSessionStart, onTurnEnd } from "./hooks/lifecycle.ts";
import { onBeforeAgentStart } from "./hooks/prompt.ts";
import { takeOver } from "./hooks/takeover.ts";
import { createSessions } from "./session.ts";
import { createTools } from "./tools/index.ts";

/** The extension: wires hooks, tools and commands. */
export default function piBillionContext(pi: ExtensionAPI): void {
	const sessions = createSessions(pi);
	const tools = createTools(pi, sessions);
	const guarded = guard(sessions);

	pi.on(
		"session_start",
		guarded("session_start", async (_event, ctx) => {
			tools.register(ctx);
			onSessionStart(sessions, ctx);
			await takeOver(sessions, ctx);
		}),
	);
	pi.on(
		"session_tree",
		guarded("session_tree", (_event, ctx) => takeOver(sessions, ctx)),
	);
	pi.on(
		"before_agent_start",
		guarded("before_agent_start", (event: BeforeAgentStartEvent, ctx) => {
			tools.register(ctx);
			onBeforeAgentStart(sessions, event, ctx);
		}),
	);
	pi.on(
		"context_with_system",
		guarded("context", (event: ContextWithSystemEvent, ctx) => onContext(sessions, event, ctx)),
	);
	pi.on(
		"turn_end",
		guarded("turn_end", (event: TurnEndEvent, ctx) => onTurnEnd(sessions, event, ctx)),
	);
	pi.on(
		"session_before_compact",
		guarded("compaction", (event: SessionBeforeCompactEvent, ctx) => onSessionBeforeCompact(sessions, event, ctx)),
	);
	pi.on(
		"session_shutdown",
		guarded("shutdown", (_event, ctx) => onSessionShutdown(sessions, ctx)),
	);
	pi.registerCommand("acp", acpCommand(sessions));
}
