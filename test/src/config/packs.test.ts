import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { builtInPacks, wordsOf } from "../../../kernel/index.ts";
import { type ConfigOptions, createConfig, type LiveConfig } from "../../../src/config/load.ts";

let folder = "";
let home = "";
let cwd = "";
beforeEach(() => {
	folder = mkdtempSync(join(tmpdir(), "acp-packs-"));
	home = join(folder, "home");
	cwd = join(folder, "project");
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function open(options: Partial<ConfigOptions> = {}): LiveConfig {
	return createConfig({ home, cwd, configDirName: ".pi", projectTrusted: () => true, environment: {}, ...options });
}

/** Writes a file with a time of its own, as if time had passed since the last one. */
let writtenAt = 1_700_000_000;
function write(path: string, content: unknown): string {
	mkdirSync(dirname(path), { recursive: true });
	writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
	utimesSync(path, ++writtenAt, writtenAt);
	return path;
}

const settings = (content: unknown) => write(join(home, ".pi", "acp.json"), content);
const projectSettings = (content: unknown) => write(join(cwd, ".pi", "acp.json"), content);
const globalPack = (name: string, content: unknown) =>
	write(join(home, ".pi", "acp", "packs", `${name}.json`), content);
const projectPack = (name: string, content: unknown) =>
	write(join(cwd, ".pi", "acp", "packs", `${name}.json`), content);

describe("a pack", () => {
	test("is looked up in the project, then in the home directory, then among the built-in ones", () => {
		settings({ promptPack: "lean" });
		const config = open();
		expect(config.current().words).toEqual(wordsOf(builtInPacks.lean));
		const path = globalPack("lean", { section: "global" });
		expect(config.current().words).toEqual(wordsOf({ section: "global" }));
		const nearer = projectPack("lean", { section: "project" });
		expect(config.current().words.section).toBe("project");
		rmSync(nearer);
		expect(config.current().words.section).toBe("global");
		rmSync(path);
		expect(config.current().words).toEqual(wordsOf(builtInPacks.lean));
		expect(config.takeWarnings()).toEqual([]);
	});

	test("of the name default replaces the built-in one without any setting", () => {
		globalPack("default", { section: "mine" });
		expect(open().current().words.section).toBe("mine");
	});

	test("that is empty says all as the built-in default does", () => {
		settings({ promptPack: "lean" });
		globalPack("lean", "// nothing");
		expect(open().current().words).toEqual(wordsOf());
	});

	test("may have comments, trailing commas, a schema and null", () => {
		settings({ promptPack: "mine" });
		globalPack("mine", '{ "$schema": "x", // own\n "section": null, "nudge.closing": "End.", }');
		const config = open();
		expect(config.current().words).toEqual(wordsOf({ section: "", "nudge.closing": "End." }));
		expect(config.takeWarnings()).toEqual([]);
	});

	test("of a project is read only where the project is trusted, and from the folder that Pi names", () => {
		settings({ promptPack: "mine" });
		projectPack("mine", { section: "project" });
		let isTrusted = false;
		const config = open({ projectTrusted: () => isTrusted });
		expect(config.current().words).toEqual(wordsOf());
		isTrusted = true;
		expect(config.current().words.section).toBe("project");
		write(join(cwd, ".other", "acp", "packs", "mine.json"), { section: "other" });
		expect(open({ configDirName: ".other" }).current().words.section).toBe("other");
	});

	test("is chosen for a provider and a model, the deepest place first, and by the environment above all", () => {
		globalPack("big", { section: "big" });
		globalPack("acme", { section: "acme" });
		settings({
			promptPack: "lean",
			providers: { acme: { promptPack: "acme", models: { big: { promptPack: "big" } } } },
		});
		const config = open();
		const sections = (of: LiveConfig) =>
			[of.current(), of.current("acme", "small"), of.current("acme", "big")].map(({ words }) => words.section);
		expect(sections(config)).toEqual([builtInPacks.lean.section, "acme", "big"]);
		expect(sections(open({ environment: { ACP_PROMPT_PACK: "acme" } }))).toEqual(["acme", "acme", "acme"]);
	});

	test("is read again when its file changes, and only then another object", () => {
		settings({ promptPack: "mine" });
		globalPack("mine", { section: "one" });
		const config = open();
		const before = config.current();
		expect(config.current()).toBe(before);
		globalPack("mine", { section: "two" });
		expect(config.current().words.section).toBe("two");
		expect(before.words.section).toBe("one");
	});
});

describe("prompts", () => {
	test("come before the pack key by key, also those of a wider place", () => {
		globalPack("big", { section: "pack", "nudge.opening": "pack", "nudge.closing": "pack" });
		settings({
			prompts: { section: "global", "nudge.closing": null },
			providers: { acme: { models: { big: { promptPack: "big", prompts: { "tools.compress": "deep" } } } } },
		});
		projectSettings({ prompts: { section: "project" } });
		const { words } = open().current("acme", "big");
		expect(words).toEqual(
			wordsOf({ section: "project", "nudge.opening": "pack", "nudge.closing": "", "tools.compress": "deep" }),
		);
	});

	test("are set by the deepest place, and what is not set there keeps its text from further out", () => {
		settings({
			prompts: { section: "all", "nudge.opening": "all" },
			providers: { acme: { prompts: { section: "acme" }, models: { big: { prompts: { section: null } } } } },
		});
		const config = open();
		const said = (provider: string, model: string) => {
			const { section, "nudge.opening": opening } = config.current(provider, model).words;
			return [section, opening];
		};
		expect([said("other", "big"), said("acme", "small"), said("acme", "big")]).toEqual([
			["all", "all"],
			["acme", "all"],
			["", "all"],
		]);
	});

	test("with an unknown key or a wrong type say so, and the others hold", () => {
		const path = settings({ prompts: { sectoin: "x", section: 5, "nudge.openning": "y", "nudge.closing": "End." } });
		const config = open();
		expect(config.current().words).toEqual(wordsOf({ "nudge.closing": "End." }));
		expect(config.takeWarnings()).toEqual([
			`${path}: prompts.sectoin is not a known key and is ignored; the nearest known key is prompts.section`,
			`${path}: prompts.section is 5, expected text or \`null\`; it is ignored`,
			`${path}: prompts."nudge.openning" is not a known key and is ignored; the nearest known key is prompts."nudge.opening"`,
		]);
	});
});

describe("a pack that cannot be used", () => {
	test("says once where it is broken, and the next one in line counts", () => {
		settings({ promptPack: "lean" });
		const path = projectPack("lean", '{\n "section": "x"\n "nudge.opening": "y" }');
		const config = open();
		expect(config.current().words).toEqual(wordsOf(builtInPacks.lean));
		const warning = `${path}: line 3, column 2: unexpected "\\""; the file is ignored`;
		expect(config.takeWarnings()).toEqual([warning]);
		config.current("acme", "big");
		expect(config.takeWarnings()).toEqual([]);
		expect(config.report().warnings).toEqual([warning]);
		projectPack("lean", { section: "repaired" });
		expect(config.current().words.section).toBe("repaired");
		expect(config.report().warnings).toEqual([]);
	});

	test("because it is nowhere is named once, with the places searched", () => {
		settings({ promptPack: "lost" });
		const config = open();
		expect(config.current().words).toEqual(wordsOf());
		const places = [cwd, home].map((place) => join(place, ".pi", "acp", "packs", "lost.json"));
		expect(config.takeWarnings()).toEqual([`promptPack: there is no ${places.join(", no ")}; it is ignored`]);
		config.current("acme");
		expect(config.takeWarnings()).toEqual([]);
	});

	test("for some of its keys says which, and the others hold", () => {
		settings({ promptPack: "mine" });
		const path = globalPack("mine", { sections: "x", section: ["y"], "nudge.closing": "End." });
		const config = open();
		expect(config.current().words).toEqual(wordsOf({ "nudge.closing": "End." }));
		expect(config.takeWarnings()).toEqual([
			`${path}: sections is not a known key and is ignored; the nearest known key is section`,
			`${path}: section is ["y"], expected text or \`null\`; it is ignored`,
		]);
	});

	test.each(["../mine", "a/mine", "a\\mine", ".mine", "", "C:mine", "mi\u0000ne", "mi\nne", "m".repeat(101), 5, null])(
		"because of its name, %j, is a wrong value",
		(name) => {
			globalPack("default", { section: "the default one" });
			settings({ promptPack: name });
			const config = open();
			expect(config.current().words.section).toBe("the default one");
			expect(config.takeWarnings()).toEqual([
				expect.stringMatching(/: promptPack is .*, expected name of a file, .*; "default" is used instead$/),
			]);
		},
	);

	test("since it is a folder, says so", () => {
		settings({ promptPack: "mine" });
		const path = join(home, ".pi", "acp", "packs", "mine.json");
		mkdirSync(path, { recursive: true });
		const config = open();
		expect(config.current().words).toEqual(wordsOf());
		expect(config.takeWarnings()).toEqual([`${path}: it is a directory; the file is ignored`]);
	});
});
