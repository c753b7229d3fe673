import { randomUUID } from "node:crypto";
import { open, readlink, realpath, rename, unlink } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";

/** What is needed of node:fs/promises; a test puts a failing disk in its place. */
export interface AtomicFs {
	open(path: string, flags: "wx", mode: number): Promise<AtomicFile>;
	realpath(path: string): Promise<string>;
	readlink(path: string): Promise<string>;
	rename(from: string, to: string): Promise<void>;
	unlink(path: string): Promise<void>;
}

export interface AtomicFile {
	write(content: Uint8Array): Promise<{ readonly bytesWritten: number }>;
	sync(): Promise<void>;
	close(): Promise<void>;
}

export interface AtomicOptions {
	/** Permissions of the file; 0600 when not given. */
	readonly mode?: number;
	readonly fs?: AtomicFs;
	/** Waits between two tries of a rename. */
	readonly wait?: (delayMs: number) => Promise<void>;
}

export type WriteResult = { readonly ok: true } | { readonly ok: false; readonly error: Error };

/** Waits between the tries to rename, about a second in all: virus scanners and indexers let go of a file by then. */
const renameDelaysMs = [10, 20, 40, 60, 90, 130, 170, 220, 260];

/** A chain of links longer than this is taken for a loop, as by the kernel of Linux. */
const maxLinks = 40;

/**
 * Replaces a file by the text as a whole: whatever fails, the old content is still there and no temporary file is left.
 * A symbolic link stays, its target is replaced. Never rejects.
 */
export async function writeAtomic(path: string, text: string, options: AtomicOptions = {}): Promise<WriteResult> {
	const { mode = 0o600, fs = nodeFs, wait = sleep } = options;
	try {
		const target = await followLinks(fs, path);
		const temporary = join(dirname(target), `.acp-${randomUUID()}.tmp`);
		const file = await fs.open(temporary, "wx", mode);
		try {
			await writeAll(file, Buffer.from(text));
			await renamePatiently(fs, temporary, target, wait);
		} catch (error) {
			await discard(fs, temporary);
			throw error;
		}
		return { ok: true };
	} catch (error) {
		return { ok: false, error: error instanceof Error ? error : new Error(String(error)) };
	}
}

const nodeFs: AtomicFs = { open, realpath, readlink, rename, unlink };

/** The file that a path means, also when it does not exist yet. */
async function followLinks(fs: AtomicFs, path: string): Promise<string> {
	let target = path;
	for (let links = 0; links <= maxLinks; links++) {
		try {
			return await fs.realpath(target);
		} catch (error) {
			if (codeOf(error) !== "ENOENT") throw error;
		}
		const link = await readLink(fs, target);
		if (link === undefined) return target;
		target = resolve(dirname(target), link);
	}
	throw new Error(`too many links from ${path}`);
}

async function readLink(fs: AtomicFs, path: string): Promise<string | undefined> {
	try {
		return await fs.readlink(path);
	} catch (error) {
		if (codeOf(error) === "ENOENT" || codeOf(error) === "EINVAL") return undefined;
		throw error;
	}
}

async function writeAll(file: AtomicFile, content: Uint8Array): Promise<void> {
	try {
		const { bytesWritten } = await file.write(content);
		if (bytesWritten !== content.length) {
			throw new Error(`short write: ${bytesWritten} of ${content.length} bytes`);
		}
		await file.sync();
	} finally {
		await file.close();
	}
}

async function renamePatiently(
	fs: AtomicFs,
	from: string,
	to: string,
	wait: (delayMs: number) => Promise<void>,
): Promise<void> {
	for (const delayMs of renameDelaysMs) {
		try {
			return await fs.rename(from, to);
		} catch (error) {
			if (!["EPERM", "EBUSY", "EACCES"].includes(codeOf(error))) throw error;
		}
		await wait(delayMs);
	}
	return fs.rename(from, to);
}

/** The failure that led here is what counts; one to remove the temporary file adds nothing a caller could act on. */
async function discard(fs: AtomicFs, temporary: string): Promise<void> {
	await fs.unlink(temporary).catch(() => undefined);
}

function sleep(delayMs: number): Promise<void> {
	return new Promise((done) => setTimeout(done, delayMs));
}

/** The code of a system error; "" for any other. */
export function codeOf(error: unknown): string {
	return error instanceof Error && "code" in error ? String(error.code) : "";
}
