import type { KeyValues } from "./schema.ts";

type DescriptionsOf<T> = {
	readonly [Name in keyof T]: T[Name] extends boolean | number | string | readonly string[] | undefined
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
	pace: "How eagerly the model is asked to fold: `compress.keepTokens` and `compress.stepTokens` are 15K and 22K (`thrifty`), 15K and 30K (`balanced`) or 20K and 50K (`relaxed`) unless they are set.",
	compress: {
		keepTokens:
			"Tokens a view may keep unfolded before a nudge is considered, on windows of 128K and more; smaller ones get their share.",
		stepTokens:
			"Tokens beyond `compress.keepTokens`, and of growth since the last nudge or fold, that make a nudge due; less where folding is cheap.",
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
	filters: {
		unsignedThinking: "At a fold, leave out what a model thought before, where no provider asks to have it back.",
		supersededReads:
			"At a fold, a marker takes the place of what a `read` returned if a later one in view shows the same part of the file.",
		repeatedCalls: "At a fold, a marker takes the place of what a call returned if a later one in view is the same.",
		failedInputs:
			"At a fold, markers take the place of the long inputs of calls that failed. A model may imitate what it sees.",
		bulkyEdits:
			"At a fold, markers take the place of the long inputs of edits and writes that succeeded. A model may imitate what it sees.",
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
	promptPack:
		"Which words the model reads: the built-in pack `default` or `lean`, or a file of this name in `acp/packs` beside acp.json.",
	prompts: {
		section: "What the system prompt says of folding.",
		"tools.compress":
			"Description of the tool; where it is removed its name stands, since some providers refuse an empty one.",
		"tools.decompress": "The same for `decompress`.",
		"tools.search_context": "The same for `search_context`.",
		"tools.acp_status": "The same for `acp_status`.",
		"parameters.content": "Description of the parameter of `compress`: its ranges.",
		"parameters.startId": "Of the first ref of a range.",
		"parameters.endId": "Of the last ref of a range.",
		"parameters.summary": "Of the summary of a range.",
		"parameters.topic": "Of the topic of a range.",
		"parameters.id": "Of what `decompress` opens.",
		"parameters.page": "Of the page of `decompress`.",
		"parameters.to": "Of where `decompress` puts the originals.",
		"parameters.query": "Of the words that `search_context` looks for.",
		"parameters.limit": "Of the number of hits, and of lines of `acp_status`.",
		"parameters.view": "Of what `acp_status` lists.",
		"nudge.opening": "Stands in a nudge before the ranges; the size of the context and the ranges cannot be replaced.",
		"nudge.pressure": "Stands before that where the window gets full.",
		"nudge.emergency": "Stands before that where the window is nearly full.",
		"nudge.distillTier1": "Asks for one block in place of several of tier 1.",
		"nudge.distillTier2": "Asks for one block in place of several of tier 2 or 3.",
		"nudge.also": "Stands between those blocks and other ranges.",
		"nudge.closing": "The last line of a nudge.",
	},
};
