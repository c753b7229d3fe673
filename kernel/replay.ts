import { readCompressArguments } from "./arguments.ts";
import { planFold } from "./compress.ts";
import { argumentOf, type Message, textOf, toolCalls } from "./message.ts";
import type { Operation } from "./operation.ts";
import { standingView } from "./pipeline/index.ts";
import { planUnfold } from "./restore.ts";
import { defaultSettings } from "./settings.ts";
import type { Branch, BranchRecord, Replay } from "./timeline.ts";
import { viewTokens } from "./view.ts";
import { foldedLine, unfoldedLine } from "./wording.ts";

/**
 * The operation of a call whose result lost its `details`: our first line proves that it is ours, its arguments say what
 * it did, and the built-in defaults stand in for the settings of that time.
 */
export const replayCall: Replay = (before, result) => {
	const { message } = result;
	const call = message && findCall(result.unit, message);
	if (message === undefined || call === undefined) return undefined;
	const [line] = textOf(message).split("\n", 1);
	if (message.toolName === "compress" && line === foldedLine) return replayFold(before, result.unit, call.arguments);
	if (message.toolName === "decompress" && line === unfoldedLine) return replayUnfold(before, argumentOf(call, "id"));
	return undefined;
};

function findCall(unit: BranchRecord, result: Message) {
	return unit.message && toolCalls(unit.message).find((call) => call.id === result.toolCallId);
}

function replayFold(before: Branch, call: BranchRecord, args: unknown): Operation | undefined {
	const request = readCompressArguments(args);
	if ("problem" in request) return undefined;
	const view = standingView(before, defaultsContext);
	return planFold(before, view, defaultSettings, request.ranges, call).operation;
}

function replayUnfold(before: Branch, id: unknown): Operation | undefined {
	const plan = typeof id === "string" ? planUnfold(before, id) : undefined;
	if (plan === undefined || "code" in plan) return undefined;
	const sizeTokens = viewTokens(standingView(before, defaultsContext)) + plan.addedTokens;
	return { kind: "unfold", block: plan.block.number, sizeTokens };
}

const defaultsContext = {
	settings: defaultSettings,
	window: { limitTokens: 0, usableTokens: 0 },
	isActive: true,
};
