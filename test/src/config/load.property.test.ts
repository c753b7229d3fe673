import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, expect, test } from "vitest";
import { wordKeys } from "../../../kernel/index.ts";
import { createConfig } from "../../../src/config/load.ts";
import type { Config } from "../../../src/config/schema.ts";

let folder = "";
beforeAll(() => {
	folder = mkdtempSync(join(tmpdir(), "acp-config-"));
	mkdirSync(join(folder, "home", ".pi"), { recursive: true });
	mkdirSync(join(folder, "project", ".pi"), { recursive: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Content = string | Uint8Array;

function load(globalContent: Content, projectContent: Content, environment: Record<string, string> = {}) {
	const home = join(folder, "home");
	const cwd = join(folder, "project");
	writeFileSync(join(home, ".pi", "acp.json"), globalContent);
	writeFileSync(join(cwd, ".pi", "acp.json"), projectContent);
	return createConfig({ home, cwd, configDirName: ".pi", projectTrusted: () => true, environment });
}

/** A value as somebody writes it, and what it means. */
interface Setting {
	readonly written: unknown;
	readonly meant: unknown;
}

const same = (value: unknown): Setting => ({ written: value, meant: value });
const flag = fc.boolean().map(same);
const names = fc.array(fc.string({ minLength: 1 }), { maxLength: 4 }).map(same);
const tokens = (maximumThousands: number) =>
	fc.oneof(
		fc.integer({ min: 1, max: maximumThousands * 1_000 }).map(same),
		fc.integer({ min: 1, max: maximumThousands }).map((n) => ({ written: `${n}K`, meant: n * 1_000 })),
	);
const share = fc
	.integer({ min: 10, max: 90 })
	.chain((percent) => fc.constantFrom<Setting>(same(percent / 100), { written: `${percent}%`, meant: percent / 100 }));

const tunable = {
	modelContextLimit: tokens(10_000),
	outputHeadroomMaxPct: share,
	"compress.keepTokens": tokens(1_000),
	"compress.stepTokens": tokens(1_000),
	pace: fc.constantFrom("thrifty", "balanced", "relaxed").map(same),
	"compress.maxContextLimit": fc.oneof(
		share,
		tokens(1_000).filter(({ meant }) => Number(meant) >= 1_000),
	),
	"compress.emergencyThresholdPercent": share,
	protectedTools: names,
	preserveRecentMessages: fc.integer({ min: 0, max: 1_000 }).map(same),
	preserveRecentTokens: tokens(1_000),
	neverPreserveRecentTools: names,
	toolBashDefaultTimeout: fc.integer({ min: 0, max: 86_400 }).map(same),
	toolOutputMaxBytes: fc.integer({ min: 0, max: 1e8 }).map(same),
	repetitionGuard: flag,
	throttleRetry: flag,
	degenerationGuard: flag,
	"filters.supersededReads": flag,
	"filters.bulkyEdits": flag,
	strategy: fc.constantFrom("hybrid", "model", "rules").map(same),
	strictAlternation: fc.constantFrom("auto", "always", "never").map(same),
	promptPack: fc.constantFrom("default", "lean").map(same),
	"rules.recentTurnsFull": fc.integer({ min: 1, max: 1_000 }).map(same),
	"rules.slackTurns": fc.integer({ min: 0, max: 1_000 }).map(same),
	"rules.maxTurns": fc.integer({ min: 1, max: 1_000 }).map(same),
};

/** Settings by dotted name, as one place of a file sets them. */
type Settings = Readonly<Record<string, Setting | undefined>>;
const someTunable: fc.Arbitrary<Settings> = fc.record(tunable, { requiredKeys: [] });
const someSettings: fc.Arbitrary<Settings> = fc.record(
	{ enabled: flag, debug: flag, "ui.statusLine": flag, updateNotice: flag, ...tunable },
	{ requiredKeys: [] },
);
const file = fc.record({ general: someSettings, provider: someTunable, model: someTunable });

function nested(settings: Settings): Record<string, unknown> {
	const document: Record<string, unknown> = {};
	const groups: Record<string, Record<string, unknown>> = {};
	for (const [name, setting] of Object.entries(settings)) {
		const [group = "", key] = name.split(".");
		if (key === undefined) document[name] = setting?.written;
		else groups[group] = { ...groups[group], [key]: setting?.written };
	}
	return { ...document, ...groups };
}

function documentOf({ general, provider, model }: { general: Settings; provider: Settings; model: Settings }) {
	return { ...nested(general), providers: { acme: { ...nested(provider), models: { big: nested(model) } } } };
}

function valueIn(config: Config, name: string): unknown {
	return name
		.split(".")
		.reduce<unknown>((value, part) => Object.entries(value ?? {}).find(([key]) => key === part)?.[1], config);
}

function isWithin(value: unknown, minimum: number, maximum: number): boolean {
	return typeof value === "number" && value >= minimum && value <= maximum;
}

function isNames(value: unknown): boolean {
	return Array.isArray(value) && value.every((name) => typeof name === "string" && name !== "");
}

/** What the rest of the program relies on, written without the schema. */
function expectValid(config: Config): void {
	const { compress } = config;
	const { toolBashDefaultTimeout, toolOutputMaxBytes } = config;
	const switches = [config.enabled, config.debug, config.ui.statusLine, config.updateNotice];
	const flags = [
		...switches,
		...Object.values(config.filters),
		config.repetitionGuard,
		config.degenerationGuard,
		config.throttleRetry,
	];
	expect(flags.every((value) => typeof value === "boolean")).toBe(true);
	expect(Number.isInteger(toolBashDefaultTimeout) && isWithin(toolBashDefaultTimeout, 0, 86_400)).toBe(true);
	expect(Number.isInteger(toolOutputMaxBytes) && isWithin(toolOutputMaxBytes, 0, 1e8)).toBe(true);
	expect(isNames(config.protectedTools) && isNames(config.neverPreserveRecentTools)).toBe(true);
	expect(Number.isInteger(config.preserveRecentMessages) && isWithin(config.preserveRecentMessages, 0, 1_000)).toBe(
		true,
	);
	expect(Number.isInteger(config.preserveRecentTokens) && isWithin(config.preserveRecentTokens, 0, 1e6)).toBe(true);
	expect(Number.isInteger(config.modelContextLimit) && isWithin(config.modelContextLimit, 0, 1e8)).toBe(true);
	expect(isWithin(config.outputHeadroomMaxPct, 0, 0.9)).toBe(true);
	expect(Number.isInteger(compress.keepTokens) && isWithin(compress.keepTokens, 0, 1e7)).toBe(true);
	expect(Number.isInteger(compress.stepTokens) && isWithin(compress.stepTokens, 1, 1e7)).toBe(true);
	expect(isWithin(compress.emergencyThresholdPercent, 0.1, 1)).toBe(true);
	const { maxContextLimit } = compress;
	expect(isWithin(maxContextLimit, 0.1, 1) || isWithin(maxContextLimit, 1_000, 1e8)).toBe(true);
	expect(config.logPath.startsWith("/")).toBe(true);
	expect(["hybrid", "model", "rules"]).toContain(config.strategy);
	expect(["auto", "always", "never"]).toContain(config.strictAlternation);
	expect(["thrifty", "balanced", "relaxed"]).toContain(config.pace);
	expect(Object.keys(config.words).sort()).toEqual([...wordKeys].sort());
	expect(Object.values(config.words).every((text) => typeof text === "string")).toBe(true);
	expect(Object.values(config.rules).every((turns) => Number.isInteger(turns))).toBe(true);
	const groups = new Set(Object.keys(tunable).map((name) => name.split(".")[0] ?? ""));
	expect(Object.keys(config).sort()).toEqual(
		["enabled", "debug", "logPath", "ui", "updateNotice", "words", ...groups].sort(),
	);
}

test("whatever two good files say, the deepest place and then the stronger file counts, and nobody is warned", () => {
	fc.assert(
		fc.property(file, file, (project, global) => {
			const config = load(JSON.stringify(documentOf(global)), JSON.stringify(documentOf(project)));
			const places = [project.model, global.model, project.provider, global.provider, project.general, global.general];
			for (const [provider, model, reached] of [
				[undefined, undefined, places.slice(4)],
				["acme", "other", places.slice(2)],
				["acme", "big", places],
			] as const) {
				const resolved = config.current(provider, model);
				const names = new Set(reached.flatMap((place) => Object.keys(place)));
				for (const name of names) {
					const setting = reached.find((place) => place[name] !== undefined)?.[name];
					expect(valueIn(resolved, name)).toEqual(setting?.meant);
				}
				expectValid(resolved);
			}
			expect(config.takeWarnings()).toEqual([]);
		}),
		{ numRuns: 200 },
	);
});

const knownNames = [
	"$schema",
	"enabled",
	"debug",
	"log",
	"path",
	"compress",
	"keepTokens",
	"providers",
	"models",
	"acme",
	"big",
	// Names of billion-context-pi
	...["nudgeGrowthTokens", "async", "autoUpdate", "delegate"],
	...["prompts", "section", "nudge.opening"],
];
const odd = fc.oneof(
	fc.jsonValue(),
	fc.constantFrom<unknown>(-1, 0, 1e308, 0.5, "75%", "200%", "20K", "-5K", "", "true", null, [], {}, [""], [[]]),
);
const { hostile } = fc.letrec<{ hostile: unknown }>((tie) => ({
	hostile: fc.oneof(
		{ maxDepth: 6 },
		odd,
		fc.dictionary(
			fc.oneof(fc.constantFrom(...knownNames, ...Object.keys(tunable), "__proto__", "constructor"), fc.string()),
			tie("hostile"),
		),
	),
}));
const good = file.map((settings) => JSON.stringify(documentOf(settings), undefined, "\t"));
const content: fc.Arbitrary<Content> = fc.oneof(
	good,
	hostile.map((value) => JSON.stringify(value)),
	fc.tuple(good, fc.nat()).map(([text, seed]) => text.slice(0, seed % text.length)),
	fc.tuple(good, fc.nat(), fc.string()).map(([text, seed, junk]) => {
		const at = seed % text.length;
		return text.slice(0, at) + junk + text.slice(at + 1);
	}),
	fc.string({ unit: "binary" }),
	fc.uint8Array(),
);
const environment = fc.dictionary(
	fc.constantFrom("ACP_ENABLED", "ACP_DEBUG", "ACP_LOG_FILE", "ACP_MODEL_CONTEXT_LIMIT"),
	fc.oneof(fc.string(), fc.constantFrom("1", "off", "200K", "-1", "~/x.log", "~")),
);

test("whatever is in the files and the environment, the settings are valid and the warnings readable", () => {
	fc.assert(
		fc.property(content, content, environment, (global, project, variables) => {
			const config = load(global, project, variables);
			for (const [provider, model] of [[], ["acme"], ["acme", "big"], ["__proto__", "constructor"], [""]]) {
				expectValid(config.current(provider, model));
			}
			const warnings = config.takeWarnings();
			expect(warnings.length).toBeLessThanOrEqual(50);
			for (const warning of warnings) expect(warning).toMatch(/^(environment|promptPack|\/.*acp\.json): [^\n\r]+$/);
			expect(config.takeWarnings()).toEqual([]);
		}),
		{ numRuns: 1_000 },
	);
});

/** A fault planted into a file that is right apart from it, and the one warning it has to raise. */
interface Fault {
	readonly plant: (document: Record<string, unknown>) => string;
	readonly warning: RegExp;
}

const wrongValues: readonly [key: keyof typeof tunable, value: unknown, shown: string, expected: string][] = [
	["modelContextLimit", "lots", '"lots"', "tokens: "],
	["outputHeadroomMaxPct", 95, "95", "share: "],
	["preserveRecentMessages", -1, "-1", "whole number, 0 to 1,000"],
	["toolOutputMaxBytes", "1", '"1"', "whole number"],
	["throttleRetry", "yes", '"yes"', "`true` or `false`"],
	["protectedTools", ["read", ""], '\\["read", ""\\]', "list of names"],
	["promptPack", "../lean", '"../lean"', "name of a file, without folder and ending"],
	["strategy", "fold", '"fold"', 'one of `"hybrid"`'],
];
const wrongValue = fc.constantFrom(...wrongValues).map(
	([key, value, shown, expected]): Fault => ({
		plant: (document) => JSON.stringify({ ...document, [key]: value }),
		warning: new RegExp(`: ${key} is ${shown}, expected ${expected}.*; .+ is used instead$`),
	}),
);
const unknownKey = fc.constantFrom("enabld", "modelContextLimits", "protectTools", "toolOutputMaxByte").map(
	(name): Fault => ({
		plant: (document) => JSON.stringify({ ...document, [name]: true }),
		warning: new RegExp(`: ${name} is not a known key and is ignored; the nearest known key is ${name.slice(0, 5)}`),
	}),
);
const foreignKey = fc.constantFrom("autoUpdate", "priceProfile", "hostSession").map(
	(name): Fault => ({
		plant: (document) => JSON.stringify({ ...document, [name]: {} }),
		warning: new RegExp(`: ${name}: known to billion-context-pi only, and ignored$`),
	}),
);
const truncation = fc.integer({ min: 1, max: 20 }).map(
	(fromEnd): Fault => ({
		plant: (document) =>
			JSON.stringify({ ...document, debug: true, log: { path: "/some/where/in/a/folder" } }).slice(0, -fromEnd),
		warning: /: line 1, column \d+: .+; the file is ignored$/,
	}),
);

test("a fault in a file raises one warning that says what is wrong and what counts instead", () => {
	fc.assert(
		fc.property(file, fc.oneof(wrongValue, unknownKey, foreignKey, truncation), (good, { plant, warning }) => {
			const config = load(plant(documentOf(good)), "{}");
			expectValid(config.current("acme", "big"));
			expect(config.takeWarnings()).toEqual([expect.stringMatching(warning)]);
		}),
		{ numRuns: 300 },
	);
});
