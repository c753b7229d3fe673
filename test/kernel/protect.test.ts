import { describe, expect, it } from "vitest";
import { protectedPieces } from "../../kernel/protect.ts";
import { defaultSettings, type Settings } from "../../kernel/settings.ts";
import { piecesOf } from "../../kernel/unit.ts";
import { bareSettings, Log, range, words } from "../support/log.ts";

/** The first ordinal of each protected unit with its reason. */
function reasons(log: Log, settings: Settings): Readonly<Record<string, string>> {
	const found = protectedPieces(piecesOf(log.view().items), settings, log.branch().state);
	return Object.fromEntries(
		[...found].map(([piece, reason]) => [piece.kind === "unit" ? `m${piece.records[0]?.ordinal}` : "block", reason]),
	);
}

function talk(messages: number, sizeTokens = 10): Log {
	const log = new Log();
	log.user("task");
	for (let index = 1; index < messages; index++) log.assistant(words(sizeTokens, `t${index}-`));
	return log;
}

describe("protection", () => {
	it("covers the last user message, wherever it stands", () => {
		const log = talk(4);
		log.user("go on");
		log.step("read", { path: "a" }, "x");
		expect(reasons(log, bareSettings)).toEqual({ m5: "the last user message" });
		expect(reasons(talk(9), bareSettings)).toEqual({ m1: "the last user message" });
	});

	it("covers no user message where there is none", () => {
		const log = new Log();
		log.message({ role: "custom", content: "note" });
		expect(reasons(log, bareSettings)).toEqual({});
	});

	it("covers as many messages at the end as the settings say", () => {
		const settings: Settings = { ...bareSettings, preserveRecentMessages: 2 };
		expect(Object.keys(reasons(talk(6), settings))).toEqual(["m6", "m5", "m1"]);
	});

	it("covers as many tokens at the end as the settings say, whichever reaches further", () => {
		const log = talk(9, 200);
		const lastTokens = piecesOf(log.view().items).at(-1)?.sizeTokens ?? 0;
		const settings: Settings = { ...bareSettings, preserveRecentMessages: 1, preserveRecentTokens: lastTokens + 1 };
		expect(reasons(log, settings)).toEqual({
			m8: "recent messages",
			m9: "recent messages",
			m1: "the last user message",
		});
	});

	it("covers whole units: a unit that begins before the zone and reaches into it stays", () => {
		const log = talk(3);
		log.assistant("", [{ name: "edit" }, { name: "edit" }, { name: "edit" }]);
		for (const call of [0, 1, 2]) log.result("done", { call });
		expect(reasons(log, { ...bareSettings, preserveRecentMessages: 2 })).toMatchObject({ m4: "recent messages" });
		expect(reasons(log, { ...bareSettings, preserveRecentMessages: 2 })).not.toHaveProperty("m3");
	});

	it("passes over units that only looked something up, and over blocks", () => {
		const log = talk(3);
		log.step("read", { path: "a" }, words(900));
		log.step("read", { path: "b" }, words(900));
		log.assistant("", [{ name: "read" }, { name: "edit" }]);
		log.result("x", { call: 0 });
		log.result("y", { call: 1 });
		log.step("bash", { command: "ls" }, words(900));
		const settings: Settings = { ...defaultSettings, preserveRecentMessages: 4, preserveRecentTokens: 0 };
		expect(Object.keys(reasons(log, settings))).toEqual(["m8", "m3", "m1"]);
		log.compress([range("m4", "m5")], bareSettings);
		expect(Object.keys(reasons(log, { ...settings, preserveRecentMessages: 6 }))).not.toContain("block");
	});

	it("covers units with a protected tool, by name or by pattern", () => {
		const log = new Log();
		log.user("task");
		log.step("skill", {}, "x");
		log.step("mcp.read(all)", {}, "x");
		log.step("mcp_read", {}, "x");
		log.assistant("", [{ name: "bash" }, { name: "skill" }]);
		const reason = "a protected tool";
		const protectedBy = (...protectedTools: string[]) => {
			const { m1: _, ...rest } = reasons(log, { ...bareSettings, protectedTools });
			return rest;
		};
		expect(protectedBy("skill")).toEqual({ m2: reason, m8: reason });
		expect(protectedBy("mcp.*")).toEqual({ m4: reason });
		expect(protectedBy("mcp*")).toEqual({ m4: reason, m6: reason });
		expect(protectedBy("mcp.read(all)")).toEqual({ m4: reason });
		expect(protectedBy("skil", "ki", "")).toEqual({});
	});

	it("gives the reason that lasts: the last user message before the zone, the zone before the tool", () => {
		const log = new Log();
		log.user("task");
		log.step("skill", {}, "x");
		const settings: Settings = { ...bareSettings, preserveRecentMessages: 9, protectedTools: ["skill"] };
		expect(reasons(log, settings)).toEqual({ m2: "recent messages", m1: "the last user message" });
	});
});
