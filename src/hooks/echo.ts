import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { resolve } from "node:path";
import type { ExtensionContext, MessageEndEvent, ToolCallEvent } from "@earendil-works/pi-coding-agent";
import { hasEcho, withoutEchoes, withoutLastEcho } from "../../kernel/index.ts";
import type { Sessions } from "../session.ts";

/** Tools whose arguments end up in files or in a shell. */
const writingTools: ReadonlySet<string> = new Set(["write", "edit", "bash"]);

/** Takes a tag that the model wrote at the end of its own text out of it before it is stored. Signed text stays. */
export function onMessageEnd(sessions: Sessions, { message }: MessageEndEvent, ctx: ExtensionContext) {
	if (message.role !== "assistant") return undefined;
	const last = message.content.findLastIndex((part) => part.type === "text");
	const part = message.content[last];
	if (part?.type !== "text" || part.textSignature || !hasEcho(part.text)) return undefined;
	const text = withoutLastEcho(part.text);
	const moment = sessions.at(ctx);
	if (text === part.text || text.trim() === "" || !moment.context.isActive) return undefined;
	moment.session.log.info("echo", { where: "text" });
	return { message: { ...message, content: message.content.with(last, { ...part, text }) } };
}

/** Takes tags out of what is written, edited or run, unless the file at hand holds a tag already. */
export function onToolCall(sessions: Sessions, event: ToolCallEvent, ctx: ExtensionContext): undefined {
	if (!writingTools.has(event.toolName) || !hasEcho(JSON.stringify(event.input))) return;
	const moment = sessions.at(ctx);
	if (!moment.context.isActive || holdsTag(ctx.cwd, event.input)) return;
	Object.assign(event.input, withoutEchoes(event.input));
	moment.session.log.info("echo", { where: event.toolName });
}

function holdsTag(cwd: string, input: object): boolean {
	const path = "path" in input && typeof input.path === "string" ? input.path : undefined;
	if (path === undefined) return false;
	try {
		return hasEcho(readFileSync(resolve(cwd, path.replace(/^~(?=\/)/, homedir())), "utf8"));
	} catch {
		// A file that is not there yet holds nothing.
		return false;
	}
}
