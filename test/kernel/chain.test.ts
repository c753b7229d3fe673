import fc from "fast-check";
import { expect, it } from "vitest";
import { Chain } from "../../kernel/chain.ts";

it("says in every version what a map with the same entries says, in whatever order the versions are looked at", () => {
	const entry = fc.tuple(fc.nat(5), fc.nat());
	fc.assert(
		fc.property(fc.array(entry, { maxLength: 12 }), fc.array(fc.nat(12), { maxLength: 20 }), (entries, looks) => {
			const chains = [Chain.empty<number, number>()];
			const maps = [new Map<number, number>()];
			for (const [key, value] of entries) {
				chains.push((chains.at(-1) ?? Chain.empty()).with(key, value));
				maps.push(new Map(maps.at(-1)).set(key, value));
			}
			for (const look of looks) {
				const [chain, map] = [chains[look % chains.length], maps[look % maps.length]];
				expect([...(chain?.keys() ?? [])]).toEqual([...(map?.keys() ?? [])]);
				expect([...(chain?.values() ?? [])]).toEqual([...(map?.values() ?? [])]);
				expect(chain?.size).toBe(map?.size);
				expect([chain?.has(3), chain?.get(3)]).toEqual([map?.has(3), map?.get(3)]);
			}
		}),
		{ seed: 7 },
	);
});

it("lets two versions grow from one without mixing them", () => {
	const base = Chain.empty<string, number>().with("a", 1);
	const [left, right] = [base.with("b", 2), base.with("b", 3)];
	expect([left.get("b"), right.get("b"), base.get("b"), left.get("a"), base.size]).toEqual([2, 3, undefined, 1, 1]);
});
