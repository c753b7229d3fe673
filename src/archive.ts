import { readFileSync } from "node:fs";
import { migrateSessionEntries, parseSessionEntries } from "@earendil-works/pi-coding-agent";
import { type Archive, type Entry, type ForeignBranch, replayCall, Timeline } from "../kernel/index.ts";
import type { Host } from "./host.ts";
import { entryFromPi } from "./transcript/from-pi.ts";

/** A session log read as a whole, for looking things up. */
interface StoredLog {
	readonly sessionId: string;
	readonly parentPath: string | undefined;
	readonly timeline: Timeline;
	readonly entries: ReadonlyMap<string, Entry>;
}

/** Sessions are looked for no further up than this. */
const depthLimit = 8;

/** The archive of a session. Ancestors are read when first asked for and kept; a log that cannot be read ends the line. */
export function createArchive(timeline: Timeline): { of(host: Host): Archive } {
	const logs = new Map<string, StoredLog | undefined>();

	function stored(path: string): StoredLog | undefined {
		if (!logs.has(path)) logs.set(path, readLog(path));
		return logs.get(path);
	}

	function ancestors(host: Host): readonly StoredLog[] {
		const line: StoredLog[] = [];
		let path = host.parentSession;
		while (path !== undefined && line.length < depthLimit) {
			const log = stored(path);
			if (log === undefined || line.includes(log)) break;
			line.push(log);
			path = log.parentPath;
		}
		return line;
	}

	const here = (host: Host, entryId: string): ForeignBranch => ({
		branch: timeline.branch(entryId, (id) => host.entry(id)),
		sessionId: undefined,
	});
	const there = (log: StoredLog, entryId: string): ForeignBranch => ({
		branch: log.timeline.branch(entryId, (id) => log.entries.get(id)),
		sessionId: log.sessionId,
	});

	return {
		of: (host) => ({
			branchAt(address) {
				const slash = address.lastIndexOf("/");
				if (slash < 0) return host.entry(address) === undefined ? undefined : here(host, address);
				const [sessionId, entryId] = [address.slice(0, slash), address.slice(slash + 1)];
				if (sessionId === host.sessionId) return host.entry(entryId) === undefined ? undefined : here(host, entryId);
				const log = ancestors(host).find((each) => each.sessionId === sessionId && each.entries.has(entryId));
				return log && there(log, entryId);
			},
			branches: () => [
				...leaves(host.links()).map((id) => here(host, id)),
				...ancestors(host).flatMap((log) => leaves([...log.entries.values()]).map((id) => there(log, id))),
			],
		}),
	};
}

/** The entries that no other follows. */
function leaves(links: readonly { readonly id: string; readonly parentId: string | null }[]): readonly string[] {
	const parents = new Set(links.map((link) => link.parentId));
	return links.filter((link) => !parents.has(link.id)).map((link) => link.id);
}

/** Undefined for a log that was moved, deleted or damaged: what it held is out of reach, nothing else changes. */
function readLog(path: string): StoredLog | undefined {
	try {
		return parseLog(readFileSync(path, "utf8"));
	} catch {
		return undefined;
	}
}

function parseLog(text: string): StoredLog | undefined {
	const lines = parseSessionEntries(text);
	migrateSessionEntries(lines);
	const header = lines.find((line) => line.type === "session");
	if (header === undefined) return undefined;
	const entries = new Map<string, Entry>();
	for (const line of lines) if (line.type !== "session") entries.set(line.id, entryFromPi(line));
	return { sessionId: header.id, parentPath: header.parentSession, timeline: new Timeline(replayCall), entries };
}
