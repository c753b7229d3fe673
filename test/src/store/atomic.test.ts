import {
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	readlinkSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import * as disk from "node:fs/promises";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type AtomicFile, type AtomicFs, writeAtomic } from "../../../src/store/atomic.ts";

let folder = "";
let path = "";
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "acp-atomic-"));
	path = join(folder, "session.jsonl.acp.json");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function failure(code: string): Error {
	return Object.assign(new Error(`${code}: made up`), { code });
}

/** The real disk with some calls replaced, and the names of those made. */
function faultyFs(faults: Partial<AtomicFs> = {}, fileFaults: Partial<AtomicFile> = {}) {
	const calls: string[] = [];
	const open: AtomicFs["open"] = async (target, flags, mode) => {
		calls.push(`open ${flags}`);
		const file = await disk.open(target, flags, mode);
		return {
			write: (content) => {
				calls.push("write");
				return fileFaults.write?.(content) ?? file.write(content);
			},
			sync: () => {
				calls.push("sync");
				return fileFaults.sync?.() ?? file.sync();
			},
			close: async () => {
				calls.push("close");
				await file.close();
				await fileFaults.close?.();
			},
		};
	};
	const rename: AtomicFs["rename"] = (from, to) => {
		calls.push("rename");
		return (faults.rename ?? disk.rename)(from, to);
	};
	const { realpath, readlink, unlink } = disk;
	const fs: AtomicFs = { open, realpath, readlink, unlink, ...faults, rename };
	return { fs, calls };
}

describe("writing a file", () => {
	test("creates it for the user alone and leaves nothing beside it", async () => {
		expect(await writeAtomic(path, "größe 🙂")).toEqual({ ok: true });
		expect(readFileSync(path, "utf8")).toBe("größe 🙂");
		expect(statSync(path).mode & 0o777).toBe(0o600);
		expect(readdirSync(folder)).toEqual([basename(path)]);
	});

	test("replaces it, with the permissions asked for", async () => {
		writeFileSync(path, "old");
		expect(await writeAtomic(path, "new", { mode: 0o400 })).toEqual({ ok: true });
		expect(readFileSync(path, "utf8")).toBe("new");
		expect(statSync(path).mode & 0o777).toBe(0o400);
	});

	test("writes an empty text", async () => {
		writeFileSync(path, "old");
		expect(await writeAtomic(path, "")).toEqual({ ok: true });
		expect(readFileSync(path, "utf8")).toBe("");
	});

	test("flushes to the disk and closes before the name changes", async () => {
		const { fs, calls } = faultyFs();
		await writeAtomic(path, "new", { fs });
		expect(calls).toEqual(["open wx", "write", "sync", "close", "rename"]);
	});

	test("works for names as long as the disk allows", async () => {
		path = join(folder, "n".repeat(255));
		expect(await writeAtomic(path, "new")).toEqual({ ok: true });
	});

	test("by many at once leaves one whole text and no temporary file", async () => {
		const texts = Array.from({ length: 20 }, (_, index) => `${index} `.repeat(10_000));
		const results = await Promise.all(texts.map((text) => writeAtomic(path, text)));
		expect(results.every((result) => result.ok)).toBe(true);
		expect(texts).toContain(readFileSync(path, "utf8"));
		expect(readdirSync(folder)).toEqual([basename(path)]);
	});
});

describe("a symbolic link", () => {
	test("stays, and its target is replaced where it is", async () => {
		mkdirSync(join(folder, "elsewhere"));
		const target = join(folder, "elsewhere", "real.json");
		writeFileSync(target, "old");
		symlinkSync("elsewhere/real.json", path);
		expect(await writeAtomic(path, "new")).toEqual({ ok: true });
		expect(readlinkSync(path)).toBe("elsewhere/real.json");
		expect(readFileSync(target, "utf8")).toBe("new");
		expect(readdirSync(folder)).toHaveLength(2);
	});

	test("to a file that does not exist yet stays, too, through a second link", async () => {
		symlinkSync("second", path);
		symlinkSync("third.json", join(folder, "second"));
		expect(await writeAtomic(path, "new")).toEqual({ ok: true });
		expect(readlinkSync(path)).toBe("second");
		expect(readlinkSync(join(folder, "second"))).toBe("third.json");
		expect(readFileSync(join(folder, "third.json"), "utf8")).toBe("new");
	});

	test("to itself is a failure", async () => {
		symlinkSync(basename(path), path);
		expect(await writeAtomic(path, "new")).toMatchObject({ ok: false, error: { code: "ELOOP" } });
	});

	test("chain without end is a failure", async () => {
		const { fs } = faultyFs();
		const endless = { ...fs, realpath: () => Promise.reject(failure("ENOENT")), readlink: async () => "next" };
		expect(await writeAtomic(path, "new", { fs: endless })).toMatchObject({ ok: false });
	});
});

