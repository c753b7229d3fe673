import { lstat, readFile, rename, stat } from "node:fs/promises";
import { basename } from "node:path";
import { producerName, type Sidecar } from "../../kernel/index.ts";
import { codeOf, writeAtomic } from "./atomic.ts";

/** Writes sidecars, one at a time, and only where they change something. */
export interface SidecarStore {
	/** Resolves when this sidecar is written or failed; never rejects. */
	save(path: string, sidecar: Sidecar): Promise<void>;
	/** Resolves when everything handed over so far is written or failed. */
	flush(): Promise<void>;
}

/** Where the sidecar of a session is; undefined for sessions that live in memory only. */
export function sidecarPath({ sessionFile }: { readonly sessionFile: string | undefined }): string | undefined {
	return sessionFile === undefined ? undefined : `${sessionFile}.acp.json`;
}

/** The content of a sidecar that another program wrote; undefined if there is none, it is ours, or it cannot be read. */
export async function readForeign(path: string): Promise<unknown> {
	const text = await readText(path);
	return text === undefined || isOurs(text) ? undefined : parsed(text);
}

/** `warn` hears of what was set aside, and of what failed, once per kind of failure. */
export function createSidecarStore(warn: (problem: string) => void): SidecarStore {
	const said = new Set<string>();
	let chain = Promise.resolve();

	function say(kind: string, problem: string): void {
		if (said.has(kind)) return;
		said.add(kind);
		warn(problem);
	}

	async function write(path: string, text: string): Promise<void> {
		try {
			const found = await readText(path);
			if (found === text) return;
			if (found !== undefined && !isOurs(found)) {
				const kept = await setAside(path);
				say(kept, `not ours, so it was kept as ${kept}`);
			}
			const result = await writeAtomic(path, text);
			if (!result.ok) throw result.error;
		} catch (error) {
			// The message may name a temporary file, another one each time.
			say(codeOf(error), error instanceof Error ? error.message : String(error));
		}
	}

	return {
		save(path, sidecar) {
			chain = chain.then(() => write(path, `${JSON.stringify(sidecar, null, "\t")}\n`));
			return chain;
		},
		flush: () => chain,
	};
}

/** The text of a file; undefined if there is none, "" if what is there cannot be read as one. */
async function readText(path: string): Promise<string | undefined> {
	try {
		const stats = await stat(path);
		return stats.isFile() ? await readFile(path, "utf8") : "";
	} catch (error) {
		return codeOf(error) === "ENOENT" ? undefined : "";
	}
}

/** Moves what is at the path to the first free `.bak` name, and returns that name. */
async function setAside(path: string): Promise<string> {
	for (let nth = 0; ; nth++) {
		const free = nth === 0 ? `${path}.bak` : `${path}.bak.${nth}`;
		if (await isTaken(free)) continue;
		await rename(path, free);
		return basename(free);
	}
}

function isTaken(path: string): Promise<boolean> {
	return lstat(path).then(
		() => true,
		() => false,
	);
}

function isOurs(text: string): boolean {
	const value = parsed(text);
	if (typeof value !== "object" || value === null || !("producer" in value) || !("schemaVersion" in value))
		return false;
	const { producer, schemaVersion } = value;
	const isOwn =
		typeof producer === "object" && producer !== null && "name" in producer && producer.name === producerName;
	return isOwn && schemaVersion === 1;
}

/** The value of a JSON text; undefined for a text that is none. */
function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return undefined;
	}
}
