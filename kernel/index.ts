/** The public surface of the kernel; the only kernel file that src/ imports. */

export { anchorDetails, isAnchorDetails, planAnchor } from "./anchor.ts";
export type { Archive, ForeignBranch } from "./archive.ts";
export { type RangeRequest, readCompressArguments } from "./arguments.ts";
export type { Block, Span } from "./block.ts";
export { type FoldPlan, planFold } from "./compress.ts";
export type { Sidecar } from "./contract.ts";
export type { Decision, Reason } from "./decision.ts";
export { planCollapse } from "./degenerate.ts";
export { hasEcho, withoutEchoes, withoutLastEcho } from "./echo.ts";
export type { Entry } from "./entry.ts";
export { type Fit, planFit } from "./guarantee.ts";
export { planHandover } from "./handover.ts";
export { canonicalJson } from "./json.ts";
export { type Message, type Part, type ToolCallPart, textOf, toolCalls, type Usage } from "./message.ts";
export { readingOf, uncalibrated } from "./meter/calibration.ts";
export { Meter, type ModelTraits } from "./meter/meter.ts";
export { failureOf } from "./meter/overflow.ts";
export type { Window } from "./meter/window.ts";
export { isObject, type Marked, mark, type Operation, operationEntryType } from "./operation.ts";
export { fullWindowTokens, type PaceName, paces } from "./pace.ts";
export { advise, project, standingView } from "./pipeline/index.ts";
export { formatTokens, type Problem, problemText, whatIsWrong } from "./problem.ts";
export { builtInPacks, type Prompts, type WordKey, type Words, wordKeys, wordsOf } from "./prompts.ts";
export { blockRef } from "./ref.ts";
export { askedInRow, refusedBefore } from "./repeats.ts";
export { replayCall } from "./replay.ts";
export { fileText, findOriginals, type Originals, type Page, pageOf, planUnfold } from "./restore.ts";
export { planRules, planWhole } from "./rules.ts";
export { search } from "./search/index.ts";
export { outgoingItems } from "./sent.ts";
export { defaultSettings, type Settings } from "./settings.ts";
export { encodeSidecar, producerName } from "./sidecar.ts";
export { blockAt, type State } from "./state.ts";
export { type Status, type StatusView, statusOf, statusText } from "./status.ts";
export { foreignCalls, planTakeover, readForeignSidecar, type Takeover } from "./takeover.ts";
export { type Branch, type BranchRecord, Timeline } from "./timeline.ts";
export { type Planned, planPin, planRedo, planUndo } from "./undo.ts";
export { meteredRanges, type Range } from "./unit.ts";
export {
	blockMessageType,
	type Context,
	estimateOf,
	type Nudge,
	toMessages,
	type View,
	viewReading,
	viewTokens,
} from "./view.ts";
export * from "./wording.ts";
