import type { ExtensionCommandContext } from "@earendil-works/pi-coding-agent";
import type { Sessions } from "../session.ts";
import { describeStatus, statusViews } from "../tools/acp-status.ts";

const help = [
	"/acp           how full the context is, and what can be folded",
	"/acp blocks    the blocks in view",
	"/acp ranges    what the model could fold now",
	"/acp messages  the messages and blocks in view, with their sizes",
].join("\n");

const limitLines = 40;

/** `/acp [view]`: the status, in the words the model gets. */
export function acpCommand(sessions: Sessions) {
	return {
		description: "Context folding: status, blocks, ranges, messages",
		getArgumentCompletions: (prefix: string) =>
			statusViews.filter((view) => view.startsWith(prefix)).map((view) => ({ value: view, label: view })),
		async handler(args: string, ctx: ExtensionCommandContext): Promise<void> {
			const moment = sessions.at(ctx);
			const asked = args.trim() || "overview";
			const view = statusViews.find((each) => each === asked);
			const text = view === undefined ? help : describeStatus(sessions, moment, view, limitLines);
			moment.host.notify(text, "info");
		},
	};
}
