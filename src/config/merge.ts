import { isObject } from "../../kernel/index.ts";
import type { Group, Key, Node, Table } from "./key.ts";
import { type Candidate, nearest } from "./nearest.ts";
import { isForeign, isGroupThere, isOfProviders, nameHere, providersIn } from "./reference.ts";
import { allKeys, type KeyValues, listKeys, type PlacedKey, settingsGroup } from "./schema.ts";

type Path = readonly string[];

/** What one source sets: values by address, and what it got wrong. */
export interface Layer {
	readonly source: string;
	readonly values: ReadonlyMap<string, unknown>;
	readonly problems: readonly Problem[];
}

/** One thing wrong in a source; with `path` the sentence is completed by the value used instead. */
export interface Problem {
	readonly text: string;
	readonly path?: Path;
}

/** The sources of one session; of the files the stronger comes first. */
export interface Layers {
	readonly environment: Layer;
	readonly files: readonly Layer[];
}

/** A hostile file must not flood the user, nor cost a search for the nearest key a thousand times. */
const maxProblems = 20;

/**
 * Reads the document of a settings file, one of billion-context-pi as well, or that of another group; whatever is in it, it
 * yields a layer.
 */
export function readDocument(source: string, document: unknown, group = settingsGroup): Layer {
	const values = new Map<string, unknown>();
	const inCompress = new Map<string, unknown>();
	const problems: Problem[] = [];
	const foreign: string[] = [];
	let omitted = 0;
	const report = (describe: () => Problem) => {
		if (problems.length < maxProblems) problems.push(describe());
		else omitted++;
	};
	const reading = { values, report, foreign, scope: group, scopePath: [] };
	readNode(reading, group, document, []);
	readNode({ ...reading, values: inCompress }, settingsGroup, providersIn(document), []);
	for (const [address, value] of inCompress) if (!values.has(address)) values.set(address, value);
	if (omitted > 0) problems.push({ text: `${omitted} more faults are not listed` });
	if (foreign.length > 0) {
		const listed = foreign.slice(0, maxProblems).join(", ") + (foreign.length > maxProblems ? ", …" : "");
		problems.push({ text: `${listed}: known to billion-context-pi only, and ignored` });
	}
	return { source, values, problems };
}

/** Reads the environment variables named in the schema; an empty one counts as not set. */
export function readEnvironment(environment: Readonly<Record<string, string | undefined>>): Layer {
	const values = new Map<string, unknown>();
	const problems: Problem[] = [];
	for (const { path, key } of allKeys) {
		const text = key.environment === "" ? "" : (environment[key.environment] ?? "").trim();
		if (text === "") continue;
		const value = key.readText(text);
		if (value === undefined)
			problems.push({ path, text: `${key.environment} is ${show(text)}, expected ${wanted(key)}` });
		else values.set(addressOf(path), value);
	}
	return { source: "environment", values, problems };
}

interface Reading {
	readonly values: Map<string, unknown>;
	readonly report: (describe: () => Problem) => void;
	/** Keys that only billion-context-pi knows, as they are written. */
	readonly foreign: string[];
	/** The group whose keys a name is compared with, and where it stands. */
	readonly scope: Group;
	readonly scopePath: Path;
}

function readNode(reading: Reading, node: Node, value: unknown, path: Path): void {
	if (node.kind === "key") readKey(reading, node, value, path);
	// A switch there.
	else if (typeof value === "boolean" && dotted(path) === "rules") reading.foreign.push("rules");
	else if (!isObject(value)) reading.report(() => ({ text: notAnObject(value, path) }));
	else if (node.kind === "group") readGroup(reading, node, value, path);
	else readTable(reading, node, value, path);
}

function readKey(reading: Reading, key: Key<unknown>, written: unknown, path: Path): void {
	let value = written;
	if (isObject(written) && isGroupThere(path)) {
		const { enabled, ...rest } = written;
		reading.foreign.push(...Object.keys(rest).map((name) => dotted([...path, name])));
		if (enabled === undefined) return;
		value = enabled;
	}
	const read = key.read(value);
	if (read !== undefined) reading.values.set(addressOf(path), read);
	else reading.report(() => ({ path, text: `${dotted(path)} is ${show(value)}, expected ${wanted(key)}` }));
}

function readGroup(reading: Reading, group: Group, value: object, path: Path): void {
	for (const [written, child] of Object.entries(value)) {
		const isRead = path.length === 0 ? written === "$schema" : isOfProviders([...path, written], child);
		if (isRead) continue;
		// Of two names for one thing ours counts.
		const name = Object.hasOwn(value, nameHere(written)) ? written : nameHere(written);
		const place = [...path, name];
		const node = Object.hasOwn(group.keys, name) ? group.keys[name] : undefined;
		if (node) readNode(reading, node, child, place);
		else if (isForeign(place.slice(reading.scopePath.length))) reading.foreign.push(dotted(place));
		else if (name === nameHere(name)) reading.report(() => unknownKey(reading, place));
	}
}

