/** One of a list, by whatever number. */
export function choose<T>(list: readonly T[], number: number): T {
	const chosen = list[number % list.length];
	if (chosen === undefined) throw new RangeError("nothing to choose from");
	return chosen;
}
