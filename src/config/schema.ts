import { type TObject, type TSchema, Type } from "typebox";
import { defaultSettings, type Settings } from "../../kernel/index.ts";
import {
	choice,
	count,
	flag,
	type Group,
	group,
	type Key,
	type KeysOf,
	type Node,
	names,
	path,
	portion,
	share,
	table,
	tokens,
} from "./key.ts";

/** What the guards can be told. */
export interface GuardSettings {
	/** Timeout of a bash call that gives none, in seconds; 0 for none. */
	readonly toolBashDefaultTimeout: number;
	/** Text of a tool result that reaches the model, at most; 0 for no limit. */
	readonly toolOutputMaxBytes: number;
	readonly repetitionGuard: boolean;
	/** Whether requests that a token rate refused are made again, paced. */
	readonly throttleRetry: boolean;
}

/** The kernel's settings, and the bound by which their pace is chosen. */
export interface PacedSettings extends Settings {
	readonly compress: Settings["compress"] & {
		/** The window that folding is paced for, at most: tokens, or up to 1 a share of the model's window. */
		readonly maxContextLimit: number;
	};
}

/** What the adapter works with: the kernel's settings and its own. */
export interface Config extends PacedSettings, GuardSettings {
	/** Whether debug lines are written to the log. */
	readonly debug: boolean;
	/** Absolute path of the log. */
	readonly logPath: string;
	readonly ui: UiSettings;
	/** Whether npm is asked for a newer version. */
	readonly updateNotice: boolean;
}

/** What the user sees beside the conversation. */
export interface UiSettings {
	readonly statusLine: boolean;
}

/** The values of all keys, in the shape of the file. */
export interface KeyValues extends PacedSettings, GuardSettings {
	readonly debug: boolean;
	readonly log: { readonly path: string };
	readonly ui: UiSettings;
	readonly updateNotice: boolean;
}

/** Keys that a provider or a model may override. Whether there are tags must not depend on the model: no `enabled`. */
const tunable: KeysOf<Omit<PacedSettings, "enabled"> & GuardSettings> = {
	modelContextLimit: tokens({
		default: defaultSettings.modelContextLimit,
		minimum: 0,
		maximum: 100_000_000,
		environment: "ACP_MODEL_CONTEXT_LIMIT",
		description:
			"Window of the model in tokens; 0 takes the window the model declares. Requests stay below the declared window even so, since Pi sizes answers by that.",
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
		maxContextLimit: portion({
			default: 1,
			least: 0.1,
			minimum: 1_000,
			maximum: 100_000_000,
			description:
				"Folding is paced as on a model with a window no larger than this. It changes when nudges come, never what is cut.",
		}),
		emergencyThresholdPercent: share({
			default: defaultSettings.compress.emergencyThresholdPercent,
			minimum: 0.1,
			maximum: 1,
			description: "Share of the usable window at which a request is cut by rules to fit.",
		}),
	}),
	strategy: choice({
		default: defaultSettings.strategy,
		values: ["hybrid", "model", "rules"],
		environment: "ACP_STRATEGY",
		description:
			"Who folds: the model, and rules where a request would not fit (`hybrid`); the model alone, cuts apart (`model`); rules alone, without any model call (`rules`).",
	}),
	rules: group({
		recentTurnsFull: count({
			default: defaultSettings.rules.recentTurnsFull,
			minimum: 0,
			maximum: 1_000,
			description: "Turns at the end that strategy `rules` leaves as they are; 0 means the default.",
		}),
		slackTurns: count({
			default: defaultSettings.rules.slackTurns,
			minimum: 0,
			maximum: 1_000,
			description: "Turns beyond `rules.recentTurnsFull` that gather before strategy `rules` folds again.",
		}),
		maxTurns: count({
			default: defaultSettings.rules.maxTurns,
			minimum: 0,
			maximum: 1_000,
			description:
				"Folded turns that a fold by rules tells at length; older ones take a line each. 0 means the default.",
		}),
	}),
	strictAlternation: choice({
		default: defaultSettings.strictAlternation,
		values: ["auto", "always", "never"],
		environment: "ACP_STRICT_ALTERNATION",
		description:
			"Whether blocks and nudges become part of the messages beside them, for servers that refuse two user messages in a row: as the model's `compat` says, always, or never.",
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
	toolBashDefaultTimeout: count({
		default: 60,
		minimum: 0,
		maximum: 86_400,
		environment: "ACP_TOOL_BASH_DEFAULT_TIMEOUT",
		description: "Seconds after which a `bash` call that gives no timeout is stopped; 0 switches it off.",
	}),
	toolOutputMaxBytes: count({
		default: 50_000,
		minimum: 0,
		maximum: 100_000_000,
		environment: "ACP_TOOL_OUTPUT_MAX_BYTES",
		description:
			"Bytes of text a tool result may have; of a longer one head and tail are kept, and all of it is in a file. 0 switches it off.",
	}),
	repetitionGuard: flag({
		default: true,
		environment: "ACP_REPETITION_GUARD",
		description: "Warn at the third identical tool call in a row; block the fifth and end the turn.",
	}),
	throttleRetry: flag({
		default: true,
		environment: "ACP_THROTTLE_RETRY",
		description:
			"Where a provider's limit of tokens for a time ends a run, try again after 60 seconds, doubling to 300, at most 10 times.",
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
	ui: group({
		statusLine: flag({
			default: true,
			environment: "ACP_UI_STATUS_LINE",
			description: "Show the size of the context in the footer.",
		}),
	}),
	updateNotice: flag({
		default: false,
		environment: "ACP_UPDATE_NOTICE",
		description:
			"Ask npm at most once a day, in a terminal only, whether there is a newer version, and say so. Nothing is installed.",
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
