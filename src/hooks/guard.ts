import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Sessions } from "../session.ts";

/** Wraps the work of a hook: whatever it throws becomes a line in the log, and Pi goes on with `otherwise`: as if we were not there. */
export function guard(sessions: Sessions) {
	return <Event, Answer>(
		scope: string,
		work: (event: Event, ctx: ExtensionContext) => Answer | Promise<Answer>,
		otherwise?: Answer,
	) =>
		async (event: Event, ctx: ExtensionContext): Promise<Answer | undefined> => {
			try {
				return await work(event, ctx);
			} catch (error) {
				sessions.report(scope, error);
				return otherwise;
			}
		};
}
