import type { BeforeAgentStartEvent, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Sessions } from "../session.ts";
import { sayWarnings } from "./lifecycle.ts";

/** Name of our section of the system prompt. */
const sectionName = "context_folding";

/** Adds our section of the system prompt while folding is really ours; says once if it is not, and what acp.json got wrong. */
export function onBeforeAgentStart(sessions: Sessions, event: BeforeAgentStartEvent, ctx: ExtensionContext): void {
	const moment = sessions.at(ctx);
	sayWarnings(sessions, moment);
	const { section } = moment.config.words;
	if (moment.context.isActive && section !== "") event.systemPromptOptions.sections[sectionName] = section;
	if (moment.config.enabled && moment.standsDown !== undefined) {
		const text = `pi-billion-context stands down: ${moment.standsDown}. Existing folds stay folded; see /acp doctor.`;
		sessions.notice(moment, text, "warning");
	}
}
