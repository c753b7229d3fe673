/** A percentage of an amount in cents, rounded half up to whole cents. */
export function percentOf(amountCents: number, percent: number): number {
	// Percentages have at most two decimals, so both factors are integers and the only division is the last one.
	const hundredths = Math.round(percent * 100);
	return Math.floor((amountCents * hundredths + 5_000) / 10_000);
}

/**
 * Spreads an amount over weights so that the parts add up to it exactly (rule 2.4). The remainder goes to the largest
 * fractions; where two are equal, to the earlier one.
 */
export function spread(amountCents: number, weights: readonly number[]): number[] {
	const sum = weights.reduce((total, weight) => total + weight, 0);
	if (sum === 0) return weights.map(() => 0);
	const exact = weights.map((weight) => (amountCents * weight) / sum);
	const parts = exact.map(Math.floor);
	let left = amountCents - parts.reduce((total, part) => total + part, 0);
	const byFraction = exact
		.map((value, index) => ({ index, fraction: value - Math.floor(value) }))
		.sort((a, b) => b.fraction - a.fraction || a.index - b.index);
	for (const { index } of byFraction) {
		if (left === 0) break;
		parts[index] = (parts[index] ?? 0) + 1;
		left--;
	}
	return parts;
}

/** `12.34` for 1234. */
export function formatCents(cents: number): string {
	const sign = cents < 0 ? "-" : "";
	const digits = Math.abs(cents).toString().padStart(3, "0");
	return `${sign}${digits.slice(0, -2)}.${digits.slice(-2)}`;
}