function readTable(reading: Reading, table: Table, value: object, path: Path): void {
	for (const [name, child] of Object.entries(value)) {
		const scopePath = [...path, name];
		readNode({ ...reading, scope: table.each, scopePath }, table.each, child, scopePath);
	}
}

function unknownKey({ scope, scopePath }: Reading, path: Path): Problem {
	const inScope = path.slice(scopePath.length);
	const candidates = [
		...candidatesIn(scope, scopePath, inScope),
		...(scopePath.length > 0 ? candidatesIn(settingsGroup, [], inScope) : []),
	];
	const closest = nearest(inScope, candidates);
	return { text: `${dotted(path)} is not a known key and is ignored; the nearest known key is ${closest}` };
}

/** The keys, groups and tables of a scope that a path in it could mean; the many texts of `prompts` only there. */
function candidatesIn(scope: Group, scopePath: Path, [first]: Path): Candidate[] {
	const isText = first === "prompts";
	const keys = listKeys(scope).filter(({ path }) => path.length === 1 || (path[0] === "prompts") === isText);
	const paths = [...keys.map((placed) => placed.path), ...Object.keys(scope.keys).map((name) => [name])];
	return paths.map((path) => ({
		path,
		get shown() {
			return dotted([...scopePath, ...path]);
		},
	}));
}

/** What a provider and a model make of the layers: environment, then the deepest place, then the stronger file. */
export function resolveFor(layers: Layers, provider?: string, model?: string): KeyValues {
	const resolved = {};
	for (const placed of allKeys) assign(resolved, placed.path, effectiveValue(layers, placed, provider, model));
	// Every key of the schema is in it, each with a value its own schema accepts: that is what KeyValues says.
	return resolved as KeyValues;
}

function assign(target: Record<string, unknown>, [name = "", ...rest]: Path, value: unknown): void {
	if (rest.length === 0) {
		target[name] = value;
		return;
	}
	const inner = isObject(target[name]) ? target[name] : {};
	target[name] = inner;
	assign(inner, rest, value);
}

function effectiveValue(layers: Layers, { path, key }: PlacedKey, provider?: string, model?: string): unknown {
	const general = addressOf(path);
	const fromEnvironment = layers.environment.values.get(general);
	if (fromEnvironment !== undefined) return fromEnvironment;
	const addresses = [general];
	if (provider !== undefined) addresses.unshift(addressOf(["providers", provider, ...path]));
	if (provider !== undefined && model !== undefined) {
		addresses.unshift(addressOf(["providers", provider, "models", model, ...path]));
	}
	for (const address of addresses) {
		for (const layer of layers.files) {
			const value = layer.values.get(address);
			if (value !== undefined) return value;
		}
	}
	return key.default;
}

/** The problems of all layers as sentences; a wrong value names the one that is used instead, if any is. */
export function describeProblems(layers: Layers): string[] {
	return [layers.environment, ...layers.files].flatMap(({ source, problems }) =>
		problems.map(({ text, path }) => `${source}: ${text}${path ? `; ${usedInstead(valueAt(layers, path))}` : ""}`),
	);
}

function usedInstead(value: unknown): string {
	return value === undefined ? "it is ignored" : `${show(value)} is used instead`;
}

function valueAt(layers: Layers, path: Path): unknown {
	const [first, provider, second, model] = path;
	const inProvider = first === "providers";
	const inModel = inProvider && second === "models";
	const general = addressOf(inModel ? path.slice(4) : inProvider ? path.slice(2) : path);
	const placed = allKeys.find((each) => addressOf(each.path) === general);
	return placed && effectiveValue(layers, placed, inProvider ? provider : undefined, inModel ? model : undefined);
}

/** Names may hold any character, so that a joined path could mean two places. */
export function addressOf(path: Path): string {
	return JSON.stringify(path);
}

function wanted(key: Key<unknown>): string {
	return key.range === "" ? key.form : `${key.form}, ${key.range}`;
}

function notAnObject(value: unknown, path: Path): string {
	return `${path.length === 0 ? "the file" : dotted(path)} is ${show(value)}, expected an object; it is ignored`;
}

function dotted(path: Path): string {
	return path.map((name) => (/^[\w$-]{1,80}$/.test(name) ? name : quote(name))).join(".");
}

/** One line at most, one level deep: a file can nest deeper than the stack is high. */
function show(value: unknown): string {
	if (!Array.isArray(value)) return showOne(value);
	return `[${value.slice(0, 8).map(showOne).join(", ")}${value.length > 8 ? ", …" : ""}]`;
}

function showOne(value: unknown): string {
	if (typeof value === "string") return quote(value);
	if (Array.isArray(value)) return "[…]";
	return typeof value === "object" && value !== null ? "{…}" : String(value);
}

function quote(text: string): string {
	return JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text);
}
