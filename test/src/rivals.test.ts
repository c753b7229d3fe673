import { afterEach, expect, test } from "vitest";
import { createRivals } from "../../src/rivals.ts";
import { closeAcp, openAcp } from "../support/acp.ts";

afterEach(closeAcp);

/** The managers among packages, extensions and tools, as Pi would list them. */
async function among(settings: object, tools: Parameters<ReturnType<typeof createRivals>["among"]>[0] = []) {
	let names: readonly string[] = [];
	await openAcp({
		extensions: [
			(pi) => {
				pi.on("session_start", () => {
					names = createRivals(Object.create(pi, { getSettings: { value: () => settings } })).among(tools);
				});
			},
		],
	});
	return names;
}

test.each([
	["npm:pi-vcc", "pi-vcc"],
	["npm:billion-context-pi@0.1.65", "billion-context-pi"],
	["npm:@cortexkit/magic-context-pi@0.41.0", "magic-context-pi"],
	["git:git@github.com:x/pi-context-prune.git@main", "pi-context-prune"],
	["https://github.com/x/lossless-claw", "lossless-claw"],
	["../work/pi-observational-memory", "pi-observational-memory"],
	["C:\\extensions\\better-compact", "better-compact"],
])("the package %s is known as %s", async (source, name) => {
	expect(await among({ packages: [source, { source }] })).toEqual([name]);
});

test.each([
	"npm:pi-subagents",
	"npm:pi-billion-context",
	"npm:pi-vcc-theme",
	"/home/pi-lcm/my-tool.ts",
	"npm:context-mode",
	"",
])("the package %s is none", async (source) => {
	expect(await among({ packages: [source], extensions: [source] })).toEqual([]);
});

test("a tool gives its package away by where it comes from, or by its name", async () => {
	const tools = [
		{ name: "recall", sourceInfo: { source: "npm:pi-observational-memory", path: "/x/index.ts" } },
		{
			name: "more",
			sourceInfo: { source: "auto", path: "/home/u/.pi/agent/npm/node_modules/@a/pi-dcp/dist/index.js" },
		},
		{ name: "vcc_recall" },
		{ name: "read", sourceInfo: { source: "builtin", path: "<builtin:read>" } },
	];
	expect(await among({}, tools)).toEqual([
		"pi-observational-memory",
		"pi-dcp",
		"the extension with the tool vcc_recall",
	]);
});
