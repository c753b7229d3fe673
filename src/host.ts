import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import type { Entry } from "../kernel/index.ts";
import { entryFromPi } from "./transcript/from-pi.ts";

/** What we use of Pi's context, narrowed once. Throws like the context itself when the session was replaced. */
export interface Host {
	readonly sessionId: string;
	/** Undefined for sessions that live in memory only. */
	readonly sessionFile: string | undefined;
	/** The log this session was forked from, if it was. */
	readonly parentSession: string | undefined;
	readonly cwd: string;
	readonly leafId: string | null;
	readonly model: HostModel | undefined;
	isProjectTrusted(): boolean;
	entry(id: string): Entry | undefined;
	/** Every entry of the file, all branches, by its place in the tree. */
	links(): readonly { readonly id: string; readonly parentId: string | null }[];
	notify(text: string, level: "info" | "warning" | "error"): void;
}

/** The model in use; figures are absent where it declares none. */
export interface HostModel {
	readonly provider: string;
	readonly id: string;
	readonly windowTokens: number | undefined;
	readonly answerMaxTokens: number | undefined;
}

export function hostOf(ctx: ExtensionContext): Host {
	const { sessionManager, model } = ctx;
	return {
		sessionId: sessionManager.getSessionId(),
		sessionFile: sessionManager.getSessionFile(),
		parentSession: sessionManager.getHeader()?.parentSession,
		cwd: ctx.cwd,
		leafId: sessionManager.getLeafId(),
		model: model && {
			provider: model.provider,
			id: model.id,
			// Only virtual models declare none; asking Pi instead walks the whole branch.
			windowTokens: model.contextWindow || ctx.getContextUsage()?.contextWindow,
			answerMaxTokens: model.maxTokens || undefined,
		},
		isProjectTrusted: () => ctx.isProjectTrusted(),
		entry(id) {
			const entry = sessionManager.getEntry(id);
			return entry && entryFromPi(entry);
		},
		links: () => sessionManager.getEntries(),
		notify: (text, level) => {
			if (ctx.hasUI) ctx.ui.notify(text, level);
			else process.stderr.write(`${text}\n`);
		},
	};
}

/** Whose the tool `compress` is, and whether the model is offered it. */
export type CompressOwner = "ours" | "ours, not in the loadout" | "another extension's";

/**
 * Finds the owner of `compress` by the identity of its parameters: Pi hands out the object it was given. A tool that
 * the user's list of tools leaves out is not there at all.
 */
export function compressOwner(pi: ExtensionAPI, parameters: object): CompressOwner {
	const tool = pi.getAllTools().find((each) => each.name === "compress");
	if (tool !== undefined && tool.parameters !== parameters) return "another extension's";
	return tool !== undefined && pi.getActiveTools().includes("compress") ? "ours" : "ours, not in the loadout";
}
