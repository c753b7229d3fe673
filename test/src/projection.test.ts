import { SessionManager } from "@earendil-works/pi-coding-agent";
import { describe, expect, it, vi } from "vitest";
import { shortenProjection } from "../../src/projection.ts";
import { answerOf } from "../support/pi-answer.ts";

/** A session of so many turns with a compaction after them, and what was reported of its projection. */
function compacted(turns: number) {
	const pi = SessionManager.inMemory("/tmp");
	pi.appendThinkingLevelChange("high");
	for (let turn = 0; turn < turns; turn++) {
		pi.appendMessage({ role: "user", content: `turn ${turn}`, timestamp: 1 });
		pi.appendMessage(answerOf());
	}
	const kept = pi.appendMessage({ role: "user", content: "kept", timestamp: 1 });
	pi.appendCompaction("what was", kept, 100);
	const report = vi.fn<(problem: string) => void>();
	return { pi, report, release: shortenProjection(pi, report) };
}

const entry = (id: string, parentId: string) => ({ id, parentId, timestamp: "2026-01-01T00:00:00.000Z" });

const piProjection = (pi: SessionManager) => SessionManager.prototype.buildSessionProjection.call(pi);

describe("the projection of a session with a compaction", () => {
	it("looks only at what is sent, however long the session is", () => {
		const looks = [10, 1_000].map((turns) => {
			const { pi } = compacted(turns);
			pi.buildSessionProjection();
			pi.appendMessage({ role: "user", content: "and on", timestamp: 1 });
			const entries = vi.spyOn(pi, "getEntries");
			const entry = vi.spyOn(pi, "getEntry");
			const { thinkingLevel, model, messages } = pi.buildSessionProjection();
			expect([thinkingLevel, model?.modelId, messages.length]).toEqual(["high", "scripted-1", 3]);
			expect(entries).not.toHaveBeenCalled();
			return entry.mock.calls.length;
		});
		expect(looks[0]).toBeLessThan(12);
		expect(looks[1]).toBe(looks[0]);
	});

	it("is Pi's own for good once it differs from that", () => {
		const { pi, report } = compacted(2);
		const own = vi.spyOn(SessionManager.prototype, "buildSessionProjection");
		const { pi: other, report: otherReport } = compacted(2);
		const strange = { ...piProjection(other), thinkingLevel: "strange" };
		own.mockReturnValue(strange);
		expect(other.buildSessionProjection()).toBe(strange);
		expect(other.buildSessionProjection()).toBe(strange);
		own.mockRestore();
		expect(otherReport.mock.calls).toEqual([[expect.stringContaining("in another way than expected")]]);
		expect(pi.buildSessionProjection()).toEqual(piProjection(pi));
		expect(report).not.toHaveBeenCalled();
	});

	it("stands for nothing before an entry whose parent the file has lost", () => {
		const pi = SessionManager.inMemory("/tmp", undefined, [
			{ type: "session", version: 3, id: "s", timestamp: "2026-01-01T00:00:00.000Z", cwd: "/tmp" },
			{ ...entry("c", "lost"), type: "message", message: { role: "user", content: "kept", timestamp: 1 } },
			{ ...entry("d", "c"), type: "compaction", summary: "what was", firstKeptEntryId: "c", tokensBefore: 1 },
			{ ...entry("e", "d"), type: "message", message: { role: "user", content: "on", timestamp: 1 } },
			{ ...entry("f", "e"), type: "thinking_level_change", thinkingLevel: "high" },
		]);
		shortenProjection(pi, expect.unreachable);
		expect(pi.buildSessionProjection().thinkingLevel).toBe("high");
		pi.branch("e");
		expect(pi.buildSessionProjection()).toEqual(piProjection(pi));
		expect(pi.buildSessionProjection().thinkingLevel).toBe("off");
	});

	it("is Pi's own method again once it is released", () => {
		const { pi, release } = compacted(2);
		expect(Object.hasOwn(pi, "buildSessionProjection")).toBe(true);
		release();
		expect(pi.buildSessionProjection).toBe(SessionManager.prototype.buildSessionProjection);
	});

	it("leaves alone what another extension put in the method's place, before or after", () => {
		const { pi, release } = compacted(2);
		const theirs = () => piProjection(pi);
		pi.buildSessionProjection = theirs;
		release();
		shortenProjection(pi, expect.unreachable);
		expect(pi.buildSessionProjection).toBe(theirs);
	});

	it("leaves a host without the method as it is", () => {
		const pi = compacted(1).pi;
		const host = { getEntries: pi.getEntries, getEntry: pi.getEntry, getLeafId: pi.getLeafId };
		shortenProjection(host as never, expect.unreachable)();
		expect(host).not.toHaveProperty("buildSessionProjection");
	});
});
