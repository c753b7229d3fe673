import { expect, test } from "vitest";
import { accepted, checkPlaces, restart } from "../support/place-checks.ts";

/** Sessions of this number hold more than 50,000 places. */
const sessions = 3_000;

test("At every place of every session a restart shows the same, and what is recommended is accepted.", () => {
	const places = checkPlaces(20_261_111, sessions, [restart, accepted]);
	expect(places).toBeGreaterThan(50_000);
});
