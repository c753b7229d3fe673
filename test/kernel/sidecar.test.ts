import { Check } from "typebox/value";
import { describe, expect, it } from "vitest";
import { sidecarSchema } from "../../kernel/contract.ts";
import { encodeSidecar, producerName } from "../../kernel/sidecar.ts";
import { bareSettings, Log, range, said, words } from "../support/log.ts";

function folded(): Log {
	const log = new Log();
	log.user("task");
	for (const name of ["a", "b", "c"]) log.step("read", { path: name }, words(900, name));
	log.user("go on");
	log.compress([range("m2", "m3", "First.", "reading")], bareSettings);
	log.compress([range("b1", "m5", "Two.")], bareSettings);
	return log;
}

describe("a sidecar", () => {
	it("tells of every block of the branch, and which stand for messages", () => {
		const log = folded();
		const blocks = log.branch().state.blocks;
		expect(encodeSidecar(log.branch(), "1.2.3")).toEqual({
			schemaVersion: 1,
			producer: { name: producerName, version: "1.2.3" },
			leafId: "e12",
			blocks: [
				{
					blockId: "b1",
					summary: said("First."),
					tier: 1,
					compressedTokens: blocks.get(1)?.sizeTokens,
					createdAt: log.entries.get("e10")?.timestampMs,
					topic: "reading",
					startRef: "m00002",
					endRef: "m00003",
					effectiveMessageIds: ["e2", "e3"],
					active: false,
				},
				{
					blockId: "b2",
					summary: said("Two."),
					tier: 1,
					compressedTokens: blocks.get(2)?.sizeTokens,
					createdAt: log.entries.get("e12")?.timestampMs,
					startRef: "m00002",
					endRef: "m00005",
					effectiveMessageIds: ["e2", "e3", "e4", "e5"],
					active: true,
				},
			],
		});
	});

	it("stays the same while nothing is committed", () => {
		const log = folded();
		const before = encodeSidecar(log.branch(), "1");
		log.user("more");
		log.operation({ kind: "nudge", sizeTokens: 1 });
		expect(encodeSidecar(log.branch(), "1")).toEqual(before);
		log.operation({ kind: "unfold", block: 2, sizeTokens: 1 });
		expect(encodeSidecar(log.branch(), "1")).toMatchObject({
			leafId: "e15",
			blocks: [{ active: true }, { active: false }],
		});
	});

	it("of a branch without blocks is empty", () => {
		expect(encodeSidecar(new Log().branch(), "1")).toMatchObject({ leafId: null, blocks: [] });
	});

	it("matches its published schema, which refuses what does not", () => {
		const sidecar = encodeSidecar(folded().branch(), "1");
		expect(Check(sidecarSchema, sidecar)).toBe(true);
		const [block] = sidecar.blocks;
		const damaged = [
			{ ...sidecar, schemaVersion: 2 },
			{ ...sidecar, leafId: 7 },
			{ ...sidecar, blocks: [{ ...block, blockId: "b0" }] },
			{ ...sidecar, blocks: [{ ...block, tier: 4 }] },
			{ ...sidecar, blocks: [{ ...block, startRef: "m1" }] },
		];
		expect(damaged.map((each) => Check(sidecarSchema, each))).toEqual(damaged.map(() => false));
	});

	it("survives JSON", () => {
		const sidecar = encodeSidecar(folded().branch(), "1");
		expect(JSON.parse(JSON.stringify(sidecar))).toEqual(sidecar);
	});
});
