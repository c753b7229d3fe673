import { expect, test } from "vitest";
import { accepted, checkPlaces, restart } from "../support/place-checks.ts";

/** Sessions of this number hold more than 15,000 places. */
const sessions = 1_000;

test("At every place of every session a restart shows the same, and what is recommended is accepted.", () => {
	const places = checkPlaces(20_261_111, sessions, [restart, accepted]);
	expect(places).toBeGreaterThan(15_000);
}, 300_000);
