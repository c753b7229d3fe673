import { type Block, covers, formatSpans } from "./block.ts";
import type { Operation } from "./operation.ts";
import type { Problem } from "./problem.ts";
import { blockRef, formatRef, messageRef, parseRef } from "./ref.ts";
import { planUnfold } from "./restore.ts";
import { branchItems } from "./sent.ts";
import { blockAt, type Shape, type State } from "./state.ts";
import type { Branch, BranchRecord } from "./timeline.ts";
import { savedBy, type View, viewTokens } from "./view.ts";

/** An operation the user asked for, and what it does in a sentence. */
export interface Planned {
	readonly operation: Operation;
	readonly text: string;
}

/** Takes back the last commit or, given a block in view, opens that block. `view` is what stands now. */
export function planUndo(branch: Branch, view: View, id: string | undefined): Planned | Problem {
	if (id !== undefined) return planOpen(branch, view, id);
	const { state } = branch;
	return state.undoable === undefined ? { code: "nothingToUndo" } : planMove(state, view, "undo", state.undoable.shape);
}

/** Does again what the last undo took back. */
export function planRedo({ state }: Branch, view: View): Planned | Problem {
	return state.redoable === undefined ? { code: "nothingToRedo" } : planMove(state, view, "redo", state.redoable.shape);
}

/** Keeps a message in view, with all of its unit, whatever is folded around it; or lets go of it again. */
export function planPin(branch: Branch, kind: "pin" | "unpin", id: string): Planned | Problem {
	const ref = parseRef(id);
	if (ref?.kind !== "message") return { code: "unreadableRef", text: id };
	const record = branch.message(ref.number);
	if (record === undefined || ref.at !== undefined) {
		return { code: "unknownMessage", ref: formatRef(ref), last: branch.lastOrdinal };
	}
	const { unit } = record;
	const name = messageRef(record.ordinal);
	const problem = kind === "pin" ? whyNotPin(branch, unit, name) : whyNotUnpin(branch.state, unit, name);
	if (problem !== undefined) return problem;
	const text = kind === "pin" ? `${name} stays in view until /acp unpin ${name}.` : `${name} may be folded again.`;
	return { operation: { kind, message: { id: unit.entry.id, ordinal: unit.ordinal } }, text };
}

function whyNotPin(branch: Branch, unit: BranchRecord, name: string): Problem | undefined {
	const block = blockAt(branch.state, unit.ordinal);
	if (block !== undefined) return { code: "alreadyFolded", range: name, block: block.number };
	const isInView = branchItems(branch).some((item) => item.kind === "entry" && item.record === unit);
	return isInView ? undefined : { code: "notInView", range: name };
}

function whyNotUnpin({ pins }: State, unit: BranchRecord, name: string): Problem | undefined {
	return pins.has(unit.ordinal) ? undefined : { code: "notPinned", ref: name };
}

function planOpen(branch: Branch, view: View, id: string): Planned | Problem {
	const plan = planUnfold(branch, view, id);
	if ("code" in plan) return plan;
	return { operation: plan.operation, text: `Opened ${blockRef(plan.block.number)}; back in view: ${plan.back}.` };
}

/** Goes to another shape, unless a block that comes back would fold what was pinned since. */
function planMove(now: State, view: View, kind: "undo" | "redo", then: Shape): Planned | Problem {
	const gone = now.tops.filter((block) => !then.tops.includes(block));
	const back = then.tops.filter((block) => !now.tops.includes(block));
	for (const ordinal of now.pins) {
		const block = back.find((each) => covers(each, ordinal));
		if (block !== undefined) return { code: "pinned", ref: messageRef(ordinal), block: block.number };
	}
	const sizeTokens = Math.max(0, viewTokens(view) + savedBy(gone) - savedBy(back));
	const words = kind === "undo" ? "Taken back" : "Done again";
	return { operation: { kind, sizeTokens }, text: `${words}: ${difference(gone, back)}` };
}

function difference(gone: readonly Block[], back: readonly Block[]): string {
	const parts = [
		...(gone.length > 0 ? [`${gone.map(named).join(", ")} no longer folded`] : []),
		...(back.length > 0 ? [`${back.map(named).join(", ")} folded again`] : []),
	];
	return `${parts.length > 0 ? parts.join("; ") : "cuts of tool results"}.`;
}

function named(block: Block): string {
	return `${blockRef(block.number)} (${formatSpans(block.spans)})`;
}
