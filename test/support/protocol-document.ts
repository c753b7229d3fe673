import type { Block } from "../../kernel/block.ts";
import { collapseMessage } from "../../kernel/degenerate.ts";
import { filterRules } from "../../kernel/filters/index.ts";
import {
	builtInPacks,
	findOriginals,
	foldText,
	formatTokens,
	nudgeText,
	outgoingItems,
	type Problem,
	paces,
	pageOf,
	planUnfold,
	problemText,
	project,
	refusedAgainText,
	type Status,
	search,
	searchText,
	statusAgainText,
	statusOf,
	statusText,
	textOf,
	toMessages,
	uncalibrated,
	unfoldText,
	type Window,
	wordKeys,
	wordsOf,
} from "../../kernel/index.ts";
import type { Message } from "../../kernel/message.ts";
import type { Voice } from "../../kernel/operation.ts";
import { cutMessage } from "../../kernel/reduce.ts";
import { timeoutHint } from "../../src/guards/bash-timeout.ts";
import { pointer } from "../../src/guards/output-cap.ts";
import { blockReason, warning } from "../../src/guards/repetition.ts";
import { contextOf, Log, words } from "./log.ts";

const window: Window = { limitTokens: 200_000, usableTokens: 191_808, source: "model" };

/** A small session whose texts the document shows. */
function sample() {
	const log = new Log();
	log.user("Find out why an order without items is accepted. Do not touch the API.");
	log.step("read", { path: "src/orders.ts" }, `export function accept(order) {\n${words(900, "line")}\n}`);
	log.step("bash", { command: "npm test" }, `1 failed: rejects an empty order\n${words(700, "out")}`);
	log.step("edit", { path: "src/orders.ts" }, "Edited src/orders.ts");
	log.user("Now the same for refunds.");
	log.step("read", { path: "src/refunds.ts" }, words(1_500, "refund"));
	const nudged = project(outgoingItems(log.branch(), []), contextOf(log.branch(), { window }));
	const before = statusOf(log.view(), contextOf(log.branch(), { window }));
	const plan = log.compress([
		{
			startId: "m00003",
			endId: "m00005",
			topic: "empty orders",
			summary:
				"src/orders.ts accept(): had no check for items.length === 0. The failing test is 'rejects an empty order'.",
		},
	]);
	return { log, plan, before, nudged };
}

/** A nudge in each voice, and those that ask for one block instead of several. */
function nudges({ foldable, reading }: Status): Texts["nudges"] {
	const block = (number: number) => ({ number }) as Block;
	const run = { first: block(3), last: block(9), blocks: 7, messages: 0, sizeTokens: 16_800 };
	const say = (voice: Voice, tier = 0, ranges = foldable) =>
		nudgeText(voice, { ranges, run: tier === 0 ? undefined : { ...run, tier } }, reading, window);
	return {
		soft: say("soft"),
		pressure: say("pressure").split("\n")[0] ?? "",
		emergency: say("emergency").split("\n")[0] ?? "",
		distill: say("soft", 1),
		index: say("soft", 2, []),
	};
}

function fence(text: string): string {
	return `\`\`\`\n${text}\n\`\`\``;
}

function problems(foldable: Parameters<typeof problemText>[1]): readonly string[] {
	const all: readonly Problem[] = [
		{ code: "arguments", reason: "content holds no range; it takes [{ startId, endId, summary }]" },
		{ code: "unreadableRef", text: "message 12" },
		{ code: "unknownMessage", ref: "m00526", last: 13 },
		{ code: "unknownBlock", ref: "b7", known: [1] },
		{ code: "foreignRef", ref: "m00004@a1b2c3d4" },
		{ code: "notInView", range: "m00002-m00003" },
		{ code: "alreadyFolded", range: "m00003-m00004", block: 1 },
		{ code: "nothingLeft", range: "m00008", reasons: ["m00008 is the last user message"] },
		{ code: "overlap", range: "m00004-m00006", other: "m00002-m00005" },
		{ code: "emptySummary", range: "m00002-m00005" },
		{ code: "tooShort", range: "m00002-m00005", width: 28 },
		{ code: "filler", range: "m00002-m00005" },
		{ code: "notSmaller", range: "m00002-m00003", textTokens: 320, sizeTokens: 210 },
		{ code: "topTier", block: 9 },
		{ code: "aborted" },
		{ code: "standingDown", reason: "Context folding is switched off in acp.json" },
		{ code: "emptyQuery" },
		{ code: "noPage", page: 4, pages: 2 },
		{ code: "unwritable", path: "/tmp/b1.txt", reason: "no space left" },
	];
	return all.map((problem) => problemText(problem, foldable));
}

/** docs/protocol.md: every text a model can see, made by the code that sends it. */
export function protocolDocument(): string {
	const { log, plan, before } = sample();
	const branch = log.branch();
	const view = project(outgoingItems(branch, messagesOf(log)), contextOf(branch, { window }));
	const shown = toMessages(view, contextOf(branch));
	const block = shown.find((message) => message.role === "custom");
	const page = pageOf(findOriginals(branch, "b1") as never, 1);
	const unfolding = planUnfold(branch, log.view(), "b1");
	return template({
		first: textOf(shown[0] ?? { role: "user", content: "", timestamp: 0 }),
		block: block === undefined ? "" : textOf(block),
		nudges: nudges(before),
		result: foldText(plan, { window, calibration: uncalibrated }),
		page:
			"parts" in page
				? textOf({ role: "toolResult", content: page.parts.slice(0, 1), timestamp: 0 })
						.split("\n")
						.slice(0, 3)
						.join("\n")
				: "",
		unfolded: "code" in unfolding ? "" : unfoldText(unfolding, contextOf(branch, { window })),
		hits: searchText(search(branch, "empty order", 2)),
		status: statusText(statusOf(view, contextOf(branch, { window })), "overview", 20),
		ranges: statusText(statusOf(view, contextOf(branch, { window })), "ranges", 8),
		problems: problems(before.foldable.slice(0, 1)),
	});
}

