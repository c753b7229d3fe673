import { describe, expect, it } from "vitest";
import type { LoggedReduction } from "../../../kernel/operation.ts";
import { hide } from "../../../kernel/pipeline/hide.ts";
import { branchItems } from "../../../kernel/sent.ts";
import { foreignItem, viewOf } from "../../../kernel/view.ts";
import { contextOf, Log, shown } from "../../support/log.ts";

function hidden(...reductions: readonly LoggedReduction[]): readonly string[] {
	const log = new Log();
	log.user("task");
	log.assistant("", [{ name: "acp_status" }, { name: "acp_status" }], { thinking: "hm" });
	log.result("one", { call: 0 });
	log.result("two", { call: 1 });
	log.user("go on");
	log.operation({ kind: "truncate", reductions, sizeTokens: 1 });
	const branch = log.branch();
	const items = [...branchItems(branch), foreignItem({ role: "custom", content: "x", timestamp: 1 })];
	return shown(hide(viewOf(items), contextOf(branch)));
}

describe("the stage hide", () => {
	it("leaves out a unit that a commit recorded, whole", () => {
		expect(hidden({ id: "e2", ordinal: 2, rule: "hide", savedTokens: 0 })).toEqual(["m1", "m5", "custom"]);
	});

	it("leaves out no part of a unit, and nothing for another rule", () => {
		const all = ["m1", "m2", "m3", "m4", "m5", "custom"];
		expect(hidden()).toEqual(all);
		expect(hidden({ id: "e3", ordinal: 3, rule: "hide", savedTokens: 0 })).toEqual(all);
		expect(hidden({ id: "e2", ordinal: 2, rule: "truncate", keepChars: 5, savedTokens: 0 })).toEqual(all);
	});
});
