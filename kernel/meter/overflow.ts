/** What the error text of a failed request says of its size. */
export type Failure =
	| {
			readonly kind: "overflow";
			/** The window the text names, in tokens. */
			readonly limitTokens: number | undefined;
			/** The input of the request as the text names it, in tokens, without the room asked for the answer. */
			readonly requestedTokens: number | undefined;
	  }
	| { readonly kind: "suspect" };

/**
 * Reads an error text: `overflow` if it says that the input was larger than the window, `suspect` if that may be its
 * cause and something else may, undefined if it speaks of something else.
 */
export function failureOf(errorText: string): Failure | undefined {
	const text = errorText.slice(0, readChars);
	for (const { verdict, pattern } of rows) {
		const match = pattern.exec(text);
		if (match === null) continue;
		if (verdict === "neither") return undefined;
		if (verdict === "suspect") return { kind: "suspect" };
		const { limit, requested, output } = match.groups ?? {};
		return {
			kind: "overflow",
			limitTokens: believable(count(limit)),
			requestedTokens: believable(count(requested) - count(output)),
		};
	}
	return undefined;
}

function count(digits = "0"): number {
	return Number(digits.replaceAll(",", ""));
}

/** No model takes less than the one, none takes more than the other. */
function believable(tokens: number): number | undefined {
	return tokens >= 1_000 && tokens <= 100_000_000 ? tokens : undefined;
}

/** What counts stands at the start; what follows is a page of HTML or an echo of the request. */
const readChars = 8_000;

type Verdict = "neither" | "suspect" | "overflow";

interface Row {
	readonly verdict: Verdict;
	readonly pattern: RegExp;
}

/**
 * Rows of one verdict, as case-blind regular expressions in which `<limit>`, `<requested>` and `<output>` (the answer's
 * share of what was requested) stand for numbers of tokens, and `…` for a short stretch without digits. All
 * repetitions are bounded, so that no text takes long to read.
 */
function rowsOf(verdict: Verdict, sources: readonly string[]): readonly Row[] {
	return sources.map((source) => {
		const numbered = source.replaceAll(/<(limit|requested|output)>/g, (_, name) => `(?<${name}>${tokenCount})`);
		return { verdict, pattern: new RegExp(numbered.replaceAll("…", String.raw`[^\d\n]{0,80}?`), "i") };
	});
}

/** Digits with or without commas between the thousands, and not a number of bytes or characters. */
const tokenCount = String.raw`\d{1,30}(?:,\d{3}){0,9}(?!\d|,\d{3}| ?(?:bytes?|char\w{0,9}|[kmg]i?b)\b)`;

/** One of some HTTP statuses, where a text has its status; elsewhere the same digits mean nothing. */
function status(codes: string): string {
	const place = [
		String.raw`^\s{0,9}`,
		String.raw`\berror:? \(?`,
		String.raw`\bstatus\W{1,6}`,
		String.raw`(?<!exit[ _])code\W{1,6}`,
		String.raw`\bhttp(?:/[\d.]{1,3})? ?`,
		String.raw`\b(?:returned|responded with) (?:an? )?`,
		"<title>",
		"<h1>",
	].join("|");
	const counted = "(?:lines?|tokens?|messages?|bytes?|characters?|items?|files?|images?|tools?|m?s|seconds?|of)";
	return String.raw`(?:${place})(?:${codes})(?!\w|[.,]\d| ${counted}\b)`;
}

/** Limits in tokens that are no windows: of a rate, of a plan, of the answer. They come before all else. */
const otherLimits = rowsOf("neither", [
	status("429|529"),
	"overloaded|server[ _](?:is )?busy|servers are (?:currently )?busy|high demand|at capacity",
	"rate[ _-]?limit|too many requests|throttl|please wait|resource[ _]?exhausted",
	String.raw`\bper[ -](?:second|min|hour|day)|\b[tr]p[md]\b`,
	String.raw`quota|billing|\bcredits?\b|insufficient[ _](?:balance|funds)`,
	"(?:usage|daily|weekly|monthly)(?: token)? limit",
	String.raw`max_(?:completion_|output_)?tokens\W{1,3}\d{1,30} > |maximum allowed number of output tokens`,
]);

/** A refusal of the input that says nothing more: some gateways answer an overflow so, and much else. */
const bodyless = rowsOf("suspect", [
	String.raw`\b4(?:00|13):? (?:status code )?\(no body\)|no status code or body`,
	String.raw`${status("400|413")}(?: bad request)?\W{0,9}$`,
]);

