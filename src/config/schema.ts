import { defaultSettings, type PaceName, type Settings, type WordKey, wordKeys } from "../../kernel/index.ts";
import {
	choice,
	count,
	fileName,
	flag,
	type Group,
	group,
	type Key,
	type KeysOf,
	names,
	path,
	portion,
	share,
	table,
	text,
	tokens,
	tokensOr,
} from "./key.ts";

/** What the guards can be told. */
export interface GuardSettings {
	/** Timeout of a bash call that gives none, in seconds; 0 for none. */
	readonly toolBashDefaultTimeout: number;
	/** Text of a tool result that reaches the model, at most; 0 for no limit. */
	readonly toolOutputMaxBytes: number;
	readonly repetitionGuard: boolean;
	readonly degenerationGuard: boolean;
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
	readonly pace: PaceName;
	readonly promptPack: string;
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

/** The values of the keys that a provider or a model may override. */
export interface TunableValues extends Omit<PacedSettings, "enabled" | "compress" | "words">, GuardSettings {
	/** Texts that stand in place of those of the pack. */
	readonly prompts: Readonly<Record<WordKey, string | undefined>>;
	/** The name of a pack of words. */
	readonly promptPack: string;
	/** What the two figures of `compress` are where they say so. */
	readonly pace: PaceName;
	readonly compress: Omit<PacedSettings["compress"], "keepTokens" | "stepTokens"> & {
		readonly keepTokens: number | "pace";
		readonly stepTokens: number | "pace";
	};
}

/** The values of all keys, in the shape of the file. */
export interface KeyValues extends TunableValues {
	readonly enabled: boolean;
	readonly debug: boolean;
	readonly log: { readonly path: string };
	readonly ui: UiSettings;
	readonly updateNotice: boolean;
}

const filterFlags = Object.fromEntries(
	Object.entries(defaultSettings.filters).map(([name, isOn]) => [name, flag({ default: isOn })]),
) as KeysOf<Settings["filters"]>;

const promptKeys = Object.fromEntries(wordKeys.map((key) => [key, text()])) as KeysOf<KeyValues["prompts"]>;

/** What `prompts` may hold, and a pack. */
export const promptsGroup = group(promptKeys);

/** Keys that a provider or a model may override. Whether there are tags must not depend on the model: no `enabled`. */
const tunable: KeysOf<TunableValues> = {
	modelContextLimit: tokens({
		default: defaultSettings.modelContextLimit,
		minimum: 0,
		maximum: 100_000_000,
		environment: "ACP_MODEL_CONTEXT_LIMIT",
	}),
	outputHeadroomMaxPct: share({
		default: defaultSettings.outputHeadroomMaxPct,
		minimum: 0,
		maximum: 0.9,
	}),
	pace: choice({
		default: "balanced",
		values: ["thrifty", "balanced", "relaxed"],
		environment: "ACP_PACE",
	}),
	compress: group({
		keepTokens: tokensOr("pace", { minimum: 0, maximum: 10_000_000 }),
		stepTokens: tokensOr("pace", { minimum: 1, maximum: 10_000_000 }),
		maxContextLimit: portion({
			default: 1,
			least: 0.1,
			minimum: 1_000,
			maximum: 100_000_000,
		}),
		emergencyThresholdPercent: share({
			default: defaultSettings.compress.emergencyThresholdPercent,
			minimum: 0.1,
			maximum: 1,
		}),
	}),
	strategy: choice({
		default: defaultSettings.strategy,
		values: ["hybrid", "model", "rules"],
		environment: "ACP_STRATEGY",
	}),
	rules: group({
		recentTurnsFull: count({
			default: defaultSettings.rules.recentTurnsFull,
			minimum: 0,
			maximum: 1_000,
		}),
		slackTurns: count({
			default: defaultSettings.rules.slackTurns,
			minimum: 0,
			maximum: 1_000,
		}),
		maxTurns: count({
			default: defaultSettings.rules.maxTurns,
			minimum: 0,
			maximum: 1_000,
		}),
	}),
	filters: group(filterFlags),
	strictAlternation: choice({
		default: defaultSettings.strictAlternation,
		values: ["auto", "always", "never"],
		environment: "ACP_STRICT_ALTERNATION",
	}),
	protectedTools: names({
		default: defaultSettings.protectedTools,
	}),
	preserveRecentMessages: count({
		default: defaultSettings.preserveRecentMessages,
		minimum: 0,
		maximum: 1_000,
	}),
	preserveRecentTokens: tokens({
		default: defaultSettings.preserveRecentTokens,
		minimum: 0,
		maximum: 1_000_000,
	}),
	neverPreserveRecentTools: names({
		default: defaultSettings.neverPreserveRecentTools,
	}),
	toolBashDefaultTimeout: count({
		default: 60,
		minimum: 0,
		maximum: 86_400,
		environment: "ACP_TOOL_BASH_DEFAULT_TIMEOUT",
	}),
	toolOutputMaxBytes: count({
		default: 50_000,
		minimum: 0,
		maximum: 100_000_000,
		environment: "ACP_TOOL_OUTPUT_MAX_BYTES",
	}),
	degenerationGuard: flag({
		default: true,
		environment: "ACP_DEGENERATION_GUARD",
	}),
	repetitionGuard: flag({
		default: true,
		environment: "ACP_REPETITION_GUARD",
	}),
	throttleRetry: flag({
		default: true,
		environment: "ACP_THROTTLE_RETRY",
	}),
	promptPack: fileName({
		default: "default",
		environment: "ACP_PROMPT_PACK",
	}),
	prompts: promptsGroup,
};

const everywhere: KeysOf<KeyValues> = {
	enabled: flag({
		default: defaultSettings.enabled,
		environment: "ACP_ENABLED",
	}),
	debug: flag({
		default: false,
		environment: "ACP_DEBUG",
	}),
	log: group({
		path: path({
			default: "~/.pi/acp.log",
			environment: "ACP_LOG_FILE",
		}),
	}),
	ui: group({
		statusLine: flag({
			default: true,
			environment: "ACP_UI_STATUS_LINE",
		}),
	}),
	updateNotice: flag({
		default: false,
		environment: "ACP_UPDATE_NOTICE",
	}),
	...tunable,
};

/** Everything the settings file may hold: the one place where a key is added. */
export const settingsGroup: Group = group({
	...everywhere,
	// A key that is not set for a model keeps the value of its provider, and what that does not set the value from above.
	providers: table(group({ ...tunable, models: table(group(tunable)) })),
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
