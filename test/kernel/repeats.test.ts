import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../kernel/json.ts";
import { askedInRow, refusedBefore } from "../../kernel/repeats.ts";
import { Log, range } from "../support/log.ts";

function refused(log: Log, name: string, args: Record<string, unknown>): void {
	log.assistant("", [{ name, arguments: args }]);
	log.result("Nothing was folded.", { isError: true });
}

function begun(): Log {
	const log = new Log();
	log.user("Go");
	return log;
}

const ranges = (summary: string) => ({ content: [range("m1", "m29", summary)] });

describe("the refusals of a turn", () => {
	it("are counted by the ranges, whatever the summaries say and however the call is written", () => {
		const log = begun();
		refused(log, "compress", ranges("first words"));
		refused(log, "compress", { content: JSON.stringify([range("m1", "m29", "other words")]) });
		expect(refusedBefore(log.branch(), "compress", ranges("third words"))).toBe(2);
		expect(refusedBefore(log.branch(), "compress", { content: [range("m1", "m28")] })).toBe(0);
	});

	it("are counted by the arguments where no range can be read, and for other tools", () => {
		const log = begun();
		refused(log, "compress", { content: "I finished the work" });
		refused(log, "decompress", { id: "b9", page: 1 });
		expect(refusedBefore(log.branch(), "compress", { content: "I finished the work" })).toBe(1);
		expect(refusedBefore(log.branch(), "decompress", { page: 1, id: "b9" })).toBe(1);
		expect(refusedBefore(log.branch(), "decompress", { id: "b9" })).toBe(0);
	});

	it("are forgotten once the user says something", () => {
		const log = begun();
		refused(log, "compress", ranges("words"));
		log.user("Go on");
		expect(refusedBefore(log.branch(), "compress", ranges("words"))).toBe(0);
	});

	it("are not the successes, and not the refusals of other tools", () => {
		const log = begun();
		log.step("decompress", { id: "b1" }, "page 1 of 1");
		refused(log, "search_context", { id: "b1" });
		expect(refusedBefore(log.branch(), "decompress", { id: "b1" })).toBe(0);
	});
});

describe("calls in a row", () => {
	it("end at a call of another tool, and at the user's words", () => {
		const log = begun();
		log.step("acp_status", {}, "status");
		log.step("read", { path: "a.ts" }, "text");
		log.step("acp_status", { view: "blocks" }, "status");
		log.step("acp_status", {}, "status");
		expect(askedInRow(log.branch(), "acp_status", () => true)).toBe(2);
		expect(askedInRow(log.branch(), "acp_status", (args) => canonicalJson(args) === "{}")).toBe(1);
		log.user("And now");
		expect(askedInRow(log.branch(), "acp_status", () => true)).toBe(0);
	});
});
