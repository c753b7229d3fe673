import { describe, expect, it } from "vitest";
import { foreignCalls, planTakeover, readForeignSidecar } from "../../kernel/index.ts";
import { Log, words } from "../support/log.ts";

function worked(): Log {
	const log = new Log();
	log.user("Begin.");
	for (const name of ["a", "b", "c"]) log.step("read", { path: `${name}.ts` }, words(600, name));
	return log;
}

const summary = "read three files and found nothing that has to change in them";

/** A compress call of another extension with its answer. */
function foreignCall(log: Log, startId: string, endId: string, isError = false): void {
	log.assistant("", [
		{ name: "compress", arguments: { content: [{ startId, endId, summary: `${startId}: ${summary}` }] } },
	]);
	log.result("compressed 1 range", { isError });
}

describe("a foreign sidecar", () => {
	const block = (over: object) => ({ blockId: "b1", summary, tier: 1, compressedTokens: 5, createdAt: 1, ...over });

	it("is taken over where its entry ids are on the branch, whole units at a time", () => {
		const log = worked();
		const foreign = readForeignSidecar({
			blocks: [block({ topic: "files", effectiveMessageIds: ["e2#call_1", "e4", "e5"] })],
		});
		const plan = planTakeover(log.branch(), log.view(), foreign ?? []);
		expect(plan).toMatchObject({
			taken: ["b1"],
			left: [],
			operation: { kind: "fold", blocks: [{ number: 1, topic: "files" }] },
		});
		if (plan.operation !== undefined) log.operation(plan.operation);
		expect(log.branch().state.tops[0]).toMatchObject({ summary, spans: [{ from: 2, to: 5 }] });
	});

	it("leaves and names blocks that list nothing on the branch, and skips those that are not active", () => {
		const log = worked();
		const foreign = readForeignSidecar({
			schemaVersion: 1,
			blocks: [
				block({ blockId: "b1", effectiveMessageIds: ["elsewhere"] }),
				block({ blockId: "b2", active: false, effectiveMessageIds: ["e2"] }),
				block({ blockId: "b3" }),
			],
		});
		expect(planTakeover(log.branch(), log.view(), foreign ?? [])).toEqual({
			operation: undefined,
			taken: [],
			left: ["b1", "b3"],
		});
	});

	it("gives each message to one block, in the order of the log", () => {
		const log = worked();
		const foreign = readForeignSidecar({
			blocks: [
				block({ blockId: "b2", tier: 9, effectiveMessageIds: ["e4", "e5"] }),
				block({ blockId: "b1", effectiveMessageIds: ["e2", "e3", "e4"] }),
			],
		});
		const { operation } = planTakeover(log.branch(), log.view(), foreign ?? []);
		expect(operation).toMatchObject({ blocks: [{ number: 1, spans: [{ from: 2, to: 5 }] }] });
	});

	it.each([[null], ["text"], [[]], [{}], [{ blocks: {} }], [{ schemaVersion: 2, blocks: [] }]])(
		"is not read from %j",
		(value) => {
			expect(readForeignSidecar(value)).toBeUndefined();
		},
	);

	it("may hold blocks without a name, topic or sensible tier", () => {
		const [found] = readForeignSidecar({ blocks: [{ summary, tier: "x" }, 7, { summary: 7 }] }) ?? [];
		expect(found).toMatchObject({ name: "a block without a name", tier: 1, topic: undefined });
	});
});

describe("foreign calls in the log", () => {
	it("are located by numbers that count an assistant message once per call", () => {
		const log = new Log();
		log.user("Begin.");
		log.assistant("", [{ name: "read" }, { name: "read" }]);
		log.result(words(600, "a"), { call: 0 });
		log.result(words(600, "b"), { call: 1 });
		log.step("read", { path: "c.ts" }, words(600, "c"));
		// 1 user, 2 and 3 the two calls, 4 and 5 their results, 6 and 7 the third call and its result.
		foreignCall(log, "m00006", "m00007");
		const plan = planTakeover(log.branch(), log.view(), foreignCalls(log.branch()));
		expect(plan.operation).toMatchObject({ blocks: [{ spans: [{ from: 5, to: 6 }] }] });
	});

	it("that name blocks take over what those cover", () => {
		const log = worked();
		foreignCall(log, "m00002", "m00003");
		foreignCall(log, "m00004", "m00005");
		foreignCall(log, "b1", "b2");
		const plan = planTakeover(log.branch(), log.view(), foreignCalls(log.branch()));
		expect(plan).toMatchObject({ taken: ["b3"], operation: { blocks: [{ spans: [{ from: 2, to: 5 }] }] } });
	});

	it("are left alone if they failed, are ours, name nothing, or reach past themselves", () => {
		const log = worked();
		foreignCall(log, "m00002", "m00003", true);
		foreignCall(log, "m00005", "m00004");
		foreignCall(log, "m00002", "m00990");
		foreignCall(log, "nonsense", "b9");
		log.assistant("", [{ name: "compress", arguments: { content: "prose" } }]);
		log.result("compressed");
		expect(foreignCalls(log.branch())).toEqual([]);
		log.compress([{ startId: "m00002", endId: "m00003", summary }]);
		expect(foreignCalls(log.branch())).toEqual([]);
	});
});
