/**
 * The sidecar of a session as other programs read it: `<session>.jsonl.acp.json`. Within schema version 1 fields are only
 * ever added; readers ignore those they do not know.
 */

/** A block as other programs read it. */
export interface SidecarBlock {
	/** `b3`; never reused on a branch. */
	readonly blockId: string;
	readonly summary: string;
	/** 1 folds messages, 2 folds blocks of tier 1, 3 folds blocks of tier 2. */
	readonly tier: number;
	/** Estimated tokens of the messages it covers. */
	readonly compressedTokens: number;
	/** Milliseconds since the epoch. */
	readonly createdAt: number;
	readonly topic?: string;
	/** Refs of the first and last message it covers. */
	readonly startRef?: string;
	readonly endRef?: string;
	/** Entry ids of the messages it covers. */
	readonly effectiveMessageIds?: readonly string[];
	/** True if it stands for messages itself, not inside another block. */
	readonly active: boolean;
}

/** What the log of a session adds up to at the entry of the last commit. */
export interface Sidecar {
	readonly schemaVersion: 1;
	readonly producer: { readonly name: string; readonly version: string };
	/** The entry of the last commit: on every branch that holds it, the blocks are these. */
	readonly leafId: string | null;
	readonly blocks: readonly SidecarBlock[];
}

/** The JSON schema of `Sidecar`. */
export const sidecarSchema = {
	$schema: "https://json-schema.org/draft/2020-12/schema",
	title: "Sidecar of a Pi session by pi-billion-context",
	type: "object",
	required: ["schemaVersion", "producer", "leafId", "blocks"],
	properties: {
		schemaVersion: { const: 1 },
		producer: {
			type: "object",
			required: ["name", "version"],
			properties: { name: { type: "string" }, version: { type: "string" } },
		},
		leafId: { type: ["string", "null"] },
		blocks: {
			type: "array",
			items: {
				type: "object",
				required: ["blockId", "summary", "tier", "compressedTokens", "createdAt", "active"],
				properties: {
					blockId: { type: "string", pattern: "^b[1-9][0-9]*$" },
					summary: { type: "string" },
					tier: { type: "integer", minimum: 1, maximum: 3 },
					compressedTokens: { type: "integer", minimum: 0 },
					createdAt: { type: "integer", minimum: 0 },
					topic: { type: "string" },
					startRef: { type: "string", pattern: "^m[0-9]{5,}$" },
					endRef: { type: "string", pattern: "^m[0-9]{5,}$" },
					effectiveMessageIds: { type: "array", items: { type: "string" } },
					active: { type: "boolean" },
				},
			},
		},
	},
} as const;
