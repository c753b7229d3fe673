import { describe, expect, it } from "vitest";
import { type Archive, findOriginals, pageOf, search, textOf } from "../../kernel/index.ts";
import { Log, said, words } from "../support/log.ts";

/** A log with a fork: the branch that was left holds the folded search for walnuts. */
function forked() {
	const log = new Log();
	log.user("Begin.");
	const fork = log.leafId;
	log.step("read", { path: "walnut.ts" }, `walnut ${words(600, "w")}`);
	log.step("read", { path: "hazel.ts" }, `hazel ${words(600, "h")}`);
	log.user("Go on.");
	log.compress([
		{
			startId: "m00002",
			endId: "m00003",
			topic: "walnuts",
			summary: said("walnut.ts was read, and nothing is wrong with it"),
		},
	]);
	const left = log.leafId ?? "";
	log.leafId = fork;
	log.user("Try something else.");
	return { log, left };
}

function archiveOf(log: Log, leaves: readonly string[], sessionId?: string): Archive {
	const at = (id: string) => ({ branch: log.branch(id), sessionId });
	return {
		branchAt(address) {
			const [session, id] = sessionId === undefined ? [undefined, address] : address.split("/", 2);
			return session === sessionId && id !== undefined && log.entries.has(id) ? at(id) : undefined;
		},
		branches: () => leaves.map(at),
	};
}

function opened(log: Log, id: string, archive: Archive): string {
	const found = findOriginals(log.branch(), id, archive);
	if ("code" in found) return found.code;
	const page = pageOf(found, 1);
	return "code" in page ? page.code : textOf({ role: "toolResult", content: page.parts, timestamp: 0 });
}

describe("refs beyond the branch", () => {
	it("open a block of another branch by the entry that made it, and say where it is", () => {
		const { log, left } = forked();
		expect(opened(log, `b1@${left}`, archiveOf(log, [left]))).toMatch(
			/^\[b1 \(m00002-m00003\), on another branch: 2 messages/,
		);
		expect(opened(log, `b1@${left}`, archiveOf(log, [left]))).toContain("walnut w0");
	});

	it("open a bare block that is unknown here but the only one of its number elsewhere", () => {
		const { log, left } = forked();
		expect(opened(log, "b1", archiveOf(log, [left]))).toContain("on another branch");
	});

	it("leave a bare block alone whose number two branches gave to different blocks", () => {
		const { log, left } = forked();
		log.step("read", { path: "oak.ts" }, words(600, "o"));
		log.user("Done.");
		log.compress([
			{ startId: "m00003", endId: "m00004", summary: said("oak.ts was read, and nothing is wrong with it") },
		]);
		const other = log.leafId ?? "";
		log.leafId = "e1";
		log.user("A third way.");
		expect(opened(log, "b1", archiveOf(log, [left, other]))).toBe("unknownBlock");
	});

	it("open messages and ranges of another branch by their entries", () => {
		const { log, left } = forked();
		const archive = archiveOf(log, [left]);
		expect(opened(log, "m00003@e3", archive)).toMatch(/^\[m00003, on another branch: 1 messages/);
		expect(opened(log, "m00002@e2-m00003@e3", archive)).toMatch(/^\[m00002-m00003, on another branch: 2 messages/);
	});

	it("are refused if the number and the entry disagree, or nothing has them", () => {
		const { log, left } = forked();
		const archive = archiveOf(log, [left]);
		expect(opened(log, "m00004@e3", archive)).toBe("foreignRef");
		expect(opened(log, `b2@${left}`, archive)).toBe("foreignRef");
		expect(opened(log, "m00003@nowhere", archive)).toBe("foreignRef");
		expect(opened(log, "m00003", archive)).toBe("unknownMessage");
		expect(opened(log, "m00002-m00003@e3", archive)).toMatch(/^\[m00002-m00003, on another branch/);
		expect(opened(log, "m00002@e8-m00003@e3", archive)).toBe("foreignRef");
	});

	it("reach an ancestor's log by session and entry", () => {
		const { log, left } = forked();
		const archive = archiveOf(log, [left], "old");
		expect(opened(log, `b1@old/${left}`, archive)).toContain(", in session old: 2 messages");
	});
});

describe("search beyond the branch", () => {
	it("finds blocks and messages of other branches by refs that open them", () => {
		const { log, left } = forked();
		const archive = archiveOf(log, [left]);
		const hits = search(log.branch(), "walnut", 10, archive);
		expect(hits.map((hit) => hit.place)).toEqual(hits.map(() => "on another branch"));
		expect(hits.map((hit) => hit.ref)).toContain(`b1@${left}`);
		for (const hit of hits) expect(opened(log, hit.ref, archive)).toContain("walnut");
	});

	it("names each message once, although branches share it, and none that is in view", () => {
		const { log, left } = forked();
		const hits = search(log.branch(), "begin hazel", 10, archiveOf(log, [left, left]));
		expect(hits.map((hit) => hit.ref).filter((ref) => ref.startsWith("m"))).toEqual(["m00004@e4", "m00005@e5"]);
	});

	it("finds what the host no longer sends", () => {
		const log = new Log();
		log.user("Where are the chestnuts?");
		const kept = log.user("Go on.");
		log.compaction("summary", kept);
		expect(search(log.branch(), "chestnuts", 5)).toMatchObject([{ ref: "m00001", place: "no longer sent" }]);
	});
});
