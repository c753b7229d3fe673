import type {
	ExtensionContext,
	MessageStartEvent,
	ToolCallEvent,
	ToolCallEventResult,
	ToolExecutionEndEvent,
	ToolResultEvent,
	ToolResultEventResult,
} from "@earendil-works/pi-coding-agent";
import { canonicalJson } from "../../kernel/index.ts";
import type { Session, Sessions } from "../session.ts";
import { withNote } from "./note.ts";

const warnAt = 3;
const blockAt = 5;

/** The identical calls at the end of what one session called. */
export class Streak {
	#call = "";
	#length = 0;

	/** Takes one more call; returns how many identical ones in a row it makes. */
	add(toolName: string, input: unknown): number {
		const call = canonicalJson([toolName, input]);
		this.#length = call === this.#call ? this.#length + 1 : 1;
		this.#call = call;
		return this.#length;
	}

	reset(): void {
		this.#length = 0;
	}
}

/**
 * Warns a model that makes the same call again and again, then blocks the call and ends the turn. Calls made by another
 * tool are not the model's and do not count.
 */
export function createRepetition(sessions: Sessions) {
	const streaks = new WeakMap<Session, Streak>();
	/** Arguments of the calls whose results get a warning: Pi gives the same object with the result. */
	const warned = new WeakSet<object>();
	/** Ids of the calls at work that Pi found fit to be made. */
	const made = new Set<string>();

	function streakOf(session: Session): Streak {
		const streak = streaks.get(session) ?? new Streak();
		streaks.set(session, streak);
		return streak;
	}

	return {
		onToolCall(event: ToolCallEvent, ctx: ExtensionContext): ToolCallEventResult | undefined {
			if (event.parentToolCallId !== undefined) return undefined;
			const { session, host, config } = sessions.at(ctx);
			const { toolName, input } = event;
			made.add(event.toolCallId);
			const length = streakOf(session).add(toolName, input);
			if (!config.enabled || !config.repetitionGuard) return undefined;
			if (length === warnAt) warned.add(input);
			if (length < blockAt) return undefined;
			session.log.warn("repetition", { tool: toolName, calls: length });
			if (length === blockAt) host.notify(notice(toolName), "warning");
			return { block: true, reason: blockReason(toolName, length), terminate: true };
		},
		onToolResult({ toolName, input, content = [] }: ToolResultEvent): ToolResultEventResult | undefined {
			return warned.has(input) ? { content: withNote(content, warning(toolName)) } : undefined;
		},
		/** A call that Pi refused before anybody was asked: no such tool, or arguments that cannot be read. */
		onExecutionEnd(event: ToolExecutionEndEvent, ctx: ExtensionContext): void {
			const { toolCallId, toolName, result, isError, parentToolCallId } = event;
			if (made.delete(toolCallId) || !isError || parentToolCallId !== undefined) return;
			const { session, host, config } = sessions.at(ctx);
			const length = streakOf(session).add(toolName, result);
			if (!config.enabled || !config.repetitionGuard || length !== blockAt) return;
			session.log.warn("repetition", { tool: toolName, calls: length });
			host.notify(notice(toolName), "warning");
			ctx.abort();
		},
		/** What a user says begins a new row, also in the middle of a run. */
		onMessageStart({ message }: MessageStartEvent, ctx: ExtensionContext): void {
			if (message.role === "user") streakOf(sessions.of(ctx)).reset();
		},
		/** A run begins a new row, whoever asked for it: another extension may have news each time. */
		onRunStart(ctx: ExtensionContext): void {
			streakOf(sessions.of(ctx)).reset();
		},
	};
}

/** What the third identical call is told. */
export function warning(toolName: string): string {
	return `[This was the third identical call of ${toolName} in a row. Use what it said or do something else; the fifth is blocked and ends the turn.]`;
}

/** What a blocked call is told. */
export function blockReason(toolName: string, calls: number): string {
	return `Blocked: ${toolName} was called ${calls} times in a row with the same arguments. Do something else, or tell the user what is in the way.`;
}

function notice(toolName: string): string {
	return `pi-billion-context blocked a call of ${toolName}, the fifth in a row with the same arguments, to end the turn. Tell the model how to go on.`;
}
