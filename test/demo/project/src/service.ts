import { invoiceText } from "./invoice.ts";
import { priceOrder } from "./pricing.ts";
import type { OrderStore } from "./store.ts";
import type { Order, OrderRequest, Totals } from "./types.ts";

/** What the HTTP layer calls. */
export class OrderService {
	#store: OrderStore;

	constructor(store: OrderStore) {
		this.#store = store;
	}

	/** Prices an order without placing it: the shop shows this in the basket. */
	quote(request: OrderRequest): Totals {
		return priceOrder(request);
	}

	place(request: OrderRequest): Order {
		const totals = priceOrder(request);
		if (totals.lines.length === 0) throw new RangeError("an order needs at least one line");
		return this.#store.insert(request, totals);
	}

	/** Prices the order again; `version` is the one the customer saw. */
	change(id: number, version: number, request: OrderRequest): Order {
		return this.#store.replace(id, version, request, priceOrder(request));
	}

	/** The invoice shows what was charged, whatever the rules say today (rule 5.2). */
	invoice(id: number): string {
		const order = this.#store.find(id);
		if (order === undefined) throw new RangeError(`no order ${id}`);
		return invoiceText(order);
	}
}
