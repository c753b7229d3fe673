import { allProducts } from "../src/catalog.ts";
import { appliesTo, findCoupon } from "../src/coupons.ts";
import { formatCents, percentOf } from "../src/money.ts";
import { priceOrder } from "../src/pricing.ts";
import type { OrderRequest, Totals } from "../src/types.ts";

const ordersPerMonth = 120;
const countries = ["DE", "DE", "DE", "AT", "NL", "FR", "CH", "DK", "IT", "SE"];
const percentCoupons = [undefined, "SPRING15", "SPRING15", "GARDEN12", "TOOLS7"];

interface Check {
	id: number;
	request: OrderRequest;
	totals: Totals;
	/** The discount of the percentage coupon by rule 2.3, computed here without src/pricing.ts. */
	expectedCents: number;
	chargedCents: number;
}

const month = argument("--month") ?? "2026-05";
const checks = recordedOrders(month).map(check);
const wrong = checks.filter((each) => each.expectedCents !== each.chargedCents);
if (!process.argv.includes("--summary")) {
	for (const each of process.argv.includes("--only-wrong") ? wrong : checks) console.log(trace(each));
}
const tooMuch = wrong.filter((each) => each.chargedCents < each.expectedCents).length;
console.log(
	`${month}: ${wrong.length} of ${checks.length} orders have a wrong discount, ${tooMuch} of them were charged too much`,
);

function argument(name: string): string | undefined {
	const index = process.argv.indexOf(name);
	return index < 0 ? undefined : process.argv[index + 1];
}

/** The recorded requests of a month. They are drawn from a fixed sequence, so that the recording needs no file. */
function recordedOrders(of: string): { id: number; request: OrderRequest }[] {
	let state = [...of].reduce((sum, char) => sum * 31 + char.charCodeAt(0), 11) % 2_147_483_647;
	const draw = (below: number) => {
		state = (state * 48_271) % 2_147_483_647;
		return state % below;
	};
	const pick = <Item>(items: readonly Item[]): Item => items[draw(items.length)] as Item;
	return Array.from({ length: ordersPerMonth }, (_, index) => {
		const lines = Array.from({ length: 2 + draw(4) }, () => ({ sku: pick(allProducts()).sku, quantity: 1 + draw(3) }));
		const coupon = pick(percentCoupons);
		const request: OrderRequest = { customer: `c${100 + draw(900)}`, country: pick(countries), lines };
		return { id: 2_000 + index, request: coupon === undefined ? request : { ...request, percentCoupon: coupon } };
	});
}

function check({ id, request }: { id: number; request: OrderRequest }): Check {
	const totals = priceOrder(request);
	const { percentCoupon } = request;
	if (percentCoupon === undefined) return { id, request, totals, expectedCents: 0, chargedCents: 0 };
	const coupon = findCoupon(percentCoupon, "percent");
	const discounted = totals.lines.filter((line) => appliesTo(coupon, line));
	const netCents = discounted.reduce((sum, line) => sum + line.netCents, 0);
	return {
		id,
		request,
		totals,
		expectedCents: percentOf(netCents, coupon.percent),
		chargedCents: totals.discountCents,
	};
}

function trace({ id, request, totals, expectedCents, chargedCents }: Check): string {
	const verdict = expectedCents === chargedCents ? "ok" : `WRONG, rule 2.3 gives ${formatCents(expectedCents)}`;
	const coupon = request.percentCoupon ?? "no coupon";
	return [
		`order ${id} ${request.customer} ${request.country} ${coupon}`,
		...totals.lines.map(
			({ product, quantity, netCents, discountCents }) =>
				`  ${product.sku} ${product.title} x${quantity} net ${formatCents(netCents)} less ${formatCents(discountCents)}`,
		),
		`  subtotal ${formatCents(totals.subtotalCents)} discount ${formatCents(chargedCents)} ${verdict}`,
		...totals.taxes.map(
			(tax) => `  VAT ${tax.ratePercent} % on ${formatCents(tax.netCents)} is ${formatCents(tax.taxCents)}`,
		),
		`  shipping ${formatCents(totals.shippingCents)} total ${formatCents(totals.totalCents)}`,
	].join("\n");
}
