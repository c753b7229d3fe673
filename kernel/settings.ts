import { type FilterName, filterDefaults } from "./filters/index.ts";
import { defaultWords, type Words } from "./prompts.ts";

/**
 * What the kernel lets a user tune. The defaults here are the single source: the schema in src/config takes them over,
 * and a call that is replayed from its arguments is judged by them, never by today's settings.
 */
export interface Settings {
	/** False stops tags, nudges and new folds; existing folds are still rendered. */
	readonly enabled: boolean;
	/** Tools whose units are never folded; `*` stands for any run of characters. */
	readonly protectedTools: readonly string[];
	/** Messages at the end that are never folded. */
	readonly preserveRecentMessages: number;
	/** Tokens at the end that are never folded. */
	readonly preserveRecentTokens: number;
	/** A unit all of whose calls are among these tools is neither counted nor protected by the recent zone. */
	readonly neverPreserveRecentTools: readonly string[];
	readonly compress: CompressSettings;
	/** Which rules of content reduce, with a fold, what stays in view after what it folds. */
	readonly filters: Readonly<Record<FilterName, boolean>>;
	/** Who folds: the model, with rules as the last resort; the model alone; rules alone. */
	readonly strategy: Strategy;
	readonly rules: RulesSettings;
	/** Whether what we add is merged into the messages beside it: as the model declares, always, or never. */
	readonly strictAlternation: Alternation;
	/** Window of the model in tokens; 0 takes the window the model declares. */
	readonly modelContextLimit: number;
	/** Share of the window kept free for the answer, at most. */
	readonly outputHeadroomMaxPct: number;
	/** What the model reads where a text can be replaced. */
	readonly words: Words;
}

export type Strategy = "hybrid" | "model" | "rules";

export type Alternation = "auto" | "always" | "never";

/** How strategy `rules` folds. */
export interface RulesSettings {
	/** The last turns, which stay as they are. */
	readonly recentTurnsFull: number;
	/** Turns beyond those that gather before older ones are folded, so that the view stays a prefix in between. */
	readonly slackTurns: number;
	/** Folded turns that are told at length; older ones take a line each. */
	readonly maxTurns: number;
}

export interface CompressSettings {
	/** Tokens a view may keep unfolded before a nudge is considered, on windows of 128K and more. */
	readonly keepTokens: number;
	/** Tokens beyond `keepTokens` that make a nudge due, on windows of 128K and more. */
	readonly stepTokens: number;
	/** Share of the usable window at which a request is cut by rules to fit. */
	readonly emergencyThresholdPercent: number;
}

export const defaultSettings: Settings = {
	enabled: true,
	protectedTools: [],
	preserveRecentMessages: 5,
	preserveRecentTokens: 5_000,
	neverPreserveRecentTools: ["decompress", "search_context", "read", "bash"],
	compress: { keepTokens: 15_000, stepTokens: 30_000, emergencyThresholdPercent: 0.95 },
	filters: filterDefaults,
	strategy: "hybrid",
	rules: { recentTurnsFull: 6, slackTurns: 2, maxTurns: 40 },
	strictAlternation: "auto",
	modelContextLimit: 0,
	outputHeadroomMaxPct: 0.25,
	words: defaultWords,
};

/** How strategy `rules` folds where a figure is missing, zero or less: as the defaults say. */
export function rulesOf({ rules }: Settings): RulesSettings {
	const { recentTurnsFull, maxTurns } = defaultSettings.rules;
	return {
		recentTurnsFull: rules.recentTurnsFull > 0 ? rules.recentTurnsFull : recentTurnsFull,
		slackTurns: Math.max(0, rules.slackTurns),
		maxTurns: rules.maxTurns > 0 ? rules.maxTurns : maxTurns,
	};
}
