import { expect, test } from "vitest";
import { checkPlaces, growth, noneEmpty, presence, wholeUnits } from "../support/place-checks.ts";

/** Sessions of this number hold more than 85,000 places. */
const sessions = 4_800;

test("At every place of every session nothing is lost, doubled, empty or torn, and older messages change only at commits.", () => {
	const places = checkPlaces(20_261_110, sessions, [growth, presence, wholeUnits, noneEmpty]);
	expect(places).toBeGreaterThan(85_000);
}, 300_000);
