import type { Order, OrderRequest, Totals } from "./types.ts";

/** Orders in memory. Each write raises the version; a write against an old version is refused. */
export class OrderStore {
	#orders = new Map<number, Order>();
	#lastId: number;

	constructor(firstId = 1_000) {
		this.#lastId = firstId - 1;
	}

	insert(request: OrderRequest, totals: Totals): Order {
		this.#lastId++;
		const order: Order = { id: this.#lastId, version: 1, request: structuredClone(request), ...totals };
		this.#orders.set(order.id, order);
		return order;
	}

	find(id: number): Order | undefined {
		return this.#orders.get(id);
	}

	replace(id: number, version: number, request: OrderRequest, totals: Totals): Order {
		const current = this.#orders.get(id);
		if (current === undefined) throw new RangeError(`no order ${id}`);
		if (current.version !== version)
			throw new RangeError(`order ${id} is at version ${current.version}, not ${version}`);
		const order: Order = { id, version: version + 1, request: structuredClone(request), ...totals };
		this.#orders.set(id, order);
		return order;
	}
}