const long: Message = { role: "toolResult", content: "a line of output\n".repeat(90), timestamp: 0 };
const endless: Message = { role: "assistant", content: `So ${"and on ".repeat(300)}`, timestamp: 0 };

/** What rules of content put in place of results and inputs. */
const markers = filterRules
	.flatMap((rule) => {
		const call = { type: "toolCall", id: "c", name: "edit", arguments: { text: textOf(long) } };
		const messages: readonly Message[] = [long, { role: "assistant", content: [call], timestamp: 0 }];
		return messages.flatMap((message) => JSON.stringify(rule.reduce(message, 12)).match(/\[left out: .*?\]/g) ?? []);
	})
	.map((marker) => JSON.parse(`"${marker}"`));

const guardTexts = [
	timeoutHint(60),
	pointer(130_000, "/tmp/acp-output-x/bash.txt"),
	warning("read"),
	blockReason("read", 5),
];

function messagesOf(log: Log) {
	return [...log.entries.values()].flatMap((entry) => (entry.kind === "message" ? entry.message : []));
}

interface Texts {
	readonly first: string;
	readonly block: string;
	readonly nudges: Readonly<Record<"soft" | "pressure" | "emergency" | "distill" | "index", string>>;
	readonly result: string;
	readonly page: string;
	readonly unfolded: string;
	readonly hits: string;
	readonly status: string;
	readonly ranges: string;
	readonly problems: readonly string[];
}

function template(texts: Texts): string {
	const figures = Object.entries(paces).map(
		([name, { keepTokens, stepTokens }]) => `\`${name}\` ${formatTokens(keepTokens)} + ${formatTokens(stepTokens)}`,
	);
	const paceText = figures.join(", ");
	const lean = wordsOf(builtInPacks.lean);
	return `# What the model sees

This file is made by \`npm run docs\` from the code that sends these texts; a test compares the two. Refs and figures are
those of a small example session.

## The section of the system prompt

Constant unless the settings change, or a model with other words is chosen. It is there only while \`compress\` is ours and offered to the model.

${fence(wordsOf().section)}

In the pack \`lean\`:

${fence(lean.section)}

## Tools and words

The key of each text in \`prompts\` of acp.json, and what it is in the packs \`default\` and \`lean\`. A text
that is left out is shown as a dash.

| Key | \`default\` | \`lean\` |
| --- | --- | --- |
${wordKeys
	.filter((key) => key !== "section")
	.map((key) => `| \`${key}\` | ${wordsOf()[key]} | ${lean[key] === wordsOf()[key] ? "the same" : lean[key] || "–"} |`)
	.join("\n")}

## Messages and tags

Every user and tool message ends with its ref in a tag, on a line of its own. Assistant messages have none.

${fence(texts.first)}

Text in a message that looks like a tag or a block of ours is shown with a blank after its first bracket.
An empty tool result reads \`(no output: tool interrupted or timed out)\`, any other message without content and tag \`(empty)\`.
A result that does not stand right behind its call, as in a damaged log, is a message of its own that begins
\`[result of read, apart from its call]\`.

## A block

It stands where the first message it covers stood. Its bytes never change.

${fence(texts.block)}

## The nudge

One message at the very end of a request, never stored; it names boundaries that \`compress\` takes at that moment, and repeats
no rule of the section. It comes when the unfolded part passes \`compress.keepTokens\` and a step, \`compress.stepTokens\`
(${paceText}; on windows below 128K their share), and when the view grew by a step
since the last nudge or fold: three quarters of one where a turn of the user begins, half of one where the provider's cache
has run out. It lists the eight heaviest ranges with what they hold: tools, files, the user's first words.

${fence(texts.nudges.soft)}

From three quarters of the usable window on it comes once a step, and its first line is:

${fence(texts.nudges.pressure)}

From nine tenths on it comes up to three times in a turn of the user:

${fence(texts.nudges.emergency)}

Where blocks of one tier stand side by side and weigh as much as what could be folded besides, it asks to make one of them:

${fence(texts.nudges.distill)}

The same for blocks of tier 2 and 3:

${fence(texts.nudges.index)}

## Results

A successful \`compress\`. The first line is fixed: a call whose \`details\` were lost is known as ours by it.

${fence(texts.result)}

\`decompress\`, a page of originals (its first lines):

${fence(texts.page)}

\`decompress\` with \`to: "view"\`; the first line is fixed as well:

${fence(texts.unfolded)}

\`search_context\`:

${fence(texts.hits)}

\`acp_status\`:

${fence(texts.status)}

## Texts that were shortened

A long text in a request that would not have fitted:

${fence(textOf(cutMessage(long, 12, 20)))}

An answer that ran into repetition:

${fence(textOf(collapseMessage(endless)))}

Results and inputs that a fold left out, by the rules under \`filters\` in acp.json:

${fence(markers.join("\n"))}

Earlier turns that rules folded are told in an \`<earlier_conversation_summary>\`, the summary of their block.

## Notes of the guards

${guardTexts.map((text) => `* ${text}`).join("\n")}

## Refusals

Each is an error result: what was wrong, and one step that works at that moment. A refused call changes nothing.

${texts.problems.map((text) => `* ${text}`).join("\n")}

## Asked again

The same call that was refused before since the user's last message ends with what is possible now; a third one is answered:

${fence(refusedAgainText("", 2, texts.ranges))}

A status that was asked for right before, and what every further one gets:

${fence(statusAgainText(texts.status, 1))}

${fence(statusAgainText(texts.status, 2))}
`;
}
