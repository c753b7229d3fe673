import { extent } from "./block.ts";
import type { Sidecar } from "./contract.ts";
import { blockRef, messageRef } from "./ref.ts";
import type { Branch } from "./timeline.ts";

/** The producer's name in our sidecars. */
export const producerName = "pi-billion-context";

/** The sidecar of a branch. */
export function encodeSidecar(branch: Branch, version: string): Sidecar {
	const { state } = branch;
	return {
		schemaVersion: 1,
		producer: { name: producerName, version },
		leafId: state.commit?.entryId ?? null,
		blocks: [...state.blocks.values()].map((block) => {
			const { from, to } = extent(block.spans);
			const records = block.spans.flatMap((span) => branch.messages(span.from, span.to));
			return {
				blockId: blockRef(block.number),
				summary: block.summary,
				tier: block.tier,
				compressedTokens: block.sizeTokens,
				createdAt: block.createdAtMs,
				...(block.topic === undefined ? {} : { topic: block.topic }),
				startRef: messageRef(from),
				endRef: messageRef(to),
				effectiveMessageIds: records.map((record) => record.entry.id),
				active: state.tops.includes(block),
			};
		}),
	};
}
