import { type TObject, type TSchema, Type } from "typebox";
import { defaultSettings, type Settings } from "../../kernel/index.ts";
import {
	count,
	flag,
	type Group,
	group,
	type Key,
	type KeysOf,
	type Node,
	names,
	path,
	share,
	table,
	tokens,
} from "./key.ts";

/** What the adapter works with: the kernel's settings and its own. */
export interface Config extends Settings {
	/** Whether debug lines are written to the log. */
	readonly debug: boolean;
	/** Absolute path of the log. */
	readonly logPath: string;
}

/** The values of all keys, in the shape of the file. */
export interface KeyValues extends Settings {
	readonly debug: boolean;
	readonly log: { readonly path: string };
}

/** Keys that a provider or a model may override. Whether there are tags must not depend on the model: no `enabled`. */
const tunable: KeysOf<Omit<Settings, "enabled">> = {
	modelContextLimit: tokens({
		default: defaultSettings.modelContextLimit,
		minimum: 0,
		maximum: 100_000_000,
		environment: "ACP_MODEL_CONTEXT_LIMIT",
		description: "Window of the model in tokens; 0 takes the window the model declares.",
	}),
	outputHeadroomMaxPct: share({
		default: defaultSettings.outputHeadroomMaxPct,
		minimum: 0,
		maximum: 0.9,
		description: "Share of the window kept free for the answer, at most.",
	}),
	compress: group({
		keepTokens: tokens({
			default: defaultSettings.compress.keepTokens,
			minimum: 0,
			maximum: 10_000_000,
			description: "Tokens a view may keep unfolded before a nudge is considered, on windows of 128K and more.",
		}),
		stepTokens: tokens({
			default: defaultSettings.compress.stepTokens,
			minimum: 1,
			maximum: 10_000_000,
			description: "Tokens beyond `compress.keepTokens` that make a nudge due, on windows of 128K and more.",
		}),
		emergencyThresholdPercent: share({
			default: defaultSettings.compress.emergencyThresholdPercent,
			minimum: 0.1,
			maximum: 1,
			description: "Share of the usable window at which a request is cut by rules to fit.",
		}),
	}),
	protectedTools: names({
		default: defaultSettings.protectedTools,
		description: "Tools whose calls and results are never folded; `*` stands for any run of characters.",
	}),
	preserveRecentMessages: count({
		default: defaultSettings.preserveRecentMessages,
		minimum: 0,
		maximum: 1_000,
		description: "Messages at the end that are never folded.",
	}),
	preserveRecentTokens: tokens({
		default: defaultSettings.preserveRecentTokens,
		minimum: 0,
		maximum: 1_000_000,
		description: "Tokens at the end that are never folded.",
	}),
	neverPreserveRecentTools: names({
		default: defaultSettings.neverPreserveRecentTools,
		description: "Tools whose calls and results are neither counted nor kept as recent messages.",
	}),
};

const everywhere: KeysOf<KeyValues> = {
	enabled: flag({
		default: defaultSettings.enabled,
		environment: "ACP_ENABLED",
		description: "`false` stops tools, tags, nudges and new folds; existing folds are still rendered.",
	}),
	debug: flag({
		default: false,
		environment: "ACP_DEBUG",
		description: "Write debug lines to the log.",
	}),
	log: group({
		path: path({
			default: "~/.pi/acp.log",
			environment: "ACP_LOG_FILE",
			description:
				"File of the log, opened when a session starts; `~/` is the home directory, other relative paths start at the project.",
		}),
	}),
	...tunable,
};

/** Everything the settings file may hold: the one place where a key is added. */
export const settingsGroup: Group = group({
	...everywhere,
	providers: table(
		"Overrides by provider; a key that is not set here keeps its value from above.",
		group({
			...tunable,
			models: table("Overrides by model; a key that is not set here keeps the value of its provider.", group(tunable)),
		}),
	),
});

/** A key and where it stands in its group. */
export interface PlacedKey {
	readonly path: readonly string[];
	readonly key: Key<unknown>;
}

/** The keys of a group, nested ones included, in the order of the schema; what is in tables is left out. */
export function listKeys(of: Group, path: readonly string[] = []): PlacedKey[] {
	return Object.entries(of.keys).flatMap(([name, node]) => {
		if (node.kind === "table") return [];
		return node.kind === "key" ? [{ path: [...path, name], key: node }] : listKeys(node, [...path, name]);
	});
}

/** Every key that can be set for all providers. */
export const allKeys: readonly PlacedKey[] = listKeys(settingsGroup);

/** The keys among them that a provider or a model can override. */
export const tunableKeys: readonly PlacedKey[] = listKeys(group(tunable));

/** The typebox schema of the whole file, which is also the JSON schema for editors. */
export const settingsSchema: TObject = Type.Object(
	{
		$schema: Type.Optional(Type.String({ description: "Address of this schema, for completion in editors." })),
		...properties(settingsGroup),
	},
	{
		$schema: "http://json-schema.org/draft-07/schema#",
		title: "Settings of pi-billion-context",
		additionalProperties: false,
	},
);

function schemaOf(node: Node): TSchema {
	if (node.kind === "key") return node.schema;
	if (node.kind === "group") return Type.Object(properties(node), { additionalProperties: false });
	return Type.Record(Type.String(), schemaOf(node.each), { description: node.description });
}

function properties(of: Group): Record<string, TSchema> {
	return Object.fromEntries(Object.entries(of.keys).map(([name, node]) => [name, Type.Optional(schemaOf(node))]));
}
