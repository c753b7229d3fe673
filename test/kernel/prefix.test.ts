import { describe, expect, it } from "vitest";
import { planFit } from "../../kernel/guarantee.ts";
import type { Message } from "../../kernel/message.ts";
import { nudgeMessageType, viewTokens } from "../../kernel/view.ts";
import { bareSettings, contextOf, Log, range, words } from "../support/log.ts";

/** What a provider sees of the messages: usage is read by the host only, and a nudge is volatile. */
function bytes(messages: readonly Message[]): readonly string[] {
	return messages
		.filter((message) => !("customType" in message && message.customType === nudgeMessageType))
		.map(({ usage: _, ...message }) => JSON.stringify(message));
}

/** How many messages at the beginning of both are the same. */
function common(before: readonly string[], after: readonly string[]): number {
	const place = before.findIndex((message, index) => message !== after[index]);
	return place < 0 ? before.length : place;
}

function worked(): Log {
	const log = new Log();
	log.message({ role: "system", content: "rules" });
	log.user("task");
	for (const name of ["a", "b", "c", "d"]) log.step("read", { path: name }, words(1_200, name));
	log.user("go on");
	return log;
}

const usage = { input: 9_000, output: 10, cacheRead: 0, cacheWrite: 0, totalTokens: 9_010 };

describe("between commits", () => {
	it("each view is the beginning of the next", () => {
		const log = worked();
		log.compress([range("m2", "m5", "First.")], bareSettings);
		const steps: readonly (() => unknown)[] = [
			() => log.user("<acp>m00001</acp> and then?"),
			() => log.assistant("let me see", [{ name: "bash" }, { name: "read" }], { thinking: "hm", usage }),
			() => log.result("", { call: 0 }),
			() => log.result([{ type: "image", data: "aGk=", mimeType: "image/png" }], { call: 1 }),
			() => log.assistant("", [{ name: "read" }], { stopReason: "aborted" }),
			() => log.message({ role: "system", content: "more rules" }),
			() => log.operation({ kind: "nudge", sizeTokens: 5_000 }),
			() => log.step("acp_status", {}, "status"),
			() => log.compress([range("m99", "m1"), range("m3", "m3")], bareSettings),
			() => log.branchSummary("elsewhere"),
			() => log.step("compress", {}, "a rival's result"),
			() => log.other(),
			() => log.user(words(40_000)),
		];
		for (const step of steps) {
			const before = bytes(log.sent());
			step();
			const after = bytes(log.sent());
			expect(common(before, after)).toBe(before.length);
		}
	});

	it("a nudge comes and goes without a change before it", () => {
		const log = worked();
		log.step("read", { path: "e" }, words(60_000));
		const window = { limitTokens: 200_000, usableTokens: 150_000, source: "model" as const };
		const nudged = log.sent({ settings: bareSettings, window });
		expect(nudged.at(-1)).toMatchObject({ customType: nudgeMessageType });
		log.assistant("soon");
		log.operation({ kind: "nudge", sizeTokens: viewTokens(log.view()) });
		const after = log.sent({ settings: bareSettings, window });
		expect(bytes(after).slice(0, -1)).toEqual(bytes(nudged));
		expect(after.at(-1)).not.toMatchObject({ customType: nudgeMessageType });
	});

	it("the view depends neither on settings nor on the window nor on what was looked at before", () => {
		const log = worked();
		log.compress([range("m2", "m5", "First.")], bareSettings);
		const view = bytes(log.sent());
		const settings = { ...bareSettings, protectedTools: ["*"], preserveRecentMessages: 99 };
		expect(bytes(log.sent({ settings }))).toEqual(view);
		expect(bytes(log.sent({ window: { limitTokens: 10, usableTokens: 5, source: "model" as const } }))).toEqual(view);
		const leaf = log.leafId;
		log.leafId = "e4";
		log.user("another way");
		log.compress([range("m2", "m3", "Other.")], bareSettings);
		log.sent();
		log.leafId = leaf;
		expect(bytes(log.sent())).toEqual(view);
		const fresh = new Log();
		for (const entry of log.entries.values()) fresh.entries.set(entry.id, entry);
		fresh.leafId = leaf;
		expect(bytes(fresh.sent())).toEqual(view);
	});

	it("the same messages come out as the same objects where nothing is to be changed", () => {
		const log = new Log();
		log.message({ role: "system", content: "rules" });
		log.user("task");
		log.assistant("sure", [], { usage });
		const outgoing = log.outgoing();
		const sent = log.sent();
		expect([sent[0], sent[2]]).toEqual([outgoing[0], outgoing[2]]);
		expect(sent[0]).toBe(outgoing[0]);
		expect(sent[2]).toBe(outgoing[2]);
		expect(log.sent({ isActive: false }).every((message, index) => message === outgoing[index])).toBe(true);
	});
});

describe("a commit", () => {
	it("changes nothing before the first message it folds", () => {
		const log = worked();
		log.step("acp_status", {}, "status");
		const before = bytes(log.sent());
		log.compress([range("m8", "m9", "Later."), range("m4", "m5", "Earlier.")], bareSettings);
		const after = bytes(log.sent());
		expect(common(before, after)).toBe(4);
		expect(after[4]).toContain("acp-block");
	});

	it("folds what was spent before it only behind its first message", () => {
		const log = new Log();
		log.user("task");
		log.step("acp_status", {}, "early");
		for (const name of ["a", "b"]) log.step("read", { path: name }, words(1_200, name));
		log.step("acp_status", {}, "late");
		log.user("go on");
		const before = bytes(log.sent());
		log.compress([range("m6", "m7", "Second.")], bareSettings);
		const after = bytes(log.sent());
		expect(common(before, after)).toBe(5);
		expect(after.join("\n")).toContain("early");
		expect(after.join("\n")).not.toContain('"late');
	});

	it("that opens a block changes nothing before it", () => {
		const log = worked();
		log.compress([range("m2", "m3", "First."), range("m6", "m7", "Third.")], bareSettings);
		const before = bytes(log.sent());
		log.operation({ kind: "unfold", block: 2, sizeTokens: 5_000 });
		expect(common(before, bytes(log.sent()))).toBe(5);
	});

	it("that cuts results changes nothing else, and the cut holds from then on", () => {
		const log = worked();
		log.step("bash", { command: "cat" }, words(30_000));
		log.user("go on");
		const before = bytes(log.sent());
		const context = contextOf(log.branch(), { settings: { ...bareSettings, strategy: "model" } });
		const found = planFit(log.view(), context, 9_000);
		const operation = found.kind === "operation" ? found.operation : expect.unreachable();
		log.operation(operation);
		const after = bytes(log.sent());
		const changed = before.flatMap((message, index) => (message === after[index] ? [] : index));
		expect(changed).toEqual([12]);
		log.assistant("on with it");
		expect(bytes(log.sent()).slice(0, -1)).toEqual(after);
	});
});
