import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Sessions } from "../session.ts";
import { acpStatusTool } from "./acp-status.ts";
import { compressTool } from "./compress.ts";
import { decompressTool } from "./decompress.ts";
import { searchContextTool } from "./search-context.ts";

/**
 * Registers the tools, once per extension instance: late, so that a name another extension owns is no conflict, and
 * none while we stand down, since what the model is offered then is the business of whoever manages the context.
 */
export function createTools(pi: ExtensionAPI, sessions: Sessions): { register(ctx: ExtensionContext): void } {
	let isRegistered = false;
	return {
		register(ctx) {
			if (isRegistered) return;
			if (!sessions.at(ctx).mayFold) return;
			isRegistered = true;
			pi.registerTool(compressTool(sessions));
			pi.registerTool(decompressTool(sessions));
			pi.registerTool(searchContextTool(sessions));
			pi.registerTool(acpStatusTool(sessions));
		},
	};
}
