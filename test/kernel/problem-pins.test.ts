import { expect, it } from "vitest";
import { whatIsWrong } from "../../kernel/problem.ts";

it("says that a message is not pinned, or which pin a block would fold", () => {
	expect(whatIsWrong({ code: "notPinned", ref: "m00002" })).toBe("m00002 is not pinned.");
	expect(whatIsWrong({ code: "pinned", ref: "m00002", block: 1 })).toBe(
		"m00002 is pinned, and b1 would fold it; unpin it first.",
	);
});
