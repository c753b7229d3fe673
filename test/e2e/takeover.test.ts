import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "vitest";
import { BUNDLE_PATH } from "../support/run-pi.ts";
import { call, closeScenarios, fold, openScenario, read, type Scenario, withoutNudges } from "../support/scenario.ts";
import { blocksIn, expectGrowth, expectWholePairs, outline, textOf } from "../support/wire.ts";

afterEach(closeScenarios);

/** Another project's tool, which only answers; it numbers messages as we do where each has one call at most. */
const foreignTool = `export default function (pi) {
	pi.registerTool({
		name: "compress",
		label: "Foreign",
		description: "Another project's own tool.",
		parameters: { type: "object", properties: { content: { type: "array" } } },
		execute: async () => ({ content: [{ type: "text", text: "Compressed 1 range." }], details: {} }),
	});
}
`;

/** A session that Pi had without us: m2 and m3, m4 and m5, m6 and m7 read a file each, m8 is the answer. */
async function withoutUs(): Promise<Scenario> {
	const scene = await openScenario({ acp: withoutNudges });
	for (const name of ["a", "b", "c"]) scene.file(`${name}.txt`, `a line of ${name}\n`.repeat(600));
	scene.replies(read("a.txt"), { toolCalls: twoReads }, read("c.txt"), { text: "read" });
	await scene.run("Read the files", { extensions: [] });
	return scene;
}

const twoReads = ["b.txt", "a.txt"].map((path) => ({ name: "read", arguments: { path } }));

function sidecarOf(scene: Scenario): string {
	return `${scene.sessionFile()}.acp.json`;
}

/** Writes the sidecar of the reference project, as it knows the session: two blocks here, two that are not. */
function writeForeignSidecar(scene: Scenario): string {
	const ids = scene.entries().flatMap((entry) => (entry.type === "message" ? [entry] : []));
	const read = (nth: number) => {
		const assistant = ids.filter(({ message }) => message.role === "assistant")[nth];
		const calls = assistant?.message.role === "assistant" ? assistant.message.content : [];
		const own = calls.flatMap((part) => (part.type === "toolCall" ? `${assistant?.id}#${part.id}` : []));
		const wanted = calls.flatMap((part) => (part.type === "toolCall" ? part.id : []));
		const results = ids.flatMap(({ id, message }) =>
			message.role === "toolResult" && wanted.includes(message.toolCallId) ? id : [],
		);
		return [...own, ...results];
	};
	const block = (blockId: string, topic: string, effectiveMessageIds: string[], over: object = {}) => ({
		blockId,
		topic,
		summary: `What was in ${topic}.`,
		tier: 1,
		compressedTokens: 3000,
		createdAt: 1_790_000_000_000,
		effectiveMessageIds,
		active: true,
		...over,
	});
	const text = JSON.stringify({
		schemaVersion: 1,
		producer: { name: "billion-context-pi", version: "0.1.60" },
		blocks: [
			block("b2", "a", read(0)),
			block("b4", "b and a", read(1)),
			block("b5", "lost", ["0badcafe", "0badcaff#call_7"]),
			block("b1", "spent", read(0), { active: false }),
		],
		messageRefs: { byRaw: {}, byRef: {} },
	});
	writeFileSync(sidecarOf(scene), text);
	return text;
}

function operationEntries(scene: Scenario) {
	return scene.entries().filter((entry) => entry.type === "custom" && entry.customType === "acp-operation");
}

