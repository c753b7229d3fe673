import { randomBytes } from "node:crypto";
import {
	chmodSync,
	existsSync,
	lstatSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	statSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import type { SessionEntry } from "@earendil-works/pi-coding-agent";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { type AcpSession, closeAcp, openAcp, range, textIn, work } from "../support/acp.ts";
import { createHome } from "../support/home.ts";
import type { RecordedRequest } from "../support/provider.ts";
import { entriesOf } from "../support/scenario.ts";
import { blocksIn, expectGrowth, expectWholePairs, outline, stableLines } from "../support/wire.ts";

/** A session that has ended, in which m2 to m5 are folded by the message m13. */
let first: AcpSession;
let sidecar: string;
/** What the sidecar said at the end. */
let good: string;

beforeEach(async () => {
	first = await openAcp({ seed: work(5) });
	await first.call("compress", { content: [range("m2", "m5")] });
	await first.logText();
	sidecar = `${first.sessionFile}.acp.json`;
	good = readFileSync(sidecar, "utf8");
	vi.spyOn(process.stderr, "write").mockReturnValue(true);
});
afterEach(async () => {
	vi.restoreAllMocks();
	await closeAcp();
});

/** Opens the log again, makes two requests, and ends; fails if anything was thrown or said to the user. */
async function reopen(): Promise<RecordedRequest[]> {
	const { home, sessionFile } = first;
	const again = await openAcp({ home, sessionFile });
	await again.prompt("go on");
	await again.prompt("and on");
	await again.logText();
	expect(again.extensionErrors).toEqual([]);
	expect(vi.mocked(process.stderr.write).mock.calls).toEqual([]);
	for (const request of again.requests) expectWholePairs(request);
	expectGrowth(again.requests);
	return again.requests;
}

/** Fails unless the next requests go on from the last one. */
async function expectSameView(): Promise<void> {
	const requests = await reopen();
	expect(blocksIn(requests[0])).toEqual(["b1"]);
	expectGrowth([...first.requests.slice(-1), ...requests]);
}

/** The files that were kept beside the sidecar. */
function kept(): string[] {
	return readdirSync(dirname(sidecar)).filter((name) => name.includes(".acp.json.bak"));
}

/** Whether permissions mean nothing to this user, as to root. */
function modesAreIgnored(): boolean {
	const home = createHome();
	const path = join(home.cwd, "closed");
	writeFileSync(path, "", { mode: 0o000 });
	try {
		readFileSync(path);
		return true;
	} catch {
		return false;
	} finally {
		home.remove();
	}
}

const noise = randomBytes(500);
const newer = () => JSON.stringify({ ...JSON.parse(good), schemaVersion: 2, more: true });

describe("a session whose sidecar is", () => {
	it.each<[string, () => string | Buffer]>([
		["empty", () => ""],
		["its first 47 bytes", () => good.slice(0, 47)],
		["random bytes", () => noise],
		["by a newer version", newer],
		["JSON of another kind", () => "[1, 2]"],
		["another program's", () => good.replace('"pi-billion-context"', '"another"').replace('"b1"', '"b9"')],
	])("%s: shows the same, and keeps that file beside a good one", async (_what, content) => {
		writeFileSync(sidecar, content());
		await expectSameView();
		expect(readFileSync(sidecar, "utf8")).toBe(good);
		expect(kept()).toHaveLength(1);
		expect(readFileSync(`${sidecar}.bak`)).toEqual(Buffer.from(content()));
	});

	it.each<[string, () => void]>([
		["absent", () => rmSync(sidecar)],
		["another session's", () => writeFileSync(sidecar, good.replace('"b1"', '"b7"').replaceAll("m0000", "m0001"))],
		["older than the log", () => writeFileSync(sidecar, JSON.stringify({ ...JSON.parse(good), blocks: [] }))],
	])("%s: shows the same, and writes a good one", async (_what, damage) => {
		damage();
		await expectSameView();
		expect(readFileSync(sidecar, "utf8")).toBe(good);
		expect(statSync(sidecar).mode & 0o777).toBe(0o600);
		expect(kept()).toEqual([]);
	});

	it("a directory: shows the same, and keeps the directory with what is in it", async () => {
		rmSync(sidecar);
		mkdirSync(sidecar);
		writeFileSync(join(sidecar, "diary.txt"), "dear diary");
		await expectSameView();
		expect(readFileSync(sidecar, "utf8")).toBe(good);
		expect(readFileSync(join(`${sidecar}.bak`, "diary.txt"), "utf8")).toBe("dear diary");
	});

	it("a link: shows the same, and writes through it", async () => {
		const target = join(first.home.path, "kept.json");
		renameSync(sidecar, target);
		writeFileSync(target, JSON.stringify({ ...JSON.parse(good), blocks: [] }));
		symlinkSync(target, sidecar);
		await expectSameView();
		expect(lstatSync(sidecar).isSymbolicLink()).toBe(true);
		expect(readFileSync(target, "utf8")).toBe(good);
	});

	it("a link to a file that is not ours: shows the same, and leaves that file alone", async () => {
		const target = join(first.home.path, "notes.txt");
		writeFileSync(target, "not to be lost");
		rmSync(sidecar);
		symlinkSync(target, sidecar);
		await expectSameView();
		expect(readFileSync(target, "utf8")).toBe("not to be lost");
		expect(readFileSync(sidecar, "utf8")).toBe(good);
	});

	it("a link into a folder that is not there: shows the same, and says in the log that it cannot be written", async () => {
		rmSync(sidecar);
		symlinkSync(join(first.home.path, "gone", "kept.json"), sidecar);
		await expectSameView();
		expect(lstatSync(sidecar).isSymbolicLink()).toBe(true);
		const warnings = (await first.logText()).split("\n").filter((line) => line.includes("[warn] [sidecar]"));
		expect(warnings).toEqual([expect.stringContaining("ENOENT")]);
	});

	it.skipIf(modesAreIgnored())("not readable: shows the same, and keeps that file beside a good one", async () => {
		chmodSync(sidecar, 0o000);
		await expectSameView();
		expect(readFileSync(sidecar, "utf8")).toBe(good);
		chmodSync(`${sidecar}.bak`, 0o600);
		expect(readFileSync(`${sidecar}.bak`, "utf8")).toBe(good);
	});

	it.skipIf(modesAreIgnored())("older, in a folder that cannot be written: shows the same, and leaves it", async () => {
		const old = JSON.stringify({ ...JSON.parse(good), blocks: [] });
		writeFileSync(sidecar, old);
		const folder = dirname(sidecar);
		chmodSync(folder, 0o500);
		try {
			await expectSameView();
		} finally {
			chmodSync(folder, 0o700);
		}
		expect(readFileSync(sidecar, "utf8")).toBe(old);
		expect(await first.logText()).toContain("EACCES");
	});
});

describe("two processes on one session", () => {
	it("may both write the sidecar: each has what it folded at the next start on its branch", async () => {
		const { home, sessionFile } = first;
		const [a, b] = [await openAcp({ home, sessionFile }), await openAcp({ home, sessionFile })];
		await a.call("compress", { content: [range("b1", "m7")] });
		await b.call("compress", { content: [range("m6", "m7")] });
		await a.logText();
		await b.logText();
		expect(JSON.parse(readFileSync(sidecar, "utf8")).blocks).toMatchObject([{ blockId: "b1" }, { blockId: "b2" }]);
		const last = await openAcp({ home, sessionFile });
		await last.prompt("go on");
		expect(blocksIn(last.requests[0])).toEqual(blocksIn(b.requests.at(-1)));
		const other = a.branch().at(-1)?.id ?? "";
		await last.session.navigateTree(other, { summarize: false });
		await last.prompt("go on");
		expectGrowth([a.requests.at(-1), last.requests.at(-1)].flatMap((request) => request ?? []));
	});
});

/** Rewrites the entries of the log; whatever has a parent may get another one. */
function rewrite(change: (entries: SessionEntry[]) => readonly object[]): void {
	const [header = ""] = readFileSync(first.sessionFile, "utf8").split("\n");
	const lines = change(entriesOf(first.sessionFile)).map((entry) => JSON.stringify(entry));
	writeFileSync(first.sessionFile, `${[header, ...lines].join("\n")}\n`);
}

/** Gives every entry and every message the time that belongs to its place. */
function setTimes(timeAt: (index: number, all: number) => number): void {
	rewrite((entries) =>
		entries.map((entry, index) => {
			const timestamp = timeAt(index, entries.length);
			const message = "message" in entry ? { message: { ...entry.message, timestamp } } : {};
			return { ...entry, ...message, timestamp: new Date(timestamp).toISOString() };
		}),
	);
}

/** Puts an entry behind each one of the log. */
function interleave(strange: (index: number) => object): void {
	rewrite((entries) => {
		let parentId: string | null = null;
		return entries.flatMap((entry, index) => {
			const own = { ...entry, parentId };
			parentId = `57a4e${String(index).padStart(3, "0")}`;
			return [own, { ...strange(index), id: parentId, parentId: entry.id, timestamp: entry.timestamp }];
		});
	});
}

describe("a log", () => {
	it.each<[string, (index: number, all: number) => number]>([
		["equal", () => 1_700_000_000_000],
		["decreasing", (index, all) => 1_700_000_000_000 + 1_000 * (all - index)],
		["beyond reason", (index) => (index % 2 === 0 ? 0 : 8_000_000_000_000_000)],
	])("whose times are %s shows the same: order is the order of the branch", async (_how, timeAt) => {
		setTimes(timeAt);
		await expectSameView();
	});

	it.each<[string, (index: number) => object]>([
		["of unknown types", (index) => ({ type: "hologram", beam: index })],
		["of other extensions", (index) => ({ type: "custom", customType: "theirs", data: { acp: 1, op: index } })],
		["with a broken operation", () => ({ type: "custom", customType: "acp-operation", data: { acp: 1, op: {} } })],
		[
			"with an operation of the future",
			() => ({ type: "custom", customType: "acp-operation", data: { acp: 2, op: { kind: "fly" } } }),
		],
		["with nothing in them", () => ({ type: "custom", customType: "acp-operation" })],
	])("with entries %s between all others shows the same", async (_what, strange) => {
		interleave(strange);
		await expectSameView();
	});

	it("of Pi's first version, whose entries have no ids, shows the same at each start", async () => {
		const [header = ""] = readFileSync(first.sessionFile, "utf8").split("\n");
		rewrite((entries) => entries.map(({ id, parentId, ...entry }) => entry));
		const [, ...lines] = readFileSync(first.sessionFile, "utf8").split("\n");
		const { version, ...old } = JSON.parse(header);
		writeFileSync(first.sessionFile, [JSON.stringify(old), ...lines].join("\n"));
		const requests = [...first.requests.slice(-1), ...(await reopen()), ...(await reopen())];
		expect(requests.map((request) => blocksIn(request))).toEqual(requests.map(() => ["b1"]));
		expectGrowth(requests);
	});

	it("with a broken last line and empty lines shows the same", async () => {
		const text = readFileSync(first.sessionFile, "utf8").replaceAll("\n", "\n\n");
		writeFileSync(first.sessionFile, `${text}{"type":"message","id":"0badcafe","parentId":"`);
		await expectSameView();
	});

	/** Loses the lines of messages; what comes after them stays. */
	const lose = (...refs: number[]) => rewrite((entries) => entries.filter((_, index) => !refs.includes(index + 1)));

	it.each([
		["before what was folded", [1], ["b1"], 5],
		["within it", [3], [], 3],
		["at its end", [5], [], 5],
		["right after it", [6, 7], [], 7],
	])("that lost a message %s never folds others in their place", async (_where, lost, blocks, from) => {
		lose(...lost);
		const requests = await reopen();
		expect(blocksIn(requests[0])).toEqual(blocks);
		const untagged = (request: RecordedRequest | undefined) =>
			stableLines(request).map((line) => line.replace(/<acp>m\d+<\/acp>/, ""));
		const whole = untagged(first.requests[0]).slice(1 + from);
		expect(whole.length).toBeGreaterThan(0);
		expect(untagged(requests[0])).toEqual(expect.arrayContaining(whole));
	});

	it("that lost messages and what a fold put into its result folds no others in their place", async () => {
		rewrite((entries) =>
			entries.map((entry) => ("message" in entry ? { ...entry, message: { ...entry.message, details: {} } } : entry)),
		);
		await expectSameView();
		lose(6, 7);
		expect(blocksIn((await reopen())[0])).toEqual([]);
	});

	it("that lost its beginning can be folded on", async () => {
		lose(1);
		const { home, sessionFile } = first;
		const again = await openAcp({ home, sessionFile });
		const answer = textIn(await again.call("compress", { content: [range("b1", "m6")] }));
		expect(answer).toContain("b2 = ");
		expect(outline(again.requests.at(-1)).filter((each) => /^b\d/.test(each))).toEqual(["b2"]);
		const last = await openAcp({ home, sessionFile });
		await last.prompt("go on");
		expectGrowth([...again.requests.slice(-1), ...last.requests]);
	});

	it("that is gone when the session ends costs nothing but itself", async () => {
		const { home, sessionFile } = first;
		const again = await openAcp({ home, sessionFile });
		await again.prompt("go on");
		rmSync(sessionFile);
		await again.logText();
		expect(again.extensionErrors).toEqual([]);
		expect(existsSync(sessionFile)).toBe(false);
	});
});
