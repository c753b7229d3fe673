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
	try {
		const value: unknown = JSON.parse(text);
		if (typeof value !== "object" || value === null || !("producer" in value) || !("schemaVersion" in value))
			return false;
		const { producer, schemaVersion } = value;
		const isOwn =
			typeof producer === "object" && producer !== null && "name" in producer && producer.name === producerName;
		return isOwn && schemaVersion === 1;
	} catch (error) {
		if (error instanceof SyntaxError) return false;
		throw error;
	}
}

function isAbsent(error: unknown): boolean {
	return error instanceof Error && "code" in error && error.code === "ENOENT";
}
