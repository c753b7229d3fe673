import { stat, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { join } from "node:path";
import type { ExtensionAPI, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { producerName } from "../../kernel/index.ts";
import type { Sessions } from "../session.ts";
import { version } from "../version.ts";

const dayMs = 24 * 60 * 60 * 1_000;
const timeoutMs = 10_000;

/**
 * Tells a user who wants to know, and sits at a terminal, of a newer version. Asks npm at most once a day, whatever comes of
 * it, and installs nothing. Rejects where the question cannot be asked.
 */
export async function sayUpdate(
	pi: Pick<ExtensionAPI, "exec">,
	sessions: Sessions,
	ctx: ExtensionContext,
	nowMs: number,
): Promise<void> {
	const moment = sessions.at(ctx);
	if (!moment.config.updateNotice || ctx.mode !== "tui" || process.env.PI_OFFLINE) return;
	const stampPath = join(homedir(), ".pi", "acp.update");
	if (nowMs - (await changedMs(stampPath)) < dayMs) return;
	await writeFile(stampPath, "", { mode: 0o600 });
	// On Windows npm is a script for its shell. A project's .npmrc could name a registry of its own.
	const npm = process.platform === "win32" ? ["cmd", "/c", "npm"] : ["npm"];
	const [command = "npm", ...args] = [...npm, "view", producerName, "version"];
	const { code, stdout } = await pi.exec(command, args, { timeout: timeoutMs, cwd: homedir() });
	const latest = stdout.trim();
	if (code !== 0 || !isNewer(latest, version)) return;
	sessions.notice(
		moment,
		`${producerName} ${latest} is out (here: ${version}); pi update --extensions gets it.`,
		"info",
	);
}

/** When a file was changed last, in milliseconds since 1970; 0 if there is none. */
function changedMs(path: string): Promise<number> {
	return stat(path).then(
		({ mtimeMs }) => mtimeMs,
		() => 0,
	);
}

/** True if a release is later than another; false for what is no release. */
export function isNewer(candidate: string, than: string): boolean {
	return /^\d+\.\d+\.\d+$/.test(candidate) && candidate.localeCompare(than, "en", { numeric: true }) > 0;
}
