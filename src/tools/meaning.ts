import type { WordKey, Words } from "../../kernel/index.ts";

type ParameterName = WordKey extends infer Key ? (Key extends `parameters.${infer Name}` ? Name : never) : never;

/** The description of a parameter as its schema holds it; nothing where the words leave it out. */
export function meaning(words: Words, name: ParameterName): { readonly description?: string } {
	const description = words[`parameters.${name}`];
	return description === "" ? {} : { description };
}
