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
	const name = path.at(-1) ?? "";
	const dotted = path.join(".");
	let closest: Candidate | undefined;
	let best = Number.POSITIVE_INFINITY;
	for (const candidate of candidates) {
		const last = distance(name, candidate.path.at(-1) ?? "", best - 0.5) + 0.5;
		const whole = distance(dotted, candidate.path.join("."), Math.min(best, last));
		if (Math.min(whole, last) < best) {
			best = Math.min(whole, last);
			closest = candidate;
		}
	}
	return closest?.shown ?? "";
}

/** Levenshtein distance without regard to case; at least `limit` where the lengths alone differ by that much. */
function distance(left: string, right: string, limit: number): number {
	if (Math.abs(comparedLength(left) - comparedLength(right)) >= limit) return limit;
	const from = left.slice(0, comparedCharacters).toLowerCase();
	const to = right.slice(0, comparedCharacters).toLowerCase();
	const row = [0];
	for (let j = 1; j <= to.length; j++) row.push(j);
	for (let i = 1; i <= from.length; i++) {
		let diagonal = i - 1;
		row[0] = i;
		for (let j = 1; j <= to.length; j++) {
			const above = row[j] ?? 0;
			const replaced = diagonal + (from[i - 1] === to[j - 1] ? 0 : 1);
			row[j] = Math.min(replaced, above + 1, (row[j - 1] ?? 0) + 1);
			diagonal = above;
		}
	}
	return row[to.length] ?? 0;
}

function comparedLength(text: string): number {
	return Math.min(text.length, comparedCharacters);
}
