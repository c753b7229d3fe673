import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Words } from "../../kernel/index.ts";
import type { Sessions } from "../session.ts";
import { acpStatusTool } from "./acp-status.ts";
import { compressTool } from "./compress.ts";
import { decompressTool } from "./decompress.ts";
import { searchContextTool } from "./search-context.ts";

/**
 * Registers the tools, and again where other words describe them: late, so that a name another extension owns is no
 * conflict, and none while we stand down, since what the model is offered then is the business of whoever manages the
 * context.
 */
export function createTools(pi: ExtensionAPI, sessions: Sessions): { register(ctx: ExtensionContext): void } {
	let registered = "";
	return {
		register(ctx) {
			const { mayFold, config } = sessions.at(ctx);
			const described = descriptionsIn(config.words);
			if (!mayFold || described === registered) return;
			registered = described;
			pi.registerTool(compressTool(sessions, config.words));
			pi.registerTool(decompressTool(sessions, config.words));
			pi.registerTool(searchContextTool(sessions, config.words));
			pi.registerTool(acpStatusTool(sessions, config.words));
		},
	};
}

/** Equal where the tools are described alike. */
function descriptionsIn(words: Words): string {
	return JSON.stringify(Object.entries(words).filter(([key]) => /^(tools|parameters)\./.test(key)));
}
