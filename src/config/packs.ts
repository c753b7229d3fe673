import { join } from "node:path";
import { builtInPacks, type Prompts, wordKeys } from "../../kernel/index.ts";
import { createSettingsFile, type SettingsFile } from "./file.ts";
import { addressOf, describeProblems, type Layer, readDocument } from "./merge.ts";
import { promptsGroup } from "./schema.ts";

/** A pack of words as it is now. */
export interface Pack {
	/** What it says; the same object until another file counts, or the file changes. */
	readonly layer: Layer;
	/** What is wrong with it, or with a file of this name that would come first, as sentences. */
	readonly problems: readonly string[];
}

const readPack = (source: string, document: unknown) => readDocument(source, document, promptsGroup);

const none = readPack("", {});

/** Finds built-in packs; each is read when first asked for, since that takes 3 ms of a start. */
function createBuiltIn(): (name: string) => Layer | undefined {
	const texts = new Map<string, Prompts>(Object.entries(builtInPacks));
	const layers = new Map<string, Layer>();
	return (name) => {
		const prompts = texts.get(name);
		const layer = layers.get(name) ?? (prompts && readPack(name, prompts));
		if (layer !== undefined) layers.set(name, layer);
		return layer;
	};
}

/**
 * Finds a pack by its name: `<name>.json` in the folders, the stronger first, then the built-in one. A file that says nothing
 * but faults is ignored; where there is no pack the default words stand. Costs a stat per folder.
 */
export function createPacks(folders: () => readonly string[]): (name: string) => Pack {
	const files = new Map<string, SettingsFile>();
	const builtIn = createBuiltIn();
	return (name) => {
		const problems: string[] = [];
		const searched = folders().map((folder) => join(folder, `${name}.json`));
		for (const path of searched) {
			const file = files.get(path) ?? createSettingsFile(path, readPack);
			files.set(path, file);
			if (!file.isThere()) continue;
			const layer = file.read();
			problems.push(...describeProblems({ environment: none, files: [layer] }));
			if (layer.values.size > 0 || layer.problems.length === 0) return { layer, problems };
		}
		const layer = builtIn(name);
		if (layer !== undefined) return { layer, problems };
		if (problems.length === 0) problems.push(`promptPack: there is no ${searched.join(", no ")}; it is ignored`);
		return { layer: none, problems };
	};
}

/** The texts of a pack. */
export function promptsIn({ values }: Layer): Prompts {
	// Every value was read by the key of a text.
	return Object.fromEntries(wordKeys.map((key) => [key, values.get(addressOf([key]))])) as Prompts;
}
