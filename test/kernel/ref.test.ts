import { describe, expect, it } from "vitest";
import { blockRef, defuse, formatRef, messageRef, parseRef, parseRefRange, rangeRef, tag } from "../../kernel/ref.ts";

describe("reading a ref", () => {
	it.each([
		["m12", 12],
		["M0012", 12],
		["m00012", 12],
		["  m00012\n", 12],
		["<acp>m00012</acp>", 12],
		["<ACP> m12 </ACP>", 12],
		["m100000", 100_000],
	])("takes %j as a message", (text, number) => {
		expect(parseRef(text)).toEqual({ kind: "message", number });
	});

	it.each([
		["b3", 3],
		["b03", 3],
		[" B003 ", 3],
	])("takes %j as a block", (text, number) => {
		expect(parseRef(text)).toEqual({ kind: "block", number });
	});

	it("keeps the entry and the session of a foreign ref", () => {
		expect(parseRef("m40@1a0673c5")).toEqual({ kind: "message", number: 40, at: "1a0673c5" });
		expect(parseRef("b3@01a2-b4/1a0673c5")).toEqual({ kind: "block", number: 3, at: "01a2-b4/1a0673c5" });
	});

	it.each(["", " ", "m", "b", "12", "m0", "b00", "m-3", "m1.5", "x12", "m12 m13", "m12@", "m1234567890123", "m１２"])(
		"refuses %j",
		(text) => {
			expect(parseRef(text)).toBeUndefined();
			expect(parseRefRange(text)).toBeUndefined();
		},
	);
});

describe("reading a range", () => {
	const five = { kind: "message", number: 5 };
	const nine = { kind: "message", number: 9 };

	it.each(["m00005-m00009", "m5 - m9", "m5–m9", "m5—m9", "m5..m9", "m5:m9", " m5 to m9 "])("takes %j", (text) => {
		expect(parseRefRange(text)).toEqual({ from: five, to: nine });
	});

	it("takes a single ref as a range of one", () => {
		expect(parseRefRange("m5")).toEqual({ from: five, to: five });
		expect(parseRefRange("b2")).toEqual({ from: { kind: "block", number: 2 }, to: { kind: "block", number: 2 } });
	});

	it("takes foreign refs at either end, and hyphens inside their ids", () => {
		expect(parseRefRange("m5@1a06-m9@5db2")).toEqual({ from: { ...five, at: "1a06" }, to: { ...nine, at: "5db2" } });
		expect(parseRefRange("m5@1a06-m9")).toEqual({ from: { ...five, at: "1a06" }, to: nine });
		const uuid = "01a2cccc-b4d1-4e11-8888-000000000000";
		expect(parseRefRange(`m5@${uuid}`)).toEqual({ from: { ...five, at: uuid }, to: { ...five, at: uuid } });
	});

	it.each(["m5-", "-m9", "m5-x9", "m5-m0", "m5-m9-m12"])("refuses %j", (text) => {
		expect(parseRefRange(text)).toBeUndefined();
	});
});

describe("writing refs", () => {
	it("pads message refs to five digits and lets them grow", () => {
		expect([1, 12, 99_999, 100_000].map(messageRef)).toEqual(["m00001", "m00012", "m99999", "m100000"]);
		expect(blockRef(3)).toBe("b3");
	});

	it("writes a range of one as one ref", () => {
		expect(rangeRef(5, 31)).toBe("m00005-m00031");
		expect(rangeRef(5, 5)).toBe("m00005");
	});

	it("writes what was read leniently in the canonical form", () => {
		const written = ["M12", "b03", "m7@e1"].map((text) => formatRef(parseRef(text) ?? expect.unreachable()));
		expect(written).toEqual(["m00012", "b3", "m00007@e1"]);
	});

	it("gives more than ten thousand messages a ref each that reads back", () => {
		const ordinals = Array.from({ length: 10_050 }, (_, index) => index + 1);
		const refs = ordinals.map(messageRef);
		expect(new Set(refs).size).toBe(ordinals.length);
		expect(refs.map((ref) => parseRef(ref)?.number)).toEqual(ordinals);
		for (const old of ["m0001", "m00001", "m1"]) expect(parseRef(old)?.number).toBe(1);
	});

	it("writes a tag with the canonical ref", () => {
		expect(tag(12)).toBe("<acp>m00012</acp>");
	});
});

describe("look-alikes", () => {
	it.each([
		["<acp>m00012</acp>", "< acp>m00012</acp>"],
		["see <ACP> b3 </ACP>.", "see < ACP> b3 </ACP>."],
		['<acp-block id="b1">x</acp-block>', '< acp-block id="b1">x< /acp-block>'],
		["<acp>m1</acp><acp>m2</acp>", "< acp>m1</acp>< acp>m2</acp>"],
	])("turns %j into text that reads differently", (text, defused) => {
		expect(defuse(text)).toBe(defused);
		expect(defuse(defused)).toBe(defused);
	});

	it.each(["m00012", "<acp>", "<acp>hello</acp>", "<acp-blocks>", "a < b", "<b>m00012</b>"])(
		"leaves %j alone",
		(text) => {
			expect(defuse(text)).toBe(text);
		},
	);
});
