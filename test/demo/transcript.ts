import { estimateTokens } from "../../kernel/meter/estimate.ts";
import { formatTokens } from "../../kernel/problem.ts";
import type { Event } from "./model.ts";
import type { Received, Result } from "./request.ts";

/** An event for reading, mostly one line, without colour. */
export function eventText(event: Event): string {
	switch (event.kind) {
		case "prompt":
			return `\nuser: ${event.text}`;
		case "says":
			return `  model: ${event.text}`;
		case "nudge":
			return nudgeLines(event.received).join("\n");
		case "result":
			return resultLines(event.result, event.received).join("\n");
	}
}

function nudgeLines({ nudge }: Received): string[] {
	const [first = "", ...rest] = nudge?.text.split("\n") ?? [];
	return [`  nudge: ${first}`, ...rest.map((line) => `         ${line}`)];
}

function resultLines({ call, text }: Result, received: Received): string[] {
	const size = `(${formatTokens(estimateTokens(text))} tokens)`;
	const args = call.arguments;
	switch (call.name) {
		case "compress": {
			const blocks = madeBlocks(text);
			const ranges = Array.isArray(args.content) ? args.content.length : 1;
			const outcome = blocks.length > 0 ? blocks.join(" ") : text;
			return [`  compress ${ranges} ranges → ${outcome}; a request is ${formatTokens(received.sizeTokens)} tokens now`];
		}
		case "search_context":
			return [`  search_context "${args.query}" → ${hitRefs(text).join(", ") || text}`];
		case "decompress":
			return [`  decompress ${args.id} → ${/page \d+ of \d+/.exec(text)?.[0] ?? text} ${size}`];
		case "bash":
			return [`  bash ${args.command} ${size}`, ...lastLines(text)];
		default:
			return [`  ${call.name} ${args.path} ${size}`];
	}
}

/** The blocks that a compress result says it made. */
export function madeBlocks(text: string): string[] {
	return text.startsWith("Folded:") ? [...text.matchAll(/^(b\d+) = /gm)].map(([, id = ""]) => id) : [];
}

function hitRefs(text: string): string[] {
	return [...text.matchAll(/^([bm]\d+) \(/gm)].map(([, ref = ""]) => ref);
}

/** What a test run or a replay came to. */
function lastLines(text: string): string[] {
	const told = text.split("\n").filter((line) => /^. (pass|fail) \d|^\d{4}-\d\d: /.test(line));
	return told.map((line) => `         ${line.trim()}`);
}