/** Texts that name figures. A row whose stretch could end at another row's number stands after it. */
const figured = rowsOf("overflow", [
	// Anthropic: input and answer together
	String.raw`context (?:limit|window|length): <requested> \+ [\d,]{1,30} > <limit>`,
	// llama.cpp: the share of a slot
	String.raw`<requested>(?: tokens)? ?/ ?\d{1,30}(?: tokens)? ?> ?(?=\d{4}|\d{1,3},)<limit>`,
	// Anthropic, and whoever writes like it
	"<requested> tokens? > <limit>",
	// Fireworks
	"prompt is too long: <requested>,…maximum context length: <limit>",
	// vLLM
	String.raw`passed <requested> input tokens[^\n]{0,80}?context length is (?:only )?<limit>`,
	String.raw`(?:input|prompt) \((?:(?:total )?length )?<requested>(?: tokens)?\) is (?:too long|longer|larger)…<limit>`,
	// xAI
	"maximum prompt length is <limit>(?:…<requested> tokens)?",
	// Google, Copilot, OpenRouter, vLLM
	String.raw`(?:input|prompt) (?:length|token count)(?: of| is)?(?: \(?<requested>\)?)?(?: tokens)? ` +
		String.raw`(?:exceeds?|but)\b…(?<!\bby )<limit>`,
	// OpenAI, Azure, DeepSeek, OpenRouter, vLLM, SGLang, LiteLLM
	String.raw`max(?:imum)? context (?:length|window|size)(?: (?:of|for) (?:this model|[a-z]\S{0,80}))?` +
		String.raw`(?: is| of|:)? ?\(?(?:only )?<limit>` +
		String.raw`(?:(?:…\d{1,9} output tokens)?…(?:request|result|ha[sv]|take|contain)…<requested> (?:input )?tokens` +
		String.raw`(?:[^)\n]{0,120}?<output> (?:tokens )?(?:in|for) the (?:completion|output))?)?`,
	// OpenAI Responses
	"input tokens exceed…limit of <limit>(?:…<requested> tokens)?",
	// Kimi
	"exceeded model token limit: <limit>(?:…requested: <requested>)?",
	// Mistral
	String.raw`prompt contains <requested> tokens[^\n]{0,60}?too large for model with <limit>`,
	// DS4
	"prompt has <requested> tokens?, but…<limit>",
	// llama.cpp
	String.raw`n_prompt_tokens\W{1,6}<requested>[^}\n]{0,40}?n_ctx\W{1,6}<limit>`,
	String.raw`request \(<requested> tokens\) exceeds…<limit>`,
	// LM Studio
	"keep the first <requested> tokens…context length of (?:only )?<limit>",
	"reached context length of <limit>",
	// Cerebras
	"current length is <requested> while limit is <limit>",
	// Bedrock
	"max input tokens: <limit>,…token count: <requested>",
	// DashScope
	String.raw`range of input length should be \[\d{1,9}, ?<limit>`,
	// Cohere, watsonx
	"tokens in the prompt cannot exceed <limit>(?:…<requested>)?",
	"number of input tokens <requested> cannot exceed…<limit>",
	// text-generation-inference
	String.raw`inputs\W? must have less than <limit> tokens…<requested>`,
	String.raw`inputs\W? tokens \+ \W?max_new_tokens\W? must be <= <limit>…<requested>`,
	// Cloudflare
	String.raw`input and maximum output tokens \(<requested>\) exceeded…<limit>`,
	// Whoever compares two figures, or names a window
	String.raw`(?:prompt|context|input|token)…<requested> > (?=\d{4}|\d{1,3},)<limit>`,
	String.raw`exceed(?:s|ed|ing)?\b…context (?:window|length|size|limit)(?: limit)?(?: of| is|:)? ?\(?<limit>`,
]);

const unfigured = rowsOf("overflow", [
	"context[ _-]?(?:length|window|size|limit)[ _]?(?:has been |is |was )?exceed",
	String.raw`exceed(?:s|ed|ing)?(?:\b|_)…context[ _-]?(?:length|window|size|limit)`,
	"(?:longer|larger|greater|bigger) than…context[ _-]?(?:length|window|size)",
	"out of room in the model's context window",
	"(?:prompt|input|conversation|context|messages?) (?:is |are )?too (?:long|large|big)",
	String.raw`prompt exceeds max length|prompt 超长|code\W{1,6}1261\b`,
	String.raw`(?:input|prompt|requested) (?:length|tokens?|token count)[^\n]{0,40}? ?exceed|max_prompt_tokens_exceeded`,
	"too many (?:input |prompt )?tokens|(?:(?<!output |completion )token limit exceeded|exceeded model token limit)",
	"reduce the length of (?:the |your )?(?:messages|input|prompt|conversation)",
	// The size of the request in bytes
	String.raw`(?:request|payload|body|entity)[ _](?:is )?too[ _]large|string too long…maximum length \d{7}`,
	"(?:request|payload|body)(?: payload| body)? (?:size exceed|exceed(?:s|ed) the maximum (?:request |body )?size)",
	status("413"),
]);

const serverFaults = rowsOf("suspect", [
	status(String.raw`5\d\d`),
	String.raw`internal ?server ?error|\bserver[ _]error|bad ?gateway`,
	"service ?(?:is )?(?:temporarily )?unavailable",
]);

/** Refusals that name another reason, and ends that the user or a filter made. */
const otherReasons = rowsOf("neither", [
	status(String.raw`4(?!08)\d\d`),
	"invalid[ _]?(?:request|param|argument)|authenticat",
	String.raw`\b(?:request|operation|run|turn) (?:was )?(?:aborted|cancell?ed)(?! due to timeout)|^aborted|aborterror`,
	"user (?:aborted|cancell?ed)|(?:aborted|cancell?ed|terminated) by (?:the )?user",
	"content[ _-]?(?:filter|policy)",
]);

const cutAnswers = rowsOf("suspect", [
	String.raw`\b(?:econnreset|econnaborted|etimedout|epipe)\b|timed?[ -]?out|deadline[ _]exceeded|\bterminated\b`,
	String.raw`connection (?:was |has been |is )?(?:\w{1,20}ly )?(?:reset|closed|lost|aborted|dropped|interrupted)`,
	"socket hang ?up|socket(?: connection)? (?:was )?closed|other side closed|peer closed|closed the connection",
	"stream…(?:ended|closed|cut|disconnect|interrupt|abort|cancel|truncat|reset|read[ _]error)|ended without",
	"premature(?:ly)? (?:close|end|eof)|unexpected (?:eof|end of)|incomplete chunked read",
	"reset before headers|network_error",
	"(?:empty|no) (?:response|reply|completion|answer)(?! format)|(?:response|reply) (?:was|is) empty",
	"response has no body|did not get a response",
]);

/** Read from the top; the first that matches decides. */
const rows: readonly Row[] = [
	...otherLimits,
	...bodyless,
	...figured,
	...unfigured,
	...serverFaults,
	...otherReasons,
	...cutAnswers,
];
