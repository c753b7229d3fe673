import type { Category, PricedLine } from "./types.ts";

export interface PercentCoupon {
	kind: "percent";
	code: string;
	percent: number;
	/** None means all (rule 2.2). */
	categories: Category[];
}

export interface FixedCoupon {
	kind: "fixed";
	code: string;
	amountCents: number;
}

export type Coupon = PercentCoupon | FixedCoupon;

export const coupons: readonly Coupon[] = [
	{ kind: "percent", code: "SPRING15", percent: 15, categories: [] },
	{ kind: "percent", code: "GARDEN12", percent: 12.5, categories: ["garden"] },
	{ kind: "percent", code: "TOOLS7", percent: 7, categories: ["tools"] },
	{ kind: "percent", code: "READER10", percent: 10, categories: ["books"] },
	{ kind: "fixed", code: "WELCOME5", amountCents: 500 },
	{ kind: "fixed", code: "SORRY20", amountCents: 2_000 },
];

/** Throws for a code that does not exist or is of the other kind: the shop checks codes before it sends them. */
export function findCoupon<Kind extends Coupon["kind"]>(code: string, kind: Kind): Extract<Coupon, { kind: Kind }> {
	const coupon = coupons.find((each) => each.code === code.toUpperCase());
	if (coupon?.kind !== kind) throw new RangeError(`no ${kind} coupon ${code}`);
	return coupon as Extract<Coupon, { kind: Kind }>;
}

export function appliesTo(coupon: PercentCoupon, line: PricedLine): boolean {
	return coupon.categories.length === 0 || coupon.categories.includes(line.product.category);
}
