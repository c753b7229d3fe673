/**
 * The words a model reads that a user may replace, by key: those of the built-in pack `default`. The section is part of the
 * system prompt; it is constant, so that it never breaks a cached prefix.
 */
export const defaultWords = {
	section: `The context window is limited, and you keep it in order yourself. User and tool messages end with a tag such as <acp>m00012</acp>: the ref of that message. Refs are for the tools below; never write tags yourself.

compress folds a range of messages into a block: an <acp-block> with your summary and a short record made by code, which stands in their place from then on. A block is a record of the past: what it says was said or done then, and is no instruction now.
- Fold what is finished: explored and understood, output that was used, steps that are done. Put several ranges into one call.
- Do not fold what you still work with: files being edited, an open error, the last request of the user. Recent messages stay anyway.
- A summary stands in for the originals. Write it in the words of its range, a sentence or two at least. Keep word for word: paths with lines, signatures, exact errors and values, decisions with their reasons, the user's constraints, what is still open. Leave out logs, repeated reads and dead ends, but not their lesson.
- Originals are never lost: decompress shows those of a block or message, search_context finds text in them.

Fold when a reminder lists ranges, or when a piece of work is done. Call compress right then, and go on with the task in the same turn.`,
	"tools.compress":
		"Fold ranges of finished messages into blocks with your summaries. Boundaries are refs of messages (m00012) or blocks (b3), both included; whole units are taken.",
	"tools.decompress":
		'Show the originals behind a block (b3), a message (m00012) or a range (m00005-m00031), in pages. to "file" writes all of it to a file; to "view" puts the block\'s content back in its place.',
	"tools.search_context": "Find text in blocks and folded messages; each hit has its ref and the passage.",
	"tools.acp_status": "Show how full the context is, what is folded and what can be folded now.",
	"parameters.content": "The ranges to fold, oldest first",
	"parameters.startId": "First ref, such as m00005 or b1",
	"parameters.endId": "Last ref",
	"parameters.summary": "What has to be known of the range later on",
	"parameters.topic": "A few words",
	"parameters.id": "b3, m00012 or m00005-m00031",
	"parameters.page": "From 1",
	"parameters.to": "Where to",
	"parameters.query": "Words to look for",
	"parameters.limit": "How many at most",
	"parameters.view": "What to list",
	"nudge.opening": "These ranges can be folded with compress where their work is done:",
	"nudge.pressure": "It is getting full.",
	"nudge.emergency": "It is nearly full: what stays unfolded will soon be cut or folded without a summary of yours.",
	"nudge.distillTier1":
		"These blocks stand side by side; compress makes one of them. In its summary: what was decided and why, results, constraints, names and places to look under, what is open; leave out steps and details. decompress still opens the old ones:",
	"nudge.distillTier2":
		"These blocks stand side by side; compress makes one of them. In its summary: one or two facts for each block: what was done, where, and what is open. decompress still opens the old ones:",
	"nudge.also": "In the same call, where their work is done:",
	"nudge.closing": "Fold what is finished in one call, then go on with your task.",
};

/** The name of a text that can be replaced. */
export type WordKey = keyof typeof defaultWords;

/** Every key of the catalogue. */
export const wordKeys = Object.keys(defaultWords) as readonly WordKey[];

/** The texts in use; an empty one is left out where it would stand. */
export type Words = Readonly<Record<WordKey, string>>;

/** Texts in place of the default ones; `null` and "" remove one. */
export type Prompts = { readonly [Key in WordKey]?: string | null | undefined };

/** The packs that come with the kernel. `lean` is for small windows: it and the tools take at most 350 tokens. */
export const builtInPacks: Readonly<Record<"default" | "lean", Prompts>> = {
	default: {},
	lean: {
		section: `User and tool messages end with their ref: <acp>m00012</acp>. Never write tags.
compress folds finished messages into an <acp-block>: a record of the past, no instruction. Fold used output and finished steps, when done or reminded; never current work. Keep word for word: paths with lines, signatures, errors, values, decisions with reasons, user constraints, open items. decompress shows originals, search_context finds them. Then go on in the same turn.`,
		"tools.compress": "Fold ranges, both ends included",
		"tools.decompress": "Show originals of b3, m00012 or m00005-m00031",
		"tools.search_context": "Find folded text",
		"tools.acp_status": "Show context size",
		...Object.fromEntries(wordKeys.filter((key) => key.startsWith("parameters.")).map((key) => [key, null])),
	},
};

/** What a text of a nudge may take at most, in UTF-16 units: a nudge that fills a small window would make it useless. */
const nudgeTextLength = 1_000;

/**
 * The words that prompts make of the default ones, the strongest first. Blank texts are empty, lone surrogates replaced, and
 * long texts of a nudge cut.
 */
export function wordsOf(...strongest: readonly Prompts[]): Words {
	const words: Record<WordKey, string> = { ...defaultWords };
	for (const prompts of strongest.toReversed()) {
		for (const key of wordKeys) {
			const text = prompts[key];
			if (text !== undefined) words[key] = toWords(key, text ?? "");
		}
	}
	return words;
}

function toWords(key: WordKey, text: string): string {
	const length = key.startsWith("nudge.") ? nudgeTextLength : text.length;
	return text.trim() === "" ? "" : text.slice(0, length).toWellFormed();
}
