import { viewItems } from "../sent.ts";
import type { Branch } from "../timeline.ts";
import { type Context, type Item, type Stage, type View, viewOf } from "../view.ts";
import { filter } from "./filter.ts";
import { hide } from "./hide.ts";
import { nudge } from "./nudge.ts";
import { prune } from "./prune.ts";
import { recommend } from "./recommend.ts";
import { refs } from "./refs.ts";
import { sync } from "./sync.ts";
import { truncate } from "./truncate.ts";

/** The stages that decide what is in view, and those that add to it. */
const content: readonly Stage[] = [refs, sync, prune, filter, hide];
const advice: readonly Stage[] = [recommend, nudge, truncate];

/** The view of the outgoing messages: all eight stages. */
export function project(items: readonly Item[], context: Context): View {
	return run([...content, ...advice], viewOf(items), context);
}

/** The view a tool call is judged against: what the branch shows, without advice. */
export function standingView(branch: Branch, context: Omit<Context, "branch">): View {
	return run(content, viewOf(viewItems(branch, context.takesImages)), { ...context, branch });
}

/** A standing view with what could be folded in it, and whether a request with it would be nudged. */
export function advise(view: View, context: Context): View {
	return run([recommend, nudge], view, context);
}

function run(stages: readonly Stage[], view: View, context: Context): View {
	return stages.reduce((current, stage) => stage(current, context), view);
}
