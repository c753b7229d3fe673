import type { ExtensionContext } from "@earendil-works/pi-coding-agent";
import { foreignCalls, planTakeover, readForeignSidecar, type Takeover } from "../../kernel/index.ts";
import type { Sessions } from "../session.ts";
import { readForeign, sidecarPath } from "../store/sidecar.ts";

/**
 * Takes over the blocks another project made in a session that has none of ours: from its sidecar, or else from its calls
 * in the log. What could be located becomes one commit in the log, so that neither is needed again.
 */
export async function takeOver(sessions: Sessions, ctx: ExtensionContext): Promise<void> {
	const moment = sessions.at(ctx);
	const { branch, host, mayFold, session } = moment;
	if (!mayFold || branch.state.lastNumber > 0 || branch.lastOrdinal === 0) return;
	const path = sidecarPath(host);
	const listed = path === undefined ? undefined : readForeignSidecar(await readForeign(path));
	const foreign = listed ?? foreignCalls(branch);
	if (foreign.length === 0) return;
	const plan = planTakeover(branch, sessions.view(moment), foreign);
	session.log.info("takeover", { taken: plan.taken.join(" "), left: plan.left.join(" ") });
	sessions.notice(moment, noticeText(plan), "info");
	if (plan.operation !== undefined) await sessions.saveSidecar(sessions.commit(ctx, plan.operation));
}

function noticeText({ taken, left }: Takeover): string {
	const parts = [
		...(taken.length > 0
			? [`took over the folds ${taken.join(", ")} of another context extension; /acp undo takes that back`]
			: []),
		...(left.length > 0 ? [`${left.join(", ")} could not be located in this log and stay unfolded`] : []),
	];
	return `pi-billion-context: ${parts.join("; ")}.`;
}
