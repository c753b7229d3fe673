import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Sessions } from "../session.ts";
import { acpStatusTool } from "./acp-status.ts";
import { compressTool } from "./compress.ts";
import { decompressTool } from "./decompress.ts";
import { searchContextTool } from "./search-context.ts";

/**
 * Registers the tools, once per extension instance: late, so that a name another extension owns is no conflict, and
 * none where compress is another extension's, since Pi would let the one loaded first win.
 */
export function createTools(pi: ExtensionAPI, sessions: Sessions): { register(ctx: ExtensionContext): void } {
	let isRegistered = false;
	return {
		register(ctx) {
			if (isRegistered) return;
			const { config, owner } = sessions.at(ctx);
			if (!config.enabled || owner === "another extension's") return;
			isRegistered = true;
			pi.registerTool(compressTool(sessions));
			pi.registerTool(decompressTool(sessions));
			pi.registerTool(searchContextTool(sessions));
			pi.registerTool(acpStatusTool(sessions));
		},
	};
}
