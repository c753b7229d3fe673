import { findProduct } from "./catalog.ts";
import { appliesTo, findCoupon } from "./coupons.ts";
import { percentOf, spread } from "./money.ts";
import { shippingFee } from "./shipping.ts";
import { standardRate, taxRate } from "./tax.ts";
import type { OrderLine, OrderRequest, PricedLine, TaxAmount, Totals } from "./types.ts";

/** The totals of an order by the rules in docs/pricing.md. Throws for unknown products, coupons and countries. */
export function priceOrder(request: OrderRequest): Totals {
	const lines = takePercentCoupon(request.lines.flatMap(priceLine), request.percentCoupon);
	const discounted = takeFixedCoupon(lines, request.fixedCoupon);
	const subtotalCents = sum(discounted.map((line) => line.netCents));
	const discountCents = sum(discounted.map((line) => line.discountCents));
	const netCents = subtotalCents - discountCents;
	const weightGrams = sum(discounted.map((line) => line.product.weightGrams * line.quantity));
	const shippingCents = shippingFee(request.country, weightGrams, netCents);
	const taxes = taxesOf(request.country, discounted, shippingCents);
	const totalCents = netCents + shippingCents + sum(taxes.map((tax) => tax.taxCents));
	return { lines: discounted, subtotalCents, discountCents, shippingCents, taxes, totalCents };
}

/** Rules 1.1 and 1.2. */
function priceLine({ sku, quantity }: OrderLine): PricedLine[] {
	if (quantity < 0) throw new RangeError(`negative quantity of ${sku}`);
	if (quantity === 0) return [];
	const product = findProduct(sku);
	return [{ product, quantity, netCents: product.priceCents * quantity, discountCents: 0 }];
}

/** Rules 2.2 to 2.4. */
function takePercentCoupon(lines: PricedLine[], code: string | undefined): PricedLine[] {
	if (code === undefined) return lines;
	const coupon = findCoupon(code, "percent");
	return lines.map((line) => ({
		...line,
		discountCents: appliesTo(coupon, line) ? percentOf(line.netCents, coupon.percent) : 0,
	}));
}

/** Rules 2.5 and 2.6. */
function takeFixedCoupon(lines: PricedLine[], code: string | undefined): PricedLine[] {
	if (code === undefined) return lines;
	const left = lines.map((line) => line.netCents - line.discountCents);
	const amountCents = Math.min(findCoupon(code, "fixed").amountCents, sum(left));
	const parts = spread(amountCents, left);
	return lines.map((line, index) => ({ ...line, discountCents: line.discountCents + (parts[index] ?? 0) }));
}

/** Rules 4.1 and 4.2: one rounding for each rate. */
function taxesOf(country: string, lines: PricedLine[], shippingCents: number): TaxAmount[] {
	const netByRate = new Map<number, number>();
	const add = (ratePercent: number, netCents: number) =>
		netByRate.set(ratePercent, (netByRate.get(ratePercent) ?? 0) + netCents);
	for (const line of lines) add(taxRate(country, line.product.category), line.netCents - line.discountCents);
	if (shippingCents > 0) add(standardRate(country), shippingCents);
	return [...netByRate]
		.sort(([a], [b]) => b - a)
		.map(([ratePercent, netCents]) => ({ ratePercent, netCents, taxCents: percentOf(netCents, ratePercent) }));
}

function sum(amounts: number[]): number {
	return amounts.reduce((total, amount) => total + amount, 0);
}
