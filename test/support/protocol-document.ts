import { collapseMessage } from "../../kernel/degenerate.ts";
import {
	defaultSettings,
	findOriginals,
	foldText,
	formatTokens,
	nudgeText,
	outgoingItems,
	type Problem,
	pageOf,
	planUnfold,
	problemText,
	project,
	promptSection,
	search,
	searchText,
	statusOf,
	statusText,
	textOf,
	toMessages,
	toolDescriptions,
	uncalibrated,
	unfoldText,
	type Window,
} from "../../kernel/index.ts";
import type { Message } from "../../kernel/message.ts";
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
		nudge: nudgeText(before.foldable, before.reading, window),
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
		problems: problems(before.foldable.slice(0, 1)),
	});
}

const long: Message = { role: "toolResult", content: "a line of output\n".repeat(90), timestamp: 0 };
const endless: Message = { role: "assistant", content: `So ${"and on ".repeat(300)}`, timestamp: 0 };

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
	readonly nudge: string;
	readonly result: string;
	readonly page: string;
	readonly unfolded: string;
	readonly hits: string;
	readonly status: string;
	readonly problems: readonly string[];
}

function template(texts: Texts): string {
	const tools = Object.entries(toolDescriptions).map(([name, text]) => `* \`${name}\`: ${text}`);
	return `# What the model sees

This file is made by \`npm run docs\` from the code that sends these texts; a test compares the two. Refs and figures are
those of a small example session.

## The section of the system prompt

Constant for a session. It is there only while \`compress\` is ours and offered to the model.

${fence(promptSection)}

## Tools

${tools.join("\n")}

## Messages and tags

Every user and tool message ends with its ref in a tag, on a line of its own. Assistant messages have none.

${fence(texts.first)}

Text in a message that looks like a tag or a block of ours is shown with a blank after its first bracket.
An empty tool result reads \`(no output: tool interrupted or timed out)\`.

## A block

It stands where the first message it covers stood. Its bytes never change.

${fence(texts.block)}

## The nudge

One message at the very end of a request, never stored. It comes when the unfolded part passes
\`compress.keepTokens\` + \`compress.stepTokens\` (${formatTokens(defaultSettings.compress.keepTokens)} + ${formatTokens(defaultSettings.compress.stepTokens)} on windows of 128K and more, less on smaller ones), and again only after
another step of growth since the last nudge or fold.

${fence(texts.nudge)}

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

Earlier turns that rules folded are told in an \`<earlier_conversation_summary>\`, the summary of their block.

## Notes of the guards

${guardTexts.map((text) => `* ${text}`).join("\n")}

## Refusals

Each is an error result: what was wrong, and one step that works at that moment. A refused call changes nothing.

${texts.problems.map((text) => `* ${text}`).join("\n")}
`;
}