describe("a failure leaves the old content and no temporary file", () => {
	const faults: [string, Partial<AtomicFs>, Partial<AtomicFile>, RegExp][] = [
		[
			"a short write",
			{},
			{ write: async (content) => ({ bytesWritten: content.length - 1 }) },
			/short write: 2 of 3 bytes/,
		],
		["a full disk while writing", {}, { write: () => Promise.reject(failure("ENOSPC")) }, /ENOSPC/],
		["a full disk while flushing", {}, { sync: () => Promise.reject(failure("ENOSPC")) }, /ENOSPC/],
		["a disk that reports the error on closing", {}, { close: () => Promise.reject(failure("EIO")) }, /EIO/],
		["a rename that is refused", { rename: () => Promise.reject(failure("EXDEV")) }, {}, /EXDEV/],
		["a rename that stays locked", { rename: () => Promise.reject(failure("EBUSY")) }, {}, /EBUSY/],
		["a folder that takes no new file", { open: () => Promise.reject(failure("EROFS")) }, {}, /EROFS/],
		["a path that cannot be resolved", { realpath: () => Promise.reject(failure("EACCES")) }, {}, /EACCES/],
	];

	test.each(faults)("%s", async (_name, fsFaults, fileFaults, message) => {
		writeFileSync(path, "old");
		const { fs } = faultyFs(fsFaults, fileFaults);
		const result = await writeAtomic(path, "new", { fs, wait: async () => undefined });
		expect(result).toMatchObject({ ok: false, error: { message: expect.stringMatching(message) } });
		expect(readFileSync(path, "utf8")).toBe("old");
		expect(readdirSync(folder)).toEqual([basename(path)]);
	});

	test("names the first failure when the temporary file cannot be removed either", async () => {
		writeFileSync(path, "old");
		const { fs } = faultyFs({
			rename: () => Promise.reject(failure("EXDEV")),
			unlink: () => Promise.reject(failure("EIO")),
		});
		expect(await writeAtomic(path, "new", { fs })).toMatchObject({ ok: false, error: { code: "EXDEV" } });
		expect(readFileSync(path, "utf8")).toBe("old");
	});

	test("on a folder in its place, a missing folder and a path that is none", async () => {
		mkdirSync(path);
		expect(await writeAtomic(path, "new")).toMatchObject({ ok: false });
		expect(readdirSync(folder)).toEqual([basename(path)]);
		expect(await writeAtomic(join(folder, "missing", "file"), "new")).toMatchObject({ error: { code: "ENOENT" } });
		expect(await writeAtomic("\0", "new")).toMatchObject({ ok: false });
	});

	test("turns what is no error into one", async () => {
		const { fs } = faultyFs({ open: () => Promise.reject("odd") });
		expect(await writeAtomic(path, "new", { fs })).toEqual({ ok: false, error: new Error("odd") });
	});
});

describe("a rename that another program holds up", () => {
	test.each(["EPERM", "EBUSY", "EACCES"])("succeeds when %s goes away", async (code) => {
		let tries = 0;
		const delays: number[] = [];
		const { fs } = faultyFs({
			rename: (from, to) => (++tries < 10 ? Promise.reject(failure(code)) : disk.rename(from, to)),
		});
		const wait = async (delayMs: number) => void delays.push(delayMs);
		expect(await writeAtomic(path, "new", { fs, wait })).toEqual({ ok: true });
		expect(readFileSync(path, "utf8")).toBe("new");
		expect(delays).toHaveLength(9);
	});

	test("is tried ten times with growing waits of about a second in all", async () => {
		const delays: number[] = [];
		const { fs, calls } = faultyFs({ rename: () => Promise.reject(failure("EPERM")) });
		await writeAtomic(path, "new", { fs, wait: async (delayMs) => void delays.push(delayMs) });
		expect(calls.filter((call) => call === "rename")).toHaveLength(10);
		expect(delays).toEqual([...delays].sort((left, right) => left - right));
		expect(delays.reduce((sum, delayMs) => sum + delayMs, 0)).toBe(1_000);
	});

	test("waits for real when nothing else is given", async () => {
		let tries = 0;
		const { fs } = faultyFs({
			rename: (from, to) => (++tries < 2 ? Promise.reject(failure("EBUSY")) : disk.rename(from, to)),
		});
		expect(await writeAtomic(path, "new", { fs })).toEqual({ ok: true });
	});
});
