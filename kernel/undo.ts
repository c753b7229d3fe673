import { type Block, formatSpans } from "./block.ts";
import type { Operation } from "./operation.ts";
import type { Problem } from "./problem.ts";
import { blockRef, formatRef, messageRef, parseRef } from "./ref.ts";
import { planUnfold } from "./restore.ts";
import { blockAt, type State } from "./state.ts";
import type { Branch } from "./timeline.ts";

/** An operation the user asked for, and what it does in a sentence. */
export interface Planned {
	readonly operation: Operation;
	readonly text: string;
}

/** Takes back the last commit or, given a block in view, opens that block. */
export function planUndo(branch: Branch, id: string | undefined): Planned | Problem {
	if (id !== undefined) return planOpen(branch, id);
	const { state } = branch;
	if (state.undoable === undefined) return { code: "nothingToUndo" };
	return { operation: { kind: "undo" }, text: `Taken back: ${difference(state, state.undoable.shape)}` };
}

/** Does again what the last undo took back. */
export function planRedo({ state }: Branch): Planned | Problem {
	if (state.redoable === undefined) return { code: "nothingToRedo" };
	return { operation: { kind: "redo" }, text: `Done again: ${difference(state, state.redoable.shape)}` };
}

/** Keeps a message in view whatever is folded around it, or lets go of it again. */
export function planPin(branch: Branch, kind: "pin" | "unpin", id: string): Planned | Problem {
	const ref = parseRef(id);
	if (ref?.kind !== "message") return { code: "unreadableRef", text: id };
	const record = branch.message(ref.number);
	if (record === undefined || ref.at !== undefined) {
		return { code: "unknownMessage", ref: formatRef(ref), last: branch.lastOrdinal };
	}
	const block = blockAt(branch.state, record.ordinal);
	const name = messageRef(record.ordinal);
	if (kind === "pin" && block !== undefined) return { code: "alreadyFolded", range: name, block: block.number };
	const text = kind === "pin" ? `${name} stays in view until /acp unpin ${name}.` : `${name} may be folded again.`;
	return { operation: { kind, message: { id: record.entry.id, ordinal: record.ordinal } }, text };
}

function planOpen(branch: Branch, id: string): Planned | Problem {
	const plan = planUnfold(branch, id);
	if ("code" in plan) return plan;
	const sizeTokens = (branch.state.baseTokens ?? 0) + plan.addedTokens;
	const operation: Operation = { kind: "unfold", block: plan.block.number, sizeTokens };
	return { operation, text: `Opened ${blockRef(plan.block.number)}; back in view: ${plan.back}.` };
}

function difference(now: State, then: Pick<State, "tops">): string {
	const gone = now.tops.filter((block) => !then.tops.includes(block));
	const back = then.tops.filter((block) => !now.tops.includes(block));
	const parts = [
		...(gone.length > 0 ? [`${gone.map(named).join(", ")} no longer folded`] : []),
		...(back.length > 0 ? [`${back.map(named).join(", ")} folded again`] : []),
	];
	return `${parts.length > 0 ? parts.join("; ") : "cuts of tool results"}.`;
}

function named(block: Block): string {
	return `${blockRef(block.number)} (${formatSpans(block.spans)})`;
}
