import { SessionManager } from "@earendil-works/pi-coding-agent";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { shortenProjection } from "../../src/projection.ts";
import { holds } from "../support/arbitraries.ts";
import { choose } from "../support/choose.ts";
import { answerOf } from "../support/pi-answer.ts";

/** Something that happens to a session of Pi, and which of the entries so far it is about. */
type Happening = readonly [kind: keyof typeof happenings, pick: number];

const happenings = {
	user: (pi: SessionManager) => pi.appendMessage({ role: "user", content: "go on", timestamp: 1 }),
	assistant: (pi: SessionManager, _ids: readonly string[], pick: number) =>
		pi.appendMessage(answerOf(`model-${pick % 3}`)),
	system: (pi: SessionManager) => pi.appendMessage({ role: "system", content: "You help.", timestamp: 1 }),
	thinking: (pi: SessionManager, _ids: readonly string[], pick: number) =>
		pi.appendThinkingLevelChange(choose(["off", "low", "high"], pick)),
	model: (pi: SessionManager, _ids: readonly string[], pick: number) => pi.appendModelChange("p", `chosen-${pick % 3}`),
	custom: (pi: SessionManager) => pi.appendCustomMessageEntry("note", "a note", true),
	compaction: (pi: SessionManager, ids: readonly string[], pick: number) =>
		pi.appendCompaction("what was", pick % 4 === 0 ? null : choose(ids, pick), 100),
	edit: (pi: SessionManager, _ids: readonly string[], pick: number) => {
		const path = pi.getBranch().filter((entry) => entry.type === "message" && entry.message.role !== "system");
		if (path.length > 0) pi.appendContextEdit(choose(path, pick).id, pick % 2 === 0 ? null : { content: "edited" });
	},
	move: (pi: SessionManager, ids: readonly string[], pick: number) => pi.branch(choose(ids, pick)),
	moveWithSummary: (pi: SessionManager, ids: readonly string[], pick: number) =>
		pi.branchWithSummary(choose(ids, pick), "another way"),
	root: (pi: SessionManager) => pi.resetLeaf(),
	renew: (pi: SessionManager) => pi.newSession(),
};

const kinds = Object.keys(happenings) as (keyof typeof happenings)[];
const common: (keyof typeof happenings)[] = ["user", "assistant", "assistant", "compaction"];
const histories = fc.array(
	fc.tuple(fc.oneof(fc.constantFrom(...kinds), fc.constantFrom(...common)), fc.nat(999)) as fc.Arbitrary<Happening>,
	{ minLength: 5, maxLength: 60, size: "max" },
);

describe("a shortened projection", () => {
	it("is the one Pi makes, whatever happened to the session", () => {
		holds(
			4711,
			fc.property(histories, (history) => {
				const pi = SessionManager.inMemory("/tmp");
				const problems: string[] = [];
				shortenProjection(pi, (problem) => problems.push(problem));
				for (const [kind, pick] of history) {
					const ids = pi.getEntries().map((entry) => entry.id);
					if (ids.length === 0) happenings.user(pi);
					else happenings[kind](pi, ids, pick);
					expect(pi.buildSessionProjection()).toEqual(SessionManager.prototype.buildSessionProjection.call(pi));
				}
				expect(problems).toEqual([]);
			}),
			300,
		);
	});
});
