import { type ExtensionAPI, type ExtensionContext, VERSION } from "@earendil-works/pi-coding-agent";
import type { Entry, ModelTraits } from "../kernel/index.ts";
import { createRivals } from "./rivals.ts";
import { entryFromPi } from "./transcript/from-pi.ts";

/**
 * What we use of Pi's context, narrowed once. Throws like the context itself when the session was replaced, and
 * UnsupportedHost where the host is not the Pi we know.
 */
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
	/** True where Pi runs one prompt and ends, so that its exit code is the answer to whoever called it. */
	readonly isOneShot: boolean;
	/** True if somebody may be looking: a terminal, or a program that shows what it is told. */
	readonly hasUI: boolean;
	notify(text: string, level: "info" | "warning" | "error"): void;
	/** Shows a text in the footer while the session is shown in a terminal; undefined takes it away. */
	setStatus(text: string | undefined): void;
}

/** The model in use. */
export interface HostModel extends ModelTraits {
	readonly provider: string;
	readonly id: string;
	/** True if requests go through a proxy that manages the context itself. */
	readonly isProxied: boolean;
}

/** Says what the host lacks that nothing here works without. */
export class UnsupportedHost extends Error {}

/** What we call on a session. Forks of Pi have renamed or dropped some of it. */
const sessionMethods = ["getSessionId", "getSessionFile", "getHeader", "getLeafId", "getEntry", "getEntries"] as const;

/** Why we can do nothing on this host; undefined on Pi 1.0 and later. */
export function hostProblem({ sessionManager }: Pick<ExtensionContext, "sessionManager">): string | undefined {
	if (Number.parseInt(VERSION, 10) < 1) return `Pi ${VERSION} is older than 1.0`;
	const missing = sessionMethods.find((name) => typeof sessionManager?.[name] !== "function");
	return missing && `this host lacks ${missing} of Pi's session API`;
}

/** The `api` of a model that sends each request to another one; Pi then knows the limits of the one that answered last. */
const virtualApi = "pi-virtual";

/** Providers that limit the answer apart from the window: their requests may fill it. */
const separateAnswerApis: ReadonlySet<string> = new Set([
	"anthropic-messages",
	"google-generative-ai",
	"google-vertex",
]);

/** The name of our line in the footer. */
const statusKey = "acp";

/** A segment of the path by which such proxies are told from others. */
const proxyPath = /^\w+:\/\/[^/?#]+(?:\/[^?#]*)?\/bili(?:[/?#]|$)/;

export function hostOf(ctx: ExtensionContext): Host {
	const { sessionManager, model } = ctx;
	const problem = hostProblem(ctx);
	if (problem !== undefined) throw new UnsupportedHost(problem);
	return {
		sessionId: sessionManager.getSessionId(),
		sessionFile: sessionManager.getSessionFile(),
		parentSession: sessionManager.getHeader()?.parentSession,
		cwd: ctx.cwd,
		hasUI: ctx.hasUI,
		isOneShot: ctx.mode === "print" || ctx.mode === "json",
		leafId: sessionManager.getLeafId(),
		model: model && modelOf(model, () => ctx.getContextUsage()?.contextWindow),
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
		setStatus: (text) => {
			if (ctx.hasUI) ctx.ui.setStatus(statusKey, text);
		},
	};
}

function modelOf(model: NonNullable<ExtensionContext["model"]>, routedTokens: () => number | undefined): HostModel {
	const { provider, id, api } = model;
	const isVirtual = api === virtualApi;
	return {
		provider,
		id,
		isProxied: proxyPath.test(model.baseUrl ?? "") || Boolean(process.env.BILLION_CONTEXT_PROXY),
		key: isVirtual ? undefined : `${provider}/${id}`,
		// Asking Pi walks the whole branch, so only where the model itself cannot tell.
		windowTokens: (isVirtual ? routedTokens() : undefined) || model.contextWindow || undefined,
		answerMaxTokens: model.maxTokens || undefined,
		countsAnswer: !separateAnswerApis.has(api),
		takesImages: model.input?.includes("image") ?? true,
		needsAlternation: asksForAlternation(model.compat),
	};
}

/** Servers whose chat templates refuse a user message right after a tool result are declared so in models.json. */
function asksForAlternation(compat: object | undefined): boolean {
	return (
		compat !== undefined &&
		"requiresAssistantAfterToolResult" in compat &&
		compat.requiresAssistantAfterToolResult === true
	);
}

/** Whose the tool `compress` is, and whether the model is offered it; or who manages the context beside it. */
export type CompressOwner =
	| "ours"
	| "ours, not in the loadout"
	| "another extension's"
	| "another manager's"
	| "a proxy's";

/** Who folds, and if it is not us, why we stand down. */
export interface Ownership {
	readonly owner: CompressOwner;
	readonly standsDown: string | undefined;
}

/** Tells at each moment who folds; `isOurs` knows the parameters of our compress. */
export function createOwnership(pi: ExtensionAPI, isOurs: (parameters: object) => boolean): (host: Host) => Ownership {
	const rivals = createRivals(pi);
	return (host) => {
		const tools = pi.getAllTools();
		const owner = compressOwner(pi, isOurs, tools);
		if (owner === "another extension's") return { owner, standsDown: "another extension owns compress" };
		if (host.model?.isProxied) return { owner: "a proxy's", standsDown: "a proxy manages the context" };
		const names = rivals.among(tools);
		if (names.length === 0) return { owner, standsDown: undefined };
		return { owner: "another manager's", standsDown: `${names.join(", ")} manages the context` };
	};
}

/**
 * Finds the owner of `compress` by the identity of its parameters: Pi hands out the object it was given. A tool that
 * the user's list of tools leaves out is not there at all.
 */
export function compressOwner(
	pi: ExtensionAPI,
	isOurs: (parameters: object) => boolean,
	tools = pi.getAllTools(),
): CompressOwner {
	const tool = tools.find((each) => each.name === "compress");
	if (tool !== undefined && !isOurs(tool.parameters)) return "another extension's";
	return tool !== undefined && pi.getActiveTools().includes("compress") ? "ours" : "ours, not in the loadout";
}
