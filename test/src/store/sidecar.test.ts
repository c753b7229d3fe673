import { execFileSync } from "node:child_process";
import {
	chmodSync,
	existsSync,
	mkdirSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { producerName, type Sidecar } from "../../../kernel/index.ts";
import { createSidecarStore, type SidecarStore } from "../../../src/store/sidecar.ts";

let folder = "";
let path = "";
let warnings: string[] = [];
let store: SidecarStore;

beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "acp-sidecar-"));
	path = join(folder, "session.jsonl.acp.json");
	warnings = [];
	store = open();
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function open(): SidecarStore {
	return createSidecarStore((problem) => warnings.push(problem));
}

function sidecar(leafId: string): Sidecar {
	return { schemaVersion: 1, producer: { name: producerName, version: "0.1.0" }, leafId, blocks: [] };
}

const written = () => JSON.parse(readFileSync(path, "utf8"));

describe("a sidecar", () => {
	it("is written as JSON that only the user can read", async () => {
		await store.save(path, sidecar("a1"));
		expect(written()).toEqual(sidecar("a1"));
		expect(statSync(path).mode & 0o777).toBe(0o600);
		expect(readdirSync(folder)).toEqual(["session.jsonl.acp.json"]);
	});

	it("takes the place of an older one of ours, whichever version wrote it", async () => {
		writeFileSync(path, JSON.stringify({ ...sidecar("a0"), producer: { name: producerName, version: "9.9.9" } }));
		await store.save(path, sidecar("a1"));
		expect(written()).toEqual(sidecar("a1"));
		expect(readdirSync(folder)).toHaveLength(1);
		expect(warnings).toEqual([]);
	});

	it("is not written again if it already says so, also by another process", async () => {
		await store.save(path, sidecar("a1"));
		const { mtimeNs } = statSync(path, { bigint: true });
		await store.save(path, sidecar("a1"));
		await open().save(path, sidecar("a1"));
		expect(statSync(path, { bigint: true }).mtimeNs).toBe(mtimeNs);
		rmSync(path);
		await store.save(path, sidecar("a1"));
		expect(written()).toEqual(sidecar("a1"));
	});

	it("is the last one saved, however many are under way", async () => {
		for (let n = 0; n < 20; n++) void store.save(path, sidecar(`a${n}`));
		await store.flush();
		expect(written()).toEqual(sidecar("a19"));
		expect(readdirSync(folder)).toHaveLength(1);
	});

	it("is written through a symbolic link", async () => {
		const target = join(folder, "target");
		symlinkSync(target, path);
		await store.save(path, sidecar("a1"));
		await store.save(path, sidecar("a2"));
		expect(JSON.parse(readFileSync(target, "utf8"))).toEqual(sidecar("a2"));
		expect(warnings).toEqual([]);
	});
});

describe("what is in the place of a sidecar", () => {
	it.each<[string, string]>([
		["empty", ""],
		["garbage", "\u0000 not { JSON"],
		["truncated", JSON.stringify(sidecar("a0")).slice(0, 40)],
		["nested deeper than the stack is high", "[".repeat(200_000)],
		["JSON that is no object", "7"],
		["null", "null"],
		["of another program", JSON.stringify({ ...sidecar("a0"), producer: { name: "else" } })],
		["without a producer", JSON.stringify({ schemaVersion: 1, blocks: [] })],
		["with a producer that is no object", JSON.stringify({ schemaVersion: 1, producer: null })],
		["of a newer schema", JSON.stringify({ ...sidecar("a0"), schemaVersion: 2 })],
	])("is kept under another name if it is %s", async (_state, text) => {
		writeFileSync(path, text);
		await store.save(path, sidecar("a1"));
		await store.save(path, sidecar("a2"));
		expect(readFileSync(`${path}.bak`, "utf8")).toBe(text);
		expect(written()).toEqual(sidecar("a2"));
		expect(warnings).toEqual(["not ours, so it was kept as session.jsonl.acp.json.bak"]);
	});

	it("is kept as well if it came while the session ran, each time under a free name", async () => {
		await store.save(path, sidecar("a1"));
		for (const text of ["first", "second", "third"]) {
			writeFileSync(path, text);
			await store.save(path, sidecar("a2"));
		}
		const kept = ["", ".1", ".2"].map((end) => readFileSync(`${path}.bak${end}`, "utf8"));
		expect(kept).toEqual(["first", "second", "third"]);
		expect(written()).toEqual(sidecar("a2"));
	});

	it("is kept if it is a directory", async () => {
		mkdirSync(path);
		writeFileSync(join(path, "inside"), "");
		await store.save(path, sidecar("a1"));
		expect(existsSync(join(`${path}.bak`, "inside"))).toBe(true);
		expect(written()).toEqual(sidecar("a1"));
		expect(warnings).toHaveLength(1);
	});

	it("is kept if it is a pipe, which is not waited for", async () => {
		execFileSync("mkfifo", [path]);
		await store.save(path, sidecar("a1"));
		expect(statSync(`${path}.bak`).isFIFO()).toBe(true);
		expect(written()).toEqual(sidecar("a1"));
	});
});

describe("a folder that cannot be written to", () => {
	it("is said once, and nothing fails", async () => {
		const nowhere = join(folder, "gone", "session.jsonl.acp.json");
		await store.save(nowhere, sidecar("a0"));
		await store.save(nowhere, sidecar("a1"));
		expect(warnings).toEqual([expect.stringContaining("ENOENT")]);
		mkdirSync(join(folder, "gone"));
		await store.save(nowhere, sidecar("a2"));
		expect(existsSync(nowhere)).toBe(true);
	});

	it("leaves what is there as it is, even if that is not ours", async () => {
		writeFileSync(path, "");
		await store.save(join(path, "below.acp.json"), sidecar("a1"));
		await store.save(join(path, "below.acp.json"), sidecar("a2"));
		expect(warnings).toEqual([expect.stringContaining("ENOTDIR")]);
		expect(readFileSync(path, "utf8")).toBe("");
	});

	it.skipIf(process.getuid?.() === 0)("may be one without the right to", async () => {
		writeFileSync(path, "garbage");
		chmodSync(folder, 0o500);
		for (const leafId of ["a1", "a2"]) await store.save(path, sidecar(leafId));
		chmodSync(folder, 0o700);
		expect(warnings).toEqual([expect.stringContaining("EACCES")]);
		expect(readFileSync(path, "utf8")).toBe("garbage");
	});
});
