/** What a product is for coupons and taxes. */
export type Category = "tools" | "garden" | "kitchen" | "books" | "food";

export interface Product {
	sku: string;
	title: string;
	category: Category;
	priceCents: number;
	weightGrams: number;
}

export interface OrderLine {
	sku: string;
	quantity: number;
}

export interface OrderRequest {
	customer: string;
	country: string;
	lines: OrderLine[];
	percentCoupon?: string;
	fixedCoupon?: string;
}

/** A line with everything that pricing needs, after rule 1.2. */
export interface PricedLine {
	product: Product;
	quantity: number;
	netCents: number;
	discountCents: number;
}

export interface TaxAmount {
	ratePercent: number;
	netCents: number;
	taxCents: number;
}

export interface Totals {
	lines: PricedLine[];
	subtotalCents: number;
	discountCents: number;
	shippingCents: number;
	taxes: TaxAmount[];
	totalCents: number;
}

export interface Order extends Totals {
	id: number;
	version: number;
	request: OrderRequest;
}
