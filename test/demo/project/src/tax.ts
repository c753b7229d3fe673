import type { Category } from "./types.ts";

interface Rates {
	standard: number;
	/** Absent where the country has no reduced rate for the category (rule 4.3). */
	books?: number;
	food?: number;
}

/** VAT in percent, as of January 2026. */
const rates: Record<string, Rates> = {
	AT: { standard: 20, books: 10, food: 10 },
	BE: { standard: 21, books: 6, food: 6 },
	BG: { standard: 20, books: 9 },
	CH: { standard: 8.1, books: 2.6, food: 2.6 },
	CY: { standard: 19, books: 3, food: 5 },
	CZ: { standard: 21, books: 0, food: 12 },
	DE: { standard: 19, books: 7, food: 7 },
	DK: { standard: 25 },
	EE: { standard: 24, books: 9 },
	ES: { standard: 21, books: 4, food: 10 },
	FI: { standard: 25.5, books: 10, food: 13.5 },
	FR: { standard: 20, books: 5.5, food: 5.5 },
	GR: { standard: 24, books: 6, food: 13 },
	HR: { standard: 25, books: 5, food: 13 },
	HU: { standard: 27, books: 5, food: 18 },
	IE: { standard: 23, books: 0, food: 13.5 },
	IT: { standard: 22, books: 4, food: 10 },
	LT: { standard: 21, books: 5 },
	LU: { standard: 17, books: 3, food: 3 },
	LV: { standard: 21, books: 5, food: 12 },
	MT: { standard: 18, books: 5 },
	NL: { standard: 21, books: 9, food: 9 },
	PL: { standard: 23, books: 5, food: 5 },
	PT: { standard: 23, books: 6, food: 6 },
	RO: { standard: 21, books: 11, food: 11 },
	SE: { standard: 25, books: 6, food: 12 },
	SI: { standard: 22, books: 5, food: 9.5 },
	SK: { standard: 23, books: 5, food: 19 },
};

export function taxRate(country: string, category: Category): number {
	const found = ratesOf(country);
	if (category === "books") return found.books ?? found.standard;
	if (category === "food") return found.food ?? found.standard;
	return found.standard;
}

export function standardRate(country: string): number {
	return ratesOf(country).standard;
}

function ratesOf(country: string): Rates {
	const found = rates[country];
	if (found === undefined) throw new RangeError(`no VAT rates for ${country}`);
	return found;
}
