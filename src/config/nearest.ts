/** A key that could have been meant. */
export interface Candidate {
	readonly path: readonly string[];
	readonly shown: string;
}

/** Names longer than any key are compared by their beginning. */
const comparedCharacters = 60;

/**
 * How the candidate most like the path is shown: like in all names, or in the last one if only the place is wrong.
 * The first of several equal ones; "" without candidates.
 */
export function nearest(path: readonly string[], candidates: readonly Candidate[]): string {
	let shown = "";
	let best = Number.POSITIVE_INFINITY;
	for (const candidate of candidates) {
		const whole = distance(path.join("."), candidate.path.join("."), best);
		const last = distance(path.at(-1) ?? "", candidate.path.at(-1) ?? "", best - 0.5) + 0.5;
		if (Math.min(whole, last) < best) {
			best = Math.min(whole, last);
			shown = candidate.shown;
		}
	}
	return shown;
}

/** Levenshtein distance without regard to case; at least `limit` where the lengths alone differ by that much. */
function distance(left: string, right: string, limit: number): number {
	const from = left.slice(0, comparedCharacters).toLowerCase();
	const to = right.slice(0, comparedCharacters).toLowerCase();
	if (Math.abs(from.length - to.length) >= limit) return limit;
	let row = Array.from({ length: to.length + 1 }, (_, index) => index);
	for (let i = 1; i <= from.length; i++) {
		const next = [i];
		for (let j = 1; j <= to.length; j++) {
			const replaced = (row[j - 1] ?? 0) + (from[i - 1] === to[j - 1] ? 0 : 1);
			next.push(Math.min(replaced, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
		}
		row = next;
	}
	return row.at(-1) ?? 0;
}
