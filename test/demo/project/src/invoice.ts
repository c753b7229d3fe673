import { formatCents } from "./money.ts";
import type { Order } from "./types.ts";

const width = 64;

/** The invoice as text, from the stored amounts alone. */
export function invoiceText(order: Order): string {
	const lines = order.lines.map(({ product, quantity, netCents, discountCents }) => {
		const less = discountCents > 0 ? ` (less ${formatCents(discountCents)})` : "";
		return row(`${quantity} × ${product.title}${less}`, netCents - discountCents);
	});
	const taxes = order.taxes.map((tax) => row(`VAT ${tax.ratePercent} % on ${formatCents(tax.netCents)}`, tax.taxCents));
	return [
		`Invoice ${order.id}`,
		`For ${order.request.customer}, ${order.request.country}`,
		"",
		...lines,
		row("Shipping", order.shippingCents),
		...taxes,
		"-".repeat(width),
		row("Total", order.totalCents),
	].join("\n");
}

function row(text: string, cents: number): string {
	const amount = formatCents(cents);
	return text.padEnd(width - amount.length).slice(0, width - amount.length) + amount;
}