describe("a session with folds of the reference project", () => {
	it("shows them from the first request on, once and for all", async () => {
		const scene = await withoutUs();
		const foreign = writeForeignSidecar(scene);
		const first = await scene.run("Go on", { args: ["-c"] });
		expect(outline(first.made[0])).toEqual([
			...["system", "user m00001", "b1", "b2", "assistant", "tool m00008", "assistant", "user m00010"],
		]);
		expect(textOf(first.made[0]?.body.messages[2])).toMatch(
			/^<acp-block id="b1" tier="1" covers="m00002-m00003" .*\nWhat was in a\.\n/,
		);
		expect(textOf(first.made[0]?.body.messages[3])).toMatch(/ covers="m00004-m00006" .*\nWhat was in b and a\.\n/);
		expect(first.stderr.trim().split("\n")).toEqual([
			"pi-billion-context: took over the folds b2, b4 of another context extension; /acp undo takes that back; " +
				"b5 could not be located in this log and stay unfolded.",
		]);
		expect(operationEntries(scene)).toMatchObject([{ data: { acp: 1, op: { kind: "fold", blocks: [{}, {}] } } }]);
		expect(readFileSync(`${sidecarOf(scene)}.bak`, "utf8")).toBe(foreign);
		expect(JSON.parse(readFileSync(sidecarOf(scene), "utf8")).producer.name).toBe("pi-billion-context");

		const second = await scene.run("And on", { args: ["-c"] });
		rmSync(`${sidecarOf(scene)}.bak`);
		rmSync(sidecarOf(scene));
		const third = await scene.run("And on again", { args: ["-c"] });
		expect([second.stderr, third.stderr]).toEqual(["", ""]);
		expectGrowth([...first.made, ...second.made, ...third.made]);
		expect(operationEntries(scene)).toHaveLength(1);
	});

	it("gives them up with one undo, and does not take them over again", async () => {
		const scene = await withoutUs();
		writeForeignSidecar(scene);
		const first = scene.rpc({ args: ["-c"] });
		await first.prompt("Go on");
		await first.prompt("/acp undo");
		await first.prompt("And on");
		const notices = first.uiRequests.filter((each) => each.method === "notify").map((each) => each.message);
		expect(notices).toEqual([
			expect.stringMatching(/took over the folds b2, b4 .* b5 could not be located/),
			"Taken back: b1 (m00002-m00003), b2 (m00004-m00006) no longer folded.",
		]);
		await first.close();
		writeForeignSidecar(scene);
		const { made, stderr } = await scene.run("And on again", { args: ["-c"] });
		expect(stderr).toBe("");
		expect(scene.requests.slice(-3).map((request) => blocksIn(request))).toEqual([["b1", "b2"], [], []]);
		expectGrowth([scene.requests.at(-2), ...made].flatMap((request) => request ?? []));
	});

	it.each([
		["no sidecar", undefined],
		["a sidecar without blocks", JSON.stringify({ schemaVersion: 1, producer: { name: "x" }, blocks: [] })],
	])("has them from its calls in the log, if there is %s", async (_what, sidecar) => {
		const scene = await withoutUs();
		const foreign = scene.extension("foreign.js", foreignTool);
		scene.replies(fold(["m00002", "m00003"]), call("compress", { content: "nonsense" }), { text: "folded" });
		await scene.run("Fold a", { args: ["-c"], extensions: [foreign] });
		if (sidecar !== undefined) writeFileSync(sidecarOf(scene), sidecar);
		const first = await scene.run("Go on", { args: ["-c"] });
		expect(outline(first.made[0]).slice(0, 5)).toEqual(["system", "user m00001", "b1", "assistant", "tool m00005"]);
		expect(textOf(first.made[0]?.body.messages[2])).toContain("\nWhat m00002 to m00003 said. ");
		expect(first.stderr).toMatch(
			/^pi-billion-context: took over the folds b1 of another context extension; [^;]*\.\n$/,
		);
		const second = await scene.run("And on", { args: ["-c"] });
		expect(second.stderr).toBe("");
		expectGrowth([...first.made, ...second.made]);
		for (const request of scene.requests) expectWholePairs(request);
		expect(operationEntries(scene)).toHaveLength(1);
		expect(existsSync(`${sidecarOf(scene)}.bak`)).toBe(sidecar !== undefined);
	});

	it("is left alone by a copy of us that stands down beside the other project, and taken over later", async () => {
		const scene = await withoutUs();
		const foreign = scene.extension("foreign.js", foreignTool);
		const text = writeForeignSidecar(scene);
		const beside = await scene.run("Go on", { args: ["-c"], extensions: [foreign, BUNDLE_PATH] });
		expect(blocksIn(beside.made[0])).toEqual([]);
		expect(readFileSync(sidecarOf(scene), "utf8")).toBe(text);
		expect(operationEntries(scene)).toEqual([]);
		const alone = await scene.run("And on", { args: ["-c"] });
		expect(blocksIn(alone.made[0])).toEqual(["b1", "b2"]);
	});
});
