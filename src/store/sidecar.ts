import { lstat, readFile, rename } from "node:fs/promises";
import { producerName, type Sidecar } from "../../kernel/index.ts";
import { writeAtomic } from "./atomic.ts";

/** Writes sidecars, one at a time, and only when their content changed. */
export interface SidecarStore {
	/** Resolves with what went wrong, once per kind of failure; never rejects. */
	save(path: string, sidecar: Sidecar): Promise<string | undefined>;
	/** Resolves when everything handed over so far is written or failed. */
	flush(): Promise<void>;
}

/** Where the sidecar of a session is; undefined for sessions that live in memory only. */
export function sidecarPath({ sessionFile }: { readonly sessionFile: string | undefined }): string | undefined {
	return sessionFile === undefined ? undefined : `${sessionFile}.acp.json`;
}

/** The content of a sidecar that another program wrote; undefined if there is none, it is ours, or it cannot be read. */
export async function readForeign(path: string): Promise<unknown> {
	const text = await readFile(path, "utf8").catch(() => undefined);
	return text === undefined || isOurs(text) ? undefined : parsed(text);
}

export function createSidecarStore(): SidecarStore {
	const written = new Map<string, string>();
	const reported = new Set<string>();
	let chain: Promise<string | undefined> = Promise.resolve(undefined);

	async function write(path: string, text: string): Promise<string | undefined> {
		if (written.get(path) === text) return undefined;
		if (!written.has(path)) await setAsideForeign(path);
		const result = await writeAtomic(path, text);
		if (result.ok) {
			written.set(path, text);
			return undefined;
		}
		const problem = `${path}: ${result.error.message}`;
		if (reported.has(problem)) return undefined;
		reported.add(problem);
		return problem;
	}

	return {
		save(path, sidecar) {
			const text = `${JSON.stringify(sidecar, null, "\t")}\n`;
			chain = chain.then(() => write(path, text)).catch((error: unknown) => `${path}: ${String(error)}`);
			return chain;
		},
		async flush() {
			await chain;
		},
	};
}

/** A file that we did not write, or cannot read, is moved to the first free `.bak` name before ours takes its place. */
async function setAsideForeign(path: string): Promise<void> {
	const text = await readFile(path, "utf8").catch((error: unknown) => (isAbsent(error) ? undefined : ""));
	if (text === undefined || isOurs(text)) return;
	await rename(path, await freeName(`${path}.bak`));
}

async function freeName(path: string): Promise<string> {
	const isTaken = (name: string) =>
		lstat(name).then(
			() => true,
			() => false,
		);
	for (let nth = 0; ; nth++) {
		const name = nth === 0 ? path : `${path}.${nth}`;
		if (!(await isTaken(name))) return name;
	}
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

function isAbsent(error: unknown): boolean {
	return error instanceof Error && "code" in error && error.code === "ENOENT";
}
