import { readFileSync } from "node:fs";
import { Check } from "typebox/value";
import { expect, test } from "vitest";
import { configurationDocument, configurationSchema, settingsSchema } from "../src/config/document.ts";
import { parseJsonc } from "../src/config/jsonc.ts";
import { describeProblems, readDocument, readEnvironment, resolveFor } from "../src/config/merge.ts";
import { allKeys } from "../src/config/schema.ts";
import { protocolDocument } from "./support/protocol-document.ts";

const update = "differs from the schema; run: npm run docs";

function read(name: string): string {
	return readFileSync(new URL(`../${name}`, import.meta.url), "utf8");
}

test("CONFIGURATION.md is what the schema says", () => {
	expect(read("CONFIGURATION.md"), `CONFIGURATION.md ${update}`).toBe(configurationDocument());
});

test("schema/acp.schema.json is what the schema says", () => {
	expect(read("schema/acp.schema.json"), `schema/acp.schema.json ${update}`).toBe(configurationSchema());
});

test("docs/protocol.md is what the code sends", () => {
	expect(read("docs/protocol.md"), "docs/protocol.md differs; run: npm run docs").toBe(protocolDocument());
});

test("every npm script the README and docs name exists", () => {
	const { scripts } = JSON.parse(read("package.json"));
	const texts = ["README.md", "docs/ARCHITECTURE.md", "docs/protocol.md", "docs/persistence.md"].map(read);
	const named = texts.flatMap((text) =>
		[...text.matchAll(/npm (?:run )?(start|test|[a-z]+:[a-z]+|docs)\b/g)].map((match) => match[1]),
	);
	expect(named.length).toBeGreaterThan(3);
	expect(named.filter((name) => !(String(name) in scripts))).toEqual([]);
});

test("CONFIGURATION.md names every key and every variable", () => {
	const lines = read("CONFIGURATION.md").split("\n");
	for (const { path, key } of allKeys) {
		const name = path.join(".");
		expect(lines.filter((line) => line.startsWith(`| \`${name}\` |`))).toHaveLength(1);
		if (key.environment !== "") expect(lines).toContain(`| \`${key.environment}\` | \`${name}\` |`);
	}
});

test("the example in CONFIGURATION.md loads without a warning and fits the JSON schema", () => {
	const example = /```jsonc\n(.*?)```/s.exec(read("CONFIGURATION.md"))?.[1] ?? "";
	const parsed = parseJsonc(example);
	if (!parsed.ok) throw new Error(parsed.reason);
	expect(Check(settingsSchema, parsed.value)).toBe(true);
	const layers = { environment: readEnvironment({}), files: [readDocument("example", parsed.value)] };
	expect(describeProblems(layers)).toEqual([]);
	const settings = resolveFor(layers, "anthropic", "claude-sonnet-4-5");
	expect(settings).toMatchObject({ modelContextLimit: 200_000, outputHeadroomMaxPct: 0.2, protectedTools: ["todo*"] });
});
