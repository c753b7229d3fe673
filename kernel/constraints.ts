/** Longer sentences are quoted output rather than somebody's rule. */
const longestChars = 300;

/** Words by which a user sets a rule, in languages that divide words and in those that do not. */
const dividedWords =
	"never|always|must|mustn['’]t|do not|don['’]t|only|keep|avoid|niemals|nie|immer|muss|müssen|darf|nur|jamais|toujours|doit|seulement|nunca|siempre|debe|solo|sólo|sempre|deve|apenas|mai|никогда|всегда|нельзя|должн[аоы]?|только";
const joinedWords =
	"必须|必須|不要|禁止|务必|務必|只|不得|不能|总是|總是|勿|必ず|絶対|だけ|のみ|ないで|いけない|반드시|절대|금지|항상|하지 ?마";
const ruleWords = new RegExp(`(?<!\\p{L})(?:${dividedWords})(?!\\p{L})|${joinedWords}`, "iu");

/** The sentences of a user's message that set a rule (never, always, must, only …), as far as a short list of words tells. */
export function constraintsIn(text: string): readonly string[] {
	return text
		.split(/(?<=[.!?])\s+|(?<=[。！？])|\n+/)
		.map((sentence) => sentence.trim())
		.filter((sentence) => sentence.length <= longestChars && ruleWords.test(sentence));
}
