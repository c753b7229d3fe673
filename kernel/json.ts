/** True for a JSON object: no list, not null. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** JSON that is the same for equal values: the keys of objects in order, what is undefined left out. */
export function canonicalJson(value: unknown): string {
	return JSON.stringify(value, (_, part) => (isObject(part) ? inOrder(part) : part)) ?? "";
}

function inOrder(part: Readonly<Record<string, unknown>>): object {
	return Object.fromEntries(Object.entries(part).toSorted(([a], [b]) => (a < b ? -1 : 1)));
}
