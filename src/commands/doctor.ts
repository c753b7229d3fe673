import { accessSync, constants } from "node:fs";
import { dirname } from "node:path";
import { VERSION } from "@earendil-works/pi-coding-agent";
import type { Moment } from "../session.ts";
import { codeOf } from "../store/atomic.ts";
import { sidecarPath } from "../store/sidecar.ts";
import { version } from "../version.ts";

/** What was looked at, how it stands, and what to do about it; nothing to do means it is well. */
interface Finding {
	readonly what: string;
	readonly state: string;
	readonly advice?: string | undefined;
}

/** Says in plain text whether everything works, and for what does not, what to do. */
export function diagnose(moment: Moment): string {
	const findings = [
		{ what: "loaded", state: `pi-billion-context ${version} on Pi ${VERSION}` },
		tools(moment),
		compaction(moment),
		sidecar(moment),
		...settings(moment),
		...failures(moment),
	];
	return findings
		.map(({ what, state, advice }) => `${advice ? "!" : "✓"} ${what}: ${state}${advice ? `. ${advice}` : ""}`)
		.join("\n");
}

function tools({ config, owner, standsDown }: Moment): Finding {
	const what = "tools";
	if (!config.enabled) return { what, state: "switched off", advice: 'Set "enabled" to true in acp.json.' };
	if (standsDown !== undefined) {
		const advice = owner === "a proxy's" ? "Use the provider without it." : "Keep one of the two (pi list, pi remove).";
		return { what, state: `we stand down: ${standsDown}`, advice };
	}
	if (owner === "ours") return { what, state: "ours, and offered to the model" };
	return { what, state: "compress is not offered to the model", advice: "Add our tools to --tools, or leave it out." };
}

function compaction({ mayFold }: Moment): Finding {
	return { what: "compaction", state: mayFold ? "answered by us" : "left to Pi" };
}

function sidecar({ host }: Moment): Finding {
	const what = "sidecar";
	const path = sidecarPath(host);
	if (path === undefined) return { what, state: "none, the session lives in memory only" };
	try {
		accessSync(dirname(path), constants.W_OK);
		return { what, state: `${path} can be written` };
	} catch (error) {
		const advice = "Make the folder writable. No fold is lost: the session log holds them.";
		return { what, state: `${path} cannot be written (${codeOf(error)})`, advice };
	}
}

function settings({ session, config }: Moment): readonly Finding[] {
	const { files, warnings } = session.config.report();
	return [
		...files.map(({ path, state }) => ({
			what: "settings",
			state: `${path}: ${state}`,
			advice: state === "not trusted" ? "Trust the project in Pi to have it read." : undefined,
		})),
		...warnings.map((state) => ({ what: "settings", state, advice: "CONFIGURATION.md has all keys." })),
		{ what: "log", state: config.logPath },
	];
}

function failures({ session: { failures } }: Moment): readonly Finding[] {
	if (failures.length === 0) return [{ what: "errors", state: "none in this session" }];
	return failures.map((state) => ({ what: "error", state, advice: "Please report it with its lines from the log." }));
}
