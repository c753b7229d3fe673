import { describe, expect, test } from "vitest";
import { defaultSettings } from "../../../kernel/index.ts";
import { describeProblems, type Layers, readDocument, readEnvironment, resolveFor } from "../../../src/config/merge.ts";

interface Sources {
	readonly environment?: Record<string, string | undefined>;
	readonly project?: unknown;
	readonly global?: unknown;
}

function layers({ environment = {}, project = {}, global = {} }: Sources): Layers {
	return {
		environment: readEnvironment(environment),
		files: [readDocument("project", project), readDocument("global", global)],
	};
}

describe("the value of a key", () => {
	test("is the default when nothing sets it", () => {
		const { words: _, ...settings } = defaultSettings;
		expect(resolveFor(layers({}))).toEqual({
			...settings,
			prompts: {},
			promptPack: "default",
			pace: "balanced",
			compress: { ...defaultSettings.compress, keepTokens: "pace", stepTokens: "pace", maxContextLimit: 1 },
			toolBashDefaultTimeout: 60,
			toolOutputMaxBytes: 50_000,
			repetitionGuard: true,
			throttleRetry: true,
			degenerationGuard: true,
			updateNotice: false,
			debug: false,
			log: { path: "~/.pi/acp.log" },
			ui: { statusLine: true },
		});
	});

	test("comes from the environment before the project before the global file, each field by itself", () => {
		const sources = layers({
			environment: { ACP_MODEL_CONTEXT_LIMIT: "64K" },
			project: { modelContextLimit: 2_000, compress: { keepTokens: "2K" } },
			global: { modelContextLimit: 3_000, compress: { keepTokens: "3K", stepTokens: "3K" }, debug: true },
		});
		expect(resolveFor(sources)).toMatchObject({
			modelContextLimit: 64_000,
			compress: { ...defaultSettings.compress, keepTokens: 2_000, stepTokens: 3_000 },
			debug: true,
		});
	});

	test("comes from the deepest place that sets it, whichever file that is in", () => {
		const sources = layers({
			project: {
				preserveRecentMessages: 1,
				providers: { acme: { preserveRecentMessages: 2, models: { "big.one": { compress: { keepTokens: 100 } } } } },
			},
			global: {
				preserveRecentMessages: 3,
				preserveRecentTokens: 3,
				providers: { acme: { models: { "big.one": { preserveRecentMessages: 4, compress: { stepTokens: 400 } } } } },
			},
		});
		const recent = (provider?: string, model?: string) => resolveFor(sources, provider, model).preserveRecentMessages;
		expect(recent()).toBe(1);
		expect(recent("other", "big.one")).toBe(1);
		expect(recent("acme")).toBe(2);
		expect(recent("acme", "small")).toBe(2);
		expect(recent("acme", "big.one")).toBe(4);
		expect(recent(undefined, "big.one")).toBe(1);
		expect(resolveFor(sources, "acme", "big.one")).toMatchObject({
			preserveRecentTokens: 3,
			compress: { ...defaultSettings.compress, keepTokens: 100, stepTokens: 400 },
		});
	});

	test("from the environment beats the override for a model", () => {
		const sources = layers({
			environment: { ACP_MODEL_CONTEXT_LIMIT: "64000" },
			global: { providers: { acme: { models: { big: { modelContextLimit: "1M" } } } } },
		});
		expect(resolveFor(sources, "acme", "big").modelContextLimit).toBe(64_000);
	});

	test("may be empty, zero or false", () => {
		const sources = layers({
			project: { neverPreserveRecentTools: [], preserveRecentMessages: 0, enabled: false },
			global: { neverPreserveRecentTools: ["read"], preserveRecentMessages: 9, enabled: true },
		});
		expect(resolveFor(sources)).toMatchObject({
			neverPreserveRecentTools: [],
			preserveRecentMessages: 0,
			enabled: false,
		});
	});

	test("is found for names that objects or joined paths would confuse", () => {
		const sources = layers({
			global: JSON.parse(
				'{"providers": {"__proto__": {"preserveRecentMessages": 1}, "a.models.b": {"preserveRecentMessages": 2}, "constructor": {}}}',
			),
		});
		expect(resolveFor(sources, "__proto__").preserveRecentMessages).toBe(1);
		expect(resolveFor(sources, "a.models.b").preserveRecentMessages).toBe(2);
		expect(resolveFor(sources, "a", "b").preserveRecentMessages).toBe(5);
		expect(resolveFor(sources, "constructor").preserveRecentMessages).toBe(5);
		expect(describeProblems(sources)).toEqual([]);
	});
});

