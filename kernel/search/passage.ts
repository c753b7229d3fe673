const reachChars = 120;

/** The part of a text around the first of the terms that it holds, on one line. */
export function passageAround(text: string, terms: readonly string[]): string {
	const lower = text.toLowerCase();
	const places = terms.map((term) => lower.indexOf(term)).filter((place) => place >= 0);
	const middle = places.length === 0 ? 0 : Math.min(...places);
	const start = Math.max(0, middle - reachChars);
	const end = Math.min(text.length, middle + 2 * reachChars);
	const passage = text.slice(start, end).toWellFormed().replace(/\s+/g, " ").trim();
	return `${start > 0 ? "…" : ""}${passage}${end < text.length ? "…" : ""}`;
}
