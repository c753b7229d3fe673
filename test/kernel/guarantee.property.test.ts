import fc from "fast-check";
import { expect, test } from "vitest";
import { type Branch, type BranchRecord, findOriginals, planFit, readingOf, toolCalls } from "../../kernel/index.ts";
import { isHidden } from "../../kernel/state.ts";
import { foreignItem, type Item, itemTokens } from "../../kernel/view.ts";
import { holds } from "../support/arbitraries.ts";
import {
	type HardRequest,
	type HardScript,
	HardSession,
	type HardStep,
	hardKinds,
	windows,
} from "../support/hard-session.ts";

const seed = 20_261_107;
/** Texts of 200K tokens take long. */
const runs = 40;

/** What a block at its shortest takes before and after the last user message. */
const blocksTokens = 500;

const steps = fc.record({
	kind: fc.constantFrom(...hardKinds),
	form: fc.nat(255),
	size: fc.nat(255),
	isAsked: fc.boolean(),
}) satisfies fc.Arbitrary<HardStep>;

const scripts: fc.Arbitrary<HardScript> = fc.record({
	steps: fc.array(steps, { minLength: 4, maxLength: 30, size: "max" }),
	strategy: fc.constantFrom("hybrid", "rules"),
	windowTokens: fc.constantFrom(...windows),
	perToken: fc.constantFrom(undefined, 0.8, 1, 1.4, 2.5),
});

test("Every request fits by the meter with its error if the system prompt and the last user message do, and nothing is lost.", () => {
	const kinds = new Map<string, number>();
	holds(
		seed,
		fc.property(scripts, (script) => {
			const session = new HardSession(script);
			for (const step of script.steps) {
				if (step.isAsked) judge(session, session.request(), kinds);
				session.play(step);
			}
			judge(session, session.request(), kinds);
		}),
		runs,
	);
	for (const kind of ["fits", "operation", "tooLarge"]) expect(kinds.get(kind)).toBeGreaterThan(0);
});

function judge(session: HardSession, request: HardRequest, kinds: Map<string, number>): void {
	kinds.set(request.found, (kinds.get(request.found) ?? 0) + 1);
	expectFits(request);
	expectWhole(session, request);
	expectBack(request);
}

function expectFits({ view, context, limitTokens }: HardRequest): void {
	const { calibration } = context;
	const isKept = (item: Item) => item.message.role === "system" || item === lastUser(view.items);
	const kept = view.items.filter(isKept).reduce((sum, item) => sum + itemTokens(item), 0);
	const messages = view.items.filter(isKept).length + 2;
	const isEnough = (sizeTokens: number) => {
		const reading = readingOf(calibration, { sizeTokens, messages });
		return reading.sizeTokens + reading.errorTokens <= limitTokens;
	};
	// More tokens may mean a smaller error: nearer to what the provider reported.
	if (![0, 0.2, 0.4, 0.6, 0.8, 1].every((share) => isEnough(kept + blocksTokens * share))) return;
	expect(planFit(view, context, limitTokens)).toEqual({ kind: "fits" });
	const items =
		view.nudge === undefined
			? view.items
			: [...view.items, foreignItem({ role: "user", content: view.nudge.text, timestamp: 0 })];
	const whole = { sizeTokens: items.reduce((sum, item) => sum + itemTokens(item), 0), messages: items.length };
	const reading = readingOf(calibration, whole);
	expect(reading.sizeTokens + reading.errorTokens).toBeLessThanOrEqual(limitTokens);
}

function lastUser(items: readonly Item[]): Item | undefined {
	return items.findLast((item) => item.kind === "entry" && item.message.role === "user");
}

/** Pairs are whole, blocks and the last user message as they were made. */
function expectWhole(session: HardSession, request: HardRequest): void {
	const { branch } = request.context;
	const messages = session.messages(request);
	for (const [index, item] of request.view.items.entries()) {
		const message = messages[index] ?? expect.unreachable();
		if (item.kind === "block") expect(message).toMatchObject({ role: "custom", content: item.block.text });
		if (item.kind !== "entry") continue;
		if (item === lastUser(request.view.items)) {
			const tag = `<acp>m${String(item.record.ordinal).padStart(5, "0")}</acp>`;
			expect(message.content).toBe(`${item.record.message?.content}\n${tag}`);
		}
		if (message.role === "toolResult")
			expect(request.view.items.some((each) => each.kind === "entry" && each.record === item.record.unit)).toBe(true);
		const results = branch.unit(item.record.unit).length - 1;
		if (message.role !== "assistant" || toolCalls(message).length === 0) continue;
		const after = messages.slice(index + 1, index + 1 + results);
		expect(after.map(({ toolCallId }) => toolCallId)).toEqual(
			toolCalls(message)
				.slice(0, results)
				.map(({ id }) => id),
		);
	}
}

/** Every message is in view, folded or hidden, and its ref and that of each block around it give back what was written. */
function expectBack({ view, context: { branch } }: HardRequest): void {
	for (const block of branch.state.blocks.values()) {
		expect(recordsOf(branch, `b${block.number}`)).toEqual(
			block.spans.flatMap(({ from, to }) => branch.messages(from, to)),
		);
	}
	const seen = new Set<BranchRecord>();
	for (const item of view.items) {
		if (item.kind === "entry") seen.add(item.record);
		if (item.kind === "block") for (const record of recordsOf(branch, `b${item.block.number}`)) seen.add(record);
	}
	for (const record of branch.messages(1, branch.lastOrdinal)) {
		if (record.message === undefined) continue;
		const [found] = recordsOf(branch, `m${record.ordinal}`);
		expect(found?.message === record.message && found === record).toBe(true);
		expect(seen.has(record) || isHidden(branch.state, record.unit)).toBe(true);
	}
}

function recordsOf(branch: Branch, ref: string): readonly BranchRecord[] {
	const originals = findOriginals(branch, ref);
	return "code" in originals ? [] : originals.records;
}
