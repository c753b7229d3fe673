/** Free inside zone 1 from this net amount on (rule 3.2). */
const freeFromCents = 15_000;

const zones: Record<string, 1 | 2 | 3> = {
	AT: 1,
	BE: 1,
	DE: 1,
	LU: 1,
	NL: 1,
	CH: 2,
	CZ: 2,
	DK: 2,
	FR: 2,
	IT: 2,
	PL: 2,
	SI: 2,
	SK: 2,
	BG: 3,
	CY: 3,
	EE: 3,
	ES: 3,
	FI: 3,
	GR: 3,
	HR: 3,
	HU: 3,
	IE: 3,
	LT: 3,
	LV: 3,
	MT: 3,
	PT: 3,
	RO: 3,
	SE: 3,
};

/** Net fees in cents by the weight up to which they hold, zones 1 to 3. */
const fees: readonly { upToGrams: number; cents: readonly [number, number, number] }[] = [
	{ upToGrams: 1_000, cents: [390, 690, 990] },
	{ upToGrams: 2_000, cents: [490, 890, 1_290] },
	{ upToGrams: 5_000, cents: [590, 1_190, 1_690] },
	{ upToGrams: 10_000, cents: [890, 1_690, 2_490] },
	{ upToGrams: 20_000, cents: [1_290, 2_490, 3_590] },
	{ upToGrams: 31_500, cents: [1_690, 3_290, 4_890] },
];

/** The net fee of a parcel in cents (rules 3.1 and 3.2). Throws for a country without a zone and for too much weight. */
export function shippingFee(country: string, weightGrams: number, netCents: number): number {
	const zone = zones[country];
	if (zone === undefined) throw new RangeError(`no shipping to ${country}`);
	if (zone === 1 && netCents >= freeFromCents) return 0;
	const step = fees.find((each) => weightGrams <= each.upToGrams);
	if (step === undefined) throw new RangeError(`${weightGrams} g is too heavy for a parcel`);
	return step.cents[zone - 1] ?? 0;
}
