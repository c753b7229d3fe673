import { basename } from "node:path";
import type { ExtensionAPI } from "@earendil-works/pi-coding-agent";

/** Packages for Pi that fold, prune or summarise the context themselves. */
const packages =
	/^(billion-context(-pi)?|pi-(vcc|lcm|dcp|context|context-prune|context-plus|observational-memory)|lossless-claw|better-compact|magic-context(-pi)?)$/;

/** Names of tools that only such packages have. */
const tools = /^(acp_cache|lcm_\w+|vcc_recall|context_tree_query)$/;

interface Sourced {
	readonly name: string;
	readonly sourceInfo?: { readonly source?: string; readonly path?: string };
}

/**
 * Names other context managers by their tools, and by Pi's settings and commands, which are looked at once: they change
 * only when extensions are loaded anew.
 */
export function createRivals(pi: ExtensionAPI): { among(tools: readonly Sourced[]): readonly string[] } {
	let listed: readonly string[] | undefined;
	return {
		among(registered) {
			listed ??= [...installed(pi), ...pi.getCommands().flatMap(packageOf)];
			const found = registered.flatMap((tool) => {
				const [name] = packageOf(tool);
				return name ?? (tools.test(tool.name) ? `the extension with the tool ${tool.name}` : []);
			});
			return [...new Set([...listed, ...found])];
		},
	};
}

/** Packages and files of Pi's settings whose extensions are not switched off there. */
function installed(pi: ExtensionAPI): readonly string[] {
	const settings = pi.getSettings();
	const sources = (settings.packages ?? []).flatMap((each) => {
		if (typeof each === "string") return each;
		return each.extensions?.length === 0 ? [] : each.source;
	});
	return [...sources, ...(settings.extensions ?? [])].flatMap(known);
}

function packageOf({ sourceInfo }: Sourced): readonly string[] {
	const [, folder = ""] = /.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?([^\\/]+)/.exec(sourceInfo?.path ?? "") ?? [];
	return [sourceInfo?.source ?? "", folder].flatMap(known).slice(0, 1);
}

/** The known package a source means: `npm:pi-vcc@1.2.0`, `git:github.com/x/pi-vcc`, a path. */
function known(source: string): readonly string[] {
	const name = basename(source.replaceAll("\\", "/"))
		.replace(/^\w+:/, "")
		.replace(/(?<=.)@.*$/, "")
		.replace(/\.(git|[jt]s)$/, "");
	return packages.test(name) ? [name] : [];
}
