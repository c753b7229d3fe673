import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { priceOrder } from "../src/pricing.ts";
import type { OrderRequest } from "../src/types.ts";

function order(lines: Record<string, number>, rest: Partial<OrderRequest> = {}): OrderRequest {
	const items = Object.entries(lines).map(([sku, quantity]) => ({ sku, quantity }));
	return { customer: "c101", country: "DE", lines: items, ...rest };
}

describe("lines", () => {
	test("the subtotal is the sum of price times quantity (1.1, 1.3)", () => {
		assert.equal(priceOrder(order({ T101: 2, B150: 1 })).subtotalCents, 5_683);
	});

	test("a line with quantity 0 is dropped (1.2)", () => {
		assert.equal(priceOrder(order({ T101: 0, B150: 1 })).lines.length, 1);
	});

	test("a negative quantity is refused (1.2)", () => {
		assert.throws(() => priceOrder(order({ T101: -1 })), /negative quantity of T101/);
	});
});

describe("discounts", () => {
	test("order 1042: a percentage is taken once from the sum of the lines (2.3)", () => {
		const totals = priceOrder(order({ T129: 1, G136: 1, B122: 1 }, { percentCoupon: "SPRING15" }));
		assert.equal(totals.subtotalCents, 8_265);
		assert.equal(totals.discountCents, 1_240);
	});

	test("a coupon for a category leaves other lines alone (2.2)", () => {
		const totals = priceOrder(order({ T101: 1, G136: 2 }, { percentCoupon: "TOOLS7" }));
		assert.deepEqual(
			totals.lines.map((line) => line.discountCents),
			[132, 0],
		);
	});

	test("a fixed coupon is spread without a remainder (2.4, 2.5)", () => {
		const totals = priceOrder(order({ T115: 1, T136: 1, G164: 1 }, { fixedCoupon: "WELCOME5" }));
		assert.equal(totals.discountCents, 500);
	});

	test("a fixed coupon takes no more than is left (2.6)", () => {
		assert.equal(priceOrder(order({ F115: 1 }, { fixedCoupon: "SORRY20" })).discountCents, 448);
	});
});

describe("taxes", () => {
	test("one rounding for each rate (4.1)", () => {
		const totals = priceOrder(order({ B101: 1, B108: 1, T101: 1 }));
		assert.deepEqual(
			totals.taxes.map((tax) => [tax.ratePercent, tax.netCents]),
			[
				[19, 2_380],
				[7, 4_880],
			],
		);
	});

	test("shipping to zone 1 is free from 150.00 on (3.2)", () => {
		assert.equal(priceOrder(order({ T157: 2 })).shippingCents, 0);
	});
});
