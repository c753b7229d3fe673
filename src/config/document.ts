import { type TObject, type TSchema, Type } from "typebox";
import { descriptions } from "./descriptions.ts";
import type { Group, Node } from "./key.ts";
import { allKeys, type PlacedKey, settingsGroup, tunableKeys } from "./schema.ts";

/** The text of CONFIGURATION.md. */
export function configurationDocument(): string {
	return `# Configuration

pi-billion-context works without any configuration. What is worth tuning is set in \`~/.pi/acp.json\`, and for one project in
\`.pi/acp.json\` there, which is read only if Pi trusts the project. Both files are JSON; comments and trailing commas are
allowed. A change takes effect at the next request. What is wrong in a file is reported once and never stops a session: an
unknown key is ignored, a wrong value is replaced by the next one in line, and a file that is not JSON is ignored as a whole.

## Keys

| Key | Value | Default | Range | Meaning |
| --- | --- | --- | --- | --- |
${allKeys
	.filter((placed) => !isPrompt(placed))
	.map(keyRow)
	.join("\n")}

Each key is looked up by itself: environment, then the project's file, then \`~/.pi/acp.json\`, then the default.

## Providers and models

All keys but ${generalKeys()} can be set for a provider, as \`providers.<provider>.<key>\`, and for one of its models,
as \`providers.<provider>.models.<model>.<key>\`. The deepest place that sets a key wins, whichever file it is in; a key that is
not set there keeps its value from further out. The environment beats them all.

## Words

What the model reads can be replaced by key: in \`prompts\` a text takes the place of ours, \`null\` or an empty text removes it.
A pack is a JSON file of such keys, \`<name>.json\`; \`promptPack\` names it without the ending. It is looked up in \`.pi/acp/packs\` of
the project, if Pi trusts that, then in \`~/.pi/acp/packs\`, then among the built-in ones: \`default\`, and \`lean\` for small windows,
which takes at most 350 tokens together with the tools. Their texts are in docs/protocol.md. What a pack does not say is said
as in \`default\`, and \`prompts\` comes before any pack. A pack that is missing or no JSON is reported once and ignored.

| Key | What stands there |
| --- | --- |
${allKeys.filter(isPrompt).map(promptRow).join("\n")}

In the file the part after \`prompts.\` is one name: \`"prompts": { "nudge.closing": null }\`. Results, refusals, refs and the figures of a
nudge cannot be replaced; of a text of a nudge the first 1,000 characters count. Another section or other descriptions, also those of a model that was switched to, hold from the
next prompt on; a provider's cache of the prompt is lost once by that.

## Environment

| Variable | Key |
| --- | --- |
${allKeys
	.filter(({ key }) => key.environment !== "")
	.map(environmentRow)
	.join("\n")}

A variable that is set but empty counts as not set.

## Example

\`\`\`jsonc
${configurationExample}
\`\`\`

\`"$schema"\` is optional; with it an editor completes and checks the keys. The schema comes with the package, as
\`schema/acp.schema.json\`.
`;
}

/** The text of schema/acp.schema.json, for editors. */
export function configurationSchema(): string {
	return `${JSON.stringify(settingsSchema, undefined, "\t")}\n`;
}

/** The typebox schema of the whole file, which is also the JSON schema for editors. */
export const settingsSchema: TObject = Type.Object(
	{
		$schema: Type.Optional(Type.String({ description: "Address of this schema, for completion in editors." })),
		...properties(settingsGroup),
	},
	{
		$schema: "http://json-schema.org/draft-07/schema#",
		title: "Settings of pi-billion-context",
		additionalProperties: false,
	},
);

function schemaOf(node: Node, path: readonly string[]): TSchema {
	if (node.kind === "key") return { ...node.schema, description: describe(path), default: node.default };
	if (node.kind === "group") return Type.Object(properties(node, path), { additionalProperties: false });
	const isModels = path.at(-1) === "models";
	const description = isModels
		? "Overrides by model; a key that is not set here keeps the value of its provider."
		: "Overrides by provider; a key that is not set here keeps its value from above.";
	return Type.Record(Type.String(), schemaOf(node.each, []), { description });
}

function properties(of: Group, path: readonly string[] = []): Record<string, TSchema> {
	return Object.fromEntries(
		Object.entries(of.keys).map(([name, node]) => [name, Type.Optional(schemaOf(node, [...path, name]))]),
	);
}

/** The description of a key; the path begins at the top, or below a provider or a model. */
function describe(path: readonly string[]): string {
	const found = path.reduce<unknown>(
		(tree, name) => Object.entries(tree ?? {}).find(([key]) => key === name)?.[1],
		descriptions,
	);
	return String(found);
}

const configurationExample = `{
	"$schema": "./acp.schema.json",
	// Calls of these tools and their results always stay as they are.
	"protectedTools": ["todo*"],
	"compress": { "keepTokens": "20K" },
	"providers": {
		"anthropic": {
			"outputHeadroomMaxPct": "20%",
			"models": {
				"claude-sonnet-4-5": { "modelContextLimit": "200K" },
			},
		},
	},
}`;

function keyRow({ path, key }: PlacedKey): string {
	const cells = [code(path.join(".")), key.form, code(JSON.stringify(key.default)), key.range || "–", describe(path)];
	return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
}

function isPrompt({ path }: PlacedKey): boolean {
	return path[0] === "prompts";
}

function promptRow({ path }: PlacedKey): string {
	return `| ${code(path.join("."))} | ${describe(path)} |`;
}

function environmentRow({ path, key }: PlacedKey): string {
	return `| ${code(key.environment)} | ${code(path.join("."))} |`;
}

/** The keys that no provider can override, in words. */
function generalKeys(): string {
	const tunable = new Set(tunableKeys.map(({ key }) => key));
	const names = allKeys.filter(({ key }) => !tunable.has(key)).map(({ path }) => code(path.join(".")));
	return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

function code(text: string): string {
	return `\`${text}\``;
}
