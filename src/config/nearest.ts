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
	let best = { shown: "", distance: Number.POSITIVE_INFINITY };
	for (const { path: known, shown } of candidates) {
		const whole = distance(path.join("."), known.join("."));
		const last = distance(path.at(-1) ?? "", known.at(-1) ?? "") + 0.5;
		if (Math.min(whole, last) < best.distance) best = { shown, distance: Math.min(whole, last) };
	}
	return best.shown;
}

/** Levenshtein distance without regard to case. */
function distance(left: string, right: string): number {
	const from = left.slice(0, comparedCharacters).toLowerCase();
	const to = right.slice(0, comparedCharacters).toLowerCase();
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
