import type { ExtensionFactory } from "@earendil-works/pi-coding-agent";
import { choose } from "../../support/choose.ts";
import type { Reply, ScriptedCall } from "../../support/provider.ts";
import { textKinds } from "../../support/texts.ts";

/** Whole numbers from 0 to less than `below`, the same ones for the same seed. */
export type Random = (below: number) => number;

export function randomOf(seed: number): Random {
	let state = seed;
	return (below) => {
		state = (state + 0x6d2b79f5) | 0;
		let mixed = Math.imul(state ^ (state >>> 15), state | 1);
		mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
		return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
	};
}

/** A size between two, the smaller ones more often, as files and outputs are. */
function sizeBetween(next: Random, least: number, most: number): number {
	return Math.round(least * (most / least) ** (next(1_000) / 1_000));
}

/** Characters that a token of code and prose has, about. */
const tokenChars = 4;

/** Tokens of a file, of what a command puts out, and of what an edit or a new file holds. */
const fileTokens = [500, 8_000] as const;
const outputTokens = [40, 3_000] as const;
const changeTokens = [30, 600] as const;

/** Steps of a turn of the user, the answer that ends it not counted. */
const turnSteps = [7, 14] as const;

const folders = ["src/parser", "src/view", "src/store", "test/parser", "docs", "src/wire"];
const nouns = ["header", "record", "cursor", "window", "token", "session", "branch", "archive", "digest", "frame"];

const openText = new Map(textKinds().map(({ name, texts }) => [name, texts.join("\n")]));

/** About so many tokens of open text of one of these kinds. */
function textOf(next: Random, kinds: readonly string[], sizeTokens: number): string {
	const source = openText.get(choose(kinds, next(kinds.length))) ?? "";
	const length = sizeTokens * tokenChars;
	const start = next(source.length);
	return source.repeat(Math.ceil((start + length) / source.length)).slice(start, start + length);
}

/** The steps of somebody at work in a project: reads, commands, edits, and at times two calls at once. */
export class Work {
	readonly #next: Random;
	#leftSteps: number;
	#turnSteps = 0;
	#turns = 0;

	constructor(seed: number, steps: number) {
		this.#next = randomOf(seed);
		this.#leftSteps = steps;
	}

	get isDone(): boolean {
		return this.#leftSteps <= 0;
	}

	/** Ends the work, whatever is left of it. */
	giveUp(): void {
		this.#leftSteps = 0;
	}

	/** What the user asks for next. */
	prompt(): string {
		const [least, most] = turnSteps;
		this.#turnSteps = least + this.#next(most - least + 1);
		this.#turns++;
		const task = `Task ${this.#turns}: the ${this.#noun()} in ${this.#path()} loses the ${this.#noun()}. Never touch the ${this.#noun()} format.`;
		return `${task}\n${textOf(this.#next, ["English prose"], sizeBetween(this.#next, 20, 300))}`;
	}

	/** One step; the last one of a turn is an answer. */
	step(): Reply {
		this.#leftSteps--;
		this.#turnSteps--;
		if (this.#turnSteps < 0 || this.isDone) {
			return { text: `Done: the ${this.#noun()} keeps its ${this.#noun()}. ${this.#prose(60)}` };
		}
		const toolCalls = this.#next(6) === 0 ? [this.#call(), this.#call()] : [this.#call()];
		return { text: this.#prose(20), toolCalls };
	}

	/** A call to make over and over. */
	call(): ScriptedCall {
		return { name: "bash", arguments: { command: `npm test -- ${this.#path()}` } };
	}

	#call(): ScriptedCall {
		const kind = this.#next(20);
		const path = this.#path();
		if (kind < 9) return { name: "read", arguments: { path } };
		if (kind < 15) return { name: "bash", arguments: { command: `grep -rn ${this.#noun()} ${path} | head -50` } };
		const change = () => textOf(this.#next, ["TypeScript"], sizeBetween(this.#next, ...changeTokens));
		return { name: "edit", arguments: { path, edits: [{ oldText: change(), newText: change() }] } };
	}

	#path(): string {
		const folder = choose(folders, this.#next(folders.length));
		return `${folder}/${this.#noun()}-${this.#next(8)}.ts`;
	}

	#noun(): string {
		return choose(nouns, this.#next(nouns.length));
	}

	#prose(sizeTokens: number): string {
		return textOf(this.#next, ["English prose"], sizeBetween(this.#next, 5, sizeTokens));
	}
}

/** Arguments of calls of the project's tools. */
type Args = { readonly path?: string; readonly command?: string };

const pathParameters = { type: "object", properties: { path: { type: "string" } }, required: ["path"] };
const commandParameters = { type: "object", properties: { command: { type: "string" } }, required: ["command"] };

/** The tools of a project that is not there: `read`, `bash` and `edit` in place of Pi's. `hears` gets all their arguments. */
export function projectTools(seed: number, hears: (args: string) => void): ExtensionFactory {
	const next = randomOf(seed);
	const files = new Map<string, string>();
	const fileAt = (path: string): string => {
		const known = files.get(path);
		if (known !== undefined) return known;
		const text = textOf(next, ["TypeScript", "type declarations", "Markdown docs"], sizeBetween(next, ...fileTokens));
		files.set(path, `// ${path}\n${text}`);
		return fileAt(path);
	};
	const outputs: Readonly<Record<string, (args: Args) => string>> = {
		read: ({ path = "" }) => fileAt(path),
		bash: ({ command = "" }) =>
			`$ ${command}\n${textOf(next, ["server logs", "TypeScript", "JSON"], sizeBetween(next, ...outputTokens))}`,
		edit: ({ path = "" }) => {
			files.set(path, `${fileAt(path)}\n// revised`);
			return `Edited ${path}: 1 replacement.`;
		},
	};
	return (pi) => {
		for (const [name, output] of Object.entries(outputs)) {
			pi.registerTool({
				name,
				label: name,
				description: `The project's ${name}.`,
				parameters: name === "bash" ? commandParameters : pathParameters,
				execute: async (_id, params) => {
					hears(JSON.stringify(params));
					return { content: [{ type: "text", text: output(params as Args) }], details: {} };
				},
			});
		}
	};
}
