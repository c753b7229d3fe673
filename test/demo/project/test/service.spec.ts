import assert from "node:assert/strict";
import { test } from "node:test";
import { OrderService } from "../src/service.ts";
import { OrderStore } from "../src/store.ts";

const request = { customer: "c101", country: "DE", lines: [{ sku: "B150", quantity: 1 }] };

test("an order gets the next id and version 1", () => {
	const order = new OrderService(new OrderStore(1_040)).place(request);
	assert.deepEqual([order.id, order.version], [1_040, 1]);
});

test("a change against an old version is refused", () => {
	const service = new OrderService(new OrderStore());
	const { id } = service.place(request);
	service.change(id, 1, request);
	assert.throws(() => service.change(id, 1, request), /is at version 2, not 1/);
});

test("the invoice shows what was charged (5.2)", () => {
	const service = new OrderService(new OrderStore());
	assert.match(service.invoice(service.place(request).id), /Total +25\.00$/);
});
