import type { KeyValues } from "./schema.ts";

type DescriptionsOf<T> = {
	readonly [Name in keyof T]: T[Name] extends boolean | number | string | readonly string[]
		? string
		: DescriptionsOf<T[Name]>;
};

/** What each key means, for CONFIGURATION.md and editors. Nothing says it at run time, so the bundle goes without. */
export const descriptions: DescriptionsOf<KeyValues> = {
	enabled: "`false` stops tools, tags, nudges and new folds; existing folds are still rendered.",
	debug: "Write debug lines to the log.",
	log: {
		path: "File of the log, opened when a session starts; `~/` is the home directory, other relative paths start at the project.",
	},
	ui: {
		statusLine: "Show the size of the context in the footer.",
	},
	updateNotice:
		"Ask npm at most once a day, in a terminal only, whether there is a newer version, and say so. Nothing is installed.",
	modelContextLimit:
		"Window of the model in tokens; 0 takes the window the model declares. Requests stay below the declared window even so, since Pi sizes answers by that.",
	outputHeadroomMaxPct: "Share of the window kept free for the answer, at most.",
	compress: {
		keepTokens: "Tokens a view may keep unfolded before a nudge is considered, on windows of 128K and more.",
		stepTokens: "Tokens beyond `compress.keepTokens` that make a nudge due, on windows of 128K and more.",
		maxContextLimit:
			"Folding is paced as on a model with a window no larger than this. It changes when nudges come, never what is cut.",
		emergencyThresholdPercent: "Share of the usable window at which a request is cut by rules to fit.",
	},
	strategy:
		"Who folds: the model, and rules where a request would not fit (`hybrid`); the model alone, cuts apart (`model`); rules alone, without any model call (`rules`).",
	rules: {
		recentTurnsFull: "Turns at the end that strategy `rules` leaves as they are; 0 means the default.",
		slackTurns: "Turns beyond `rules.recentTurnsFull` that gather before strategy `rules` folds again.",
		maxTurns: "Folded turns that a fold by rules tells at length; older ones take a line each. 0 means the default.",
	},
	strictAlternation:
		"Whether blocks and nudges become part of the messages beside them, for servers that refuse two user messages in a row: as the model's `compat` says, always, or never.",
	protectedTools: "Tools whose calls and results are never folded; `*` stands for any run of characters.",
	preserveRecentMessages: "Messages at the end that are never folded.",
	preserveRecentTokens: "Tokens at the end that are never folded.",
	neverPreserveRecentTools: "Tools whose calls and results are neither counted nor kept as recent messages.",
	toolBashDefaultTimeout: "Seconds after which a `bash` call that gives no timeout is stopped; 0 switches it off.",
	toolOutputMaxBytes:
		"Bytes of text a tool result may have; of a longer one head and tail are kept, and all of it is in a file. 0 switches it off.",
	degenerationGuard:
		"Shorten answers in which the model repeated the same characters without end, before they are sent again.",
	repetitionGuard: "Warn at the third identical tool call in a row; block the fifth and end the turn.",
	throttleRetry:
		"Where a provider's limit of tokens for a time ends a run, try again after 60 seconds, doubling to 300, at most 10 times.",
};
