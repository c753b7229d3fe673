import { extent } from "./block.ts";
import { blockRef, messageRef } from "./ref.ts";
import type { Branch } from "./timeline.ts";

/** A block as other programs read it. `active`: it stands for messages on this branch. */
export interface SidecarBlock {
	readonly blockId: string;
	readonly summary: string;
	readonly tier: number;
	readonly compressedTokens: number;
	/** Milliseconds since the epoch. */
	readonly createdAt: number;
	readonly topic?: string;
	readonly startRef: string;
	readonly endRef: string;
	/** Entry ids of the messages covered. */
	readonly effectiveMessageIds: readonly string[];
	readonly active: boolean;
}

/** The file beside a session: what its log adds up to at one leaf. Readers ignore fields they do not know. */
export interface Sidecar {
	readonly schemaVersion: 1;
	readonly producer: { readonly name: string; readonly version: string };
	/** The entry of the last commit: on every branch that holds it, the file says what it says here. */
	readonly leafId: string | null;
	readonly blocks: readonly SidecarBlock[];
}

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
