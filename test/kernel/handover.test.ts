import { describe, expect, it } from "vitest";
import { planHandover } from "../../kernel/handover.ts";
import { estimateTokens } from "../../kernel/meter/estimate.ts";
import { bareSettings, contextOf, Log, range, words } from "../support/log.ts";

function handover(log: Log, usableTokens = 100_000) {
	const window = { limitTokens: usableTokens, usableTokens, source: "model" as const };
	return planHandover(log.view(), contextOf(log.branch(), { window }));
}

/** A question, a folded middle, a second question with its answer, and a third one. */
function folded(): Log {
	const log = new Log();
	log.user("first question");
	log.step("read", { path: "a.ts" }, words(3_000));
	log.user("second question");
	log.assistant("second answer");
	log.user("third question");
	log.compress([range("m2", "m3", "What a.ts says.")], bareSettings);
	return log;
}

describe("a handover", () => {
	it("of a session without messages is none", () => {
		expect(handover(new Log())).toBeUndefined();
	});

	it("has the texts of the blocks word for word, the rest told by rules, and the last turn as it is", () => {
		const log = folded();
		const [block] = log.branch().state.tops;
		const { summary, firstKeptId } = handover(log) ?? expect.unreachable();
		const [before, after] = summary.split(block?.text ?? "-");
		expect(before).toContain("user: first question");
		expect(after).toContain("user: second question");
		expect(after).toContain("assistant: second answer");
		expect(summary).not.toContain("third question");
		expect(log.entries.get(firstKeptId ?? "")).toMatchObject({ message: { content: "third question" } });
	});

	it("keeps nothing as it is if the last turn is large or holds a block, and tells it", () => {
		const log = folded();
		log.step("bash", { command: "make" }, words(30_000));
		const large = handover(log) ?? expect.unreachable();
		expect(large.firstKeptId).toBeNull();
		expect(large.summary).toContain("user: third question");
		const inside = folded();
		inside.step("read", { path: "b.ts" }, words(3_000));
		const last = inside.branch().lastOrdinal;
		inside.compress([range(`m${last - 1}`, `m${last}`, "What b.ts says.")], bareSettings);
		expect(handover(inside)).toMatchObject({ firstKeptId: null });
	});

	it("keeps nothing as it is where the user said nothing", () => {
		const log = new Log();
		log.assistant("hello");
		expect(handover(log)).toMatchObject({ firstKeptId: null, summary: expect.stringContaining("assistant: hello") });
	});

	it("tells the blocks by rules too if their texts leave no room", () => {
		const log = new Log();
		log.user("first question");
		log.step("read", { path: "a.ts" }, words(3_000));
		log.user("second question");
		log.compress([range("m2", "m3", words(1_000, "sum"))], bareSettings);
		const { summary } = handover(log, 1_600) ?? expect.unreachable();
		expect(summary).not.toContain("<acp-block");
		expect(summary).toContain("folded: sum0 sum1");
		expect(estimateTokens(summary)).toBeLessThan(800);
	});

	it("takes at most half of the usable window, whatever the session is like", () => {
		const log = new Log();
		for (let turn = 0; turn < 40; turn++) {
			log.user(`question ${turn} ${words(300, `q${turn}-`)}`);
			log.step("read", { path: `${turn}.ts` }, words(1_500, `r${turn}-`));
			log.assistant(`answer ${turn} ${words(300, `a${turn}-`)}`);
			if (turn % 4 === 3) {
				const last = log.branch().lastOrdinal;
				log.compress([range(`m${last - 2}`, `m${last - 1}`, words(200, `s${turn}-`))], bareSettings);
			}
		}
		for (const usableTokens of [6_000, 24_000, 100_000]) {
			const { summary, firstKeptId } = handover(log, usableTokens) ?? expect.unreachable();
			const kept = log.branch().messages(1, log.branch().lastOrdinal);
			const from = kept.findIndex((record) => record.entry.id === firstKeptId);
			const keptTokens = from < 0 ? 0 : kept.slice(from).reduce((sum, record) => sum + record.sizeTokens, 0);
			expect(estimateTokens(summary) + keptTokens).toBeLessThanOrEqual(usableTokens / 2);
		}
	});

	it("is the same twice over, and changes nothing", () => {
		const log = folded();
		expect(handover(log)).toEqual(handover(log));
	});
});