describe("each variable of the environment", () => {
	test("sets its key", () => {
		const environment = {
			ACP_ENABLED: "0",
			ACP_DEBUG: "yes",
			ACP_LOG_FILE: "/tmp/x.log",
			ACP_MODEL_CONTEXT_LIMIT: "200K",
		};
		expect(resolveFor(layers({ environment }))).toMatchObject({
			enabled: false,
			debug: true,
			log: { path: "/tmp/x.log" },
			modelContextLimit: 200_000,
		});
	});

	test("counts as not set when it is empty", () => {
		const sources = layers({ environment: { ACP_ENABLED: "", ACP_DEBUG: "  " }, global: { debug: true } });
		expect(resolveFor(sources)).toMatchObject({ enabled: true, debug: true });
		expect(describeProblems(sources)).toEqual([]);
	});
});

describe("a problem", () => {
	test("of a value says what was found, what is wanted and what is used instead", () => {
		const sources = layers({
			environment: { ACP_DEBUG: "loud" },
			project: { preserveRecentMessages: -1, protectedTools: ["todo", 5, {}, []], outputHeadroomMaxPct: 75 },
			global: { preserveRecentMessages: 7, enabled: "false", debug: true },
		});
		expect(describeProblems(sources)).toEqual([
			'environment: ACP_DEBUG is "loud", expected `true` or `false`; true is used instead',
			"project: preserveRecentMessages is -1, expected whole number, 0 to 1,000; 7 is used instead",
			'project: protectedTools is ["todo", 5, {…}, […]], expected list of names; [] is used instead',
			'project: outputHeadroomMaxPct is 75, expected share: `0.75` or `"75%"`, 0% to 90%; 0.25 is used instead',
			'global: enabled is "false", expected `true` or `false`; true is used instead',
		]);
		const { compress: _, words: _words, ...settings } = defaultSettings;
		expect(resolveFor(sources)).toMatchObject({ ...settings, preserveRecentMessages: 7, debug: true });
	});

	test("of an override falls back to the next place outwards", () => {
		const sources = layers({
			project: {
				preserveRecentTokens: "1K",
				providers: {
					acme: {
						compress: { keepTokens: null },
						preserveRecentTokens: "2K",
						models: { big: { preserveRecentTokens: "lots", compress: { stepTokens: 0 } } },
					},
				},
			},
		});
		expect(describeProblems(sources)).toEqual([
			'project: providers.acme.compress.keepTokens is null, expected tokens: `20000` or `"20K"`, or `"pace"`, 0 to 10,000,000; "pace" is used instead',
			'project: providers.acme.models.big.preserveRecentTokens is "lots", expected tokens: `20000` or `"20K"`, 0 to 1,000,000; 2000 is used instead',
			'project: providers.acme.models.big.compress.stepTokens is 0, expected tokens: `20000` or `"20K"`, or `"pace"`, 1 to 10,000,000; "pace" is used instead',
		]);
	});

	test("of a name suggests the nearest known one", () => {
		const sources = layers({
			global: {
				$schema: "./acp.schema.json",
				protectedTool: [],
				compress: { keepToken: 1, $schema: "" },
				compres: {},
				provider: {},
				providers: { acme: { enabled: false, model: {}, models: { big: { keepTokens: 1, "odd\nname": 1 } } } },
			},
		});
		const unknown = (key: string, known: string) =>
			`global: ${key} is not a known key and is ignored; the nearest known key is ${known}`;
		expect(describeProblems(sources)).toEqual([
			unknown("protectedTool", "protectedTools"),
			unknown("compress.keepToken", "compress.keepTokens"),
			expect.stringContaining("global: compress.$schema is not a known key"),
			unknown("compres", "compress"),
			unknown("provider", "providers"),
			unknown("providers.acme.enabled", "enabled"),
			unknown("providers.acme.model", "providers.acme.models"),
			unknown("providers.acme.models.big.keepTokens", "providers.acme.models.big.compress.keepTokens"),
			expect.stringContaining('global: providers.acme.models.big."odd\\nname" is not a known key'),
		]);
	});

	test.each([
		["a list", [1], "global: the file is [1], expected an object; it is ignored"],
		["a group", { compress: 5 }, "global: compress is 5, expected an object; it is ignored"],
		["a table", { providers: [] }, "global: providers is [], expected an object; it is ignored"],
		["a provider", { providers: { a: null } }, "global: providers.a is null, expected an object; it is ignored"],
	])("of %s in place of an object is one sentence", (_name, global, sentence) => {
		const sources = layers({ global });
		expect(describeProblems(sources)).toEqual([sentence]);
		expect(resolveFor(sources, "a")).toEqual(resolveFor(layers({})));
	});

	test("is short, whatever the value", () => {
		const sources = layers({ global: { enabled: "x".repeat(10_000), debug: Array(100).fill("y".repeat(10_000)) } });
		for (const sentence of describeProblems(sources)) expect(sentence.length).toBeLessThan(900);
	});

	test("is listed twenty times at most, then counted", () => {
		const global = Object.fromEntries(Array.from({ length: 5_000 }, (_, index) => [`key${index}`, index]));
		const sentences = describeProblems(layers({ global }));
		expect(sentences).toHaveLength(21);
		expect(sentences.at(-1)).toBe("global: 4980 more faults are not listed");
	});
});
