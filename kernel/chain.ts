/**
 * An immutable map that grows by one entry at a time: each version is a link to the one before it, so that a thousand
 * versions cost a thousand links and not a thousand copies. The version looked at last holds the index of all its entries;
 * an earlier one makes its own when it is looked at.
 */
export class Chain<Key, Value> {
	/** Undefined for the empty chain. */
	readonly #entry: readonly [Key, Value] | undefined;
	readonly #previous: Chain<Key, Value> | undefined;
	#index: Map<Key, Value> | undefined;

	private constructor(previous?: Chain<Key, Value>, entry?: readonly [Key, Value]) {
		this.#previous = previous;
		this.#entry = entry;
	}

	static empty<Key, Value>(): Chain<Key, Value> {
		return new Chain<Key, Value>();
	}

	/** The version with one more entry, or with another value for a key. */
	with(key: Key, value: Value): Chain<Key, Value> {
		return new Chain(this, [key, value]);
	}

	get(key: Key): Value | undefined {
		return this.#entries().get(key);
	}

	has(key: Key): boolean {
		return this.#entries().has(key);
	}

	get size(): number {
		return this.#entries().size;
	}

	/** The keys in the order in which they first came. */
	keys(): IterableIterator<Key> {
		return this.#entries().keys();
	}

	values(): IterableIterator<Value> {
		return this.#entries().values();
	}

	[Symbol.iterator](): IterableIterator<[Key, Value]> {
		return this.#entries()[Symbol.iterator]();
	}

	/** Takes over the nearest earlier index and adds what is missing: going forward costs only what is new. */
	#entries(): Map<Key, Value> {
		const missing: Chain<Key, Value>[] = [];
		let index: Map<Key, Value> | undefined;
		for (let link: Chain<Key, Value> | undefined = this; link !== undefined; link = link.#previous) {
			index = link.#index;
			link.#index = undefined;
			if (index !== undefined) break;
			missing.push(link);
		}
		index ??= new Map();
		for (const link of missing.reverse()) link.#addTo(index);
		this.#index = index;
		return index;
	}

	#addTo(index: Map<Key, Value>): void {
		if (this.#entry !== undefined) index.set(...this.#entry);
	}
}
