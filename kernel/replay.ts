import { readCompressArguments } from "./arguments.ts";
import { planFold } from "./compress.ts";
import { argumentOf, textOf } from "./message.ts";
import { uncalibrated } from "./meter/calibration.ts";
import type { Operation } from "./operation.ts";
import { standingView } from "./pipeline/index.ts";
import { planUnfold } from "./restore.ts";
import { defaultSettings } from "./settings.ts";
import type { Branch, BranchRecord, Replay } from "./timeline.ts";
import { foldedLine, unfoldedLine } from "./wording.ts";

/**
 * The operation of a call whose result lost its `details`: our first line proves that it is ours, its arguments say what
 * it did, and the built-in defaults stand in for the settings of that time.
 */
export const replayCall: Replay = (before, result) => {
	const { message, call } = result;
	if (message === undefined || call === undefined) return undefined;
	const [line] = textOf(message).split("\n", 1);
	if (message.toolName === "compress" && line === foldedLine) return replayFold(before, result.unit, call.arguments);
	if (message.toolName === "decompress" && line === unfoldedLine) return replayUnfold(before, argumentOf(call, "id"));
	return undefined;
};

function replayFold(before: Branch, call: BranchRecord, args: unknown): Operation | undefined {
	const request = readCompressArguments(args);
	if ("problem" in request) return undefined;
	const view = standingView(before, defaultsContext);
	return planFold(before, view, defaultSettings, request.ranges, call).operation;
}

function replayUnfold(before: Branch, id: unknown): Operation | undefined {
	if (typeof id !== "string") return undefined;
	const plan = planUnfold(before, standingView(before, defaultsContext), id);
	return "code" in plan ? undefined : plan.operation;
}

const defaultsContext = {
	settings: defaultSettings,
	window: { limitTokens: 0, usableTokens: 0, source: "default" as const },
	calibration: uncalibrated,
	takesImages: true,
	isAlternating: false,
	isActive: true,
};
