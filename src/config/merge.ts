import type { Group, Key, Node, Table } from "./key.ts";
import { type Candidate, nearest } from "./nearest.ts";
import { translateReference } from "./reference.ts";
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

/** Reads the document of a settings file, one of billion-context-pi as well; whatever is in it, it yields a layer. */
export function readDocument(source: string, written: unknown): Layer {
	const { document, unknown } = translateReference(written, (name) => Object.hasOwn(settingsGroup.keys, name));
	const values = new Map<string, unknown>();
	const problems: Problem[] = [];
	let omitted = 0;
	const report = (describe: () => Problem) => {
		if (problems.length < maxProblems) problems.push(describe());
		else omitted++;
	};
	readNode({ values, report, scope: settingsGroup, scopePath: [] }, settingsGroup, document, []);
	if (omitted > 0) problems.push({ text: `${omitted} more faults are not listed` });
	if (unknown.length > 0) problems.push({ text: `${listed(unknown)}: known to billion-context-pi only, and ignored` });
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
	/** The group whose keys a name is compared with, and where it stands. */
	readonly scope: Group;
	readonly scopePath: Path;
}

function readNode(reading: Reading, node: Node, value: unknown, path: Path): void {
	if (node.kind === "key") readKey(reading, node, value, path);
	else if (!isObject(value)) reading.report(() => ({ text: notAnObject(value, path) }));
	else if (node.kind === "group") readGroup(reading, node, value, path);
	else readTable(reading, node, value, path);
}

function readKey(reading: Reading, key: Key<unknown>, value: unknown, path: Path): void {
	const read = key.read(value);
	if (read !== undefined) reading.values.set(addressOf(path), read);
	else reading.report(() => ({ path, text: `${dotted(path)} is ${show(value)}, expected ${wanted(key)}` }));
}

function readGroup(reading: Reading, group: Group, value: object, path: Path): void {
	for (const [name, child] of Object.entries(value)) {
		if (path.length === 0 && name === "$schema") continue;
		const node = Object.hasOwn(group.keys, name) ? group.keys[name] : undefined;
		if (node) readNode(reading, node, child, [...path, name]);
		else reading.report(() => unknownKey(reading, [...path, name]));
	}
}

function readTable(reading: Reading, table: Table, value: object, path: Path): void {
	for (const [name, child] of Object.entries(value)) {
		const scopePath = [...path, name];
		readNode({ ...reading, scope: table.each, scopePath }, table.each, child, scopePath);
	}
}

function unknownKey({ scope, scopePath }: Reading, path: Path): Problem {
	const known = [...candidates(scope, scopePath), ...(scopePath.length > 0 ? candidates(settingsGroup, []) : [])];
	const closest = nearest(path.slice(scopePath.length), known);
	return { text: `${dotted(path)} is not a known key and is ignored; the nearest known key is ${closest}` };
}

/** The keys, groups and tables of a scope. */
function candidates(scope: Group, scopePath: Path): Candidate[] {
	const paths = [...listKeys(scope).map((placed) => placed.path), ...Object.keys(scope.keys).map((name) => [name])];
	return paths.map((path) => ({ path, shown: dotted([...scopePath, ...path]) }));
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

/** The problems of all layers as sentences; a wrong value names the one that is used instead. */
export function describeProblems(layers: Layers): string[] {
	return [layers.environment, ...layers.files].flatMap(({ source, problems }) =>
		problems.map(
			({ text, path }) => `${source}: ${text}${path ? `; ${show(valueAt(layers, path))} is used instead` : ""}`,
		),
	);
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
function addressOf(path: Path): string {
	return JSON.stringify(path);
}

function isObject(value: unknown): value is Record<string, unknown> {
	return typeof value === "object" && value !== null && !Array.isArray(value);
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

function listed(paths: readonly string[]): string {
	const shown = paths.slice(0, 30).map((path) => dotted(path.split(".")));
	return shown.join(", ") + (paths.length > shown.length ? ", …" : "");
}

function quote(text: string): string {
	return JSON.stringify(text.length > 80 ? `${text.slice(0, 79)}…` : text);
}
