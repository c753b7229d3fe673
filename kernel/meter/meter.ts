import { filtered } from "../pipeline/filter.ts";
import { standingView } from "../pipeline/index.ts";
import { takesTag } from "../pipeline/refs.ts";
import type { Alternation, Settings } from "../settings.ts";
import type { Branch, BranchRecord } from "../timeline.ts";
import { type Context, estimateOf } from "../view.ts";
import { type Calibration, readingOf, uncalibrated } from "./calibration.ts";
import { modelKey, refusedTokens, type WindowEvidence } from "./evidence.ts";
import { type Estimate, fitTo, type Sample } from "./fit.ts";
import { messageTokens, tagTokens } from "./size.ts";
import { reportedTokens } from "./usage.ts";
import { type Window, windowOf } from "./window.ts";

/** What of the model in use bears on counting; figures are absent where it declares none. */
export interface ModelTraits {
	/** As `modelKey` names it; undefined for a model that sends each request to another one. */
	readonly key: string | undefined;
	readonly windowTokens?: number | undefined;
	readonly answerMaxTokens?: number | undefined;
	/** False for providers that have a limit of its own for the answer. */
	readonly countsAnswer: boolean;
	readonly takesImages: boolean;
	/** True if it declares that user messages may not follow each other or a tool result. */
	readonly needsAlternation: boolean;
}

/** What has to be known to measure. */
export interface Conditions {
	readonly model: ModelTraits;
	readonly settings: Settings;
	readonly isActive: boolean;
}

/** Reports and messages looked back at for a calibration. */
const sampleLimit = 16;
const lookBackLimit = 400;

/** A report this much below the estimate is that of another request. */
const leastReportShare = 0.25;

/** A report this much above the estimate, and beyond what a prompt that is not in the log may add, is no size of a request. */
const mostReportShare = 8;
const unloggedTokens = 100_000;

/** Of the usable window: a failure below is not taken for an overflow. */
const largeShare = 0.85;

/** What is taken for the window after a refusal that names none, and after failures that may have been refusals. */
const afterOverflow = 0.95;
const afterFailures = 0.9;

/**
 * Measures views: what providers reported on the branch calibrates the estimates, and failures teach the window. All of it
 * is a function of the branch; what is kept here is only what has been worked out before.
 */
export class Meter {
	#estimates = new WeakMap<BranchRecord, Estimate>();
	#learned = new WeakMap<BranchRecord, number>();
	#kept = "";

	/** The context of a branch: settings, calibration and window. */
	context(branch: Branch, conditions: Conditions): Context {
		const { model, settings, isActive } = conditions;
		const kept = `${isActive} ${model.takesImages}`;
		if (kept !== this.#kept) this.#forget(kept);
		const key = model.key ?? lastKey(branch);
		const measure = this.#measure(branch, conditions);
		return {
			branch,
			settings,
			isActive,
			takesImages: model.takesImages,
			isAlternating: isAlternating(settings.strictAlternation, model),
			window: this.#window(branch, conditions, key),
			calibration: calibrate(branch, key, measure),
		};
	}

	/** Estimates depend on tags and images. */
	#forget(kept: string): void {
		this.#kept = kept;
		this.#estimates = new WeakMap();
		this.#learned = new WeakMap();
	}

	#window(branch: Branch, conditions: Conditions, key: string | undefined): Window {
		const { model, settings } = conditions;
		const facts = {
			overrideTokens: settings.modelContextLimit,
			declaredTokens: model.windowTokens,
			answerMaxTokens: model.answerMaxTokens,
			countsAnswer: model.countsAnswer,
			headroomMax: settings.outputHeadroomMaxPct,
		};
		const evidence = key === undefined ? undefined : branch.leaf?.evidence.get(key);
		if (evidence === undefined) return windowOf(facts);
		const known = windowOf({ ...facts, largestTokens: evidence.largestTokens });
		const learned = this.#learn(branch, conditions, key, evidence, known);
		return learned === undefined ? known : windowOf({ ...facts, learned });
	}

	/** What failures taught, unless a larger request succeeded since. */
	#learn(
		branch: Branch,
		conditions: Conditions,
		key: string | undefined,
		{ overflow, guess }: WindowEvidence,
		known: Window,
	) {
		const sizeAt = (record: BranchRecord) => this.#sizeBefore(branch, conditions, key, record);
		if (overflow !== undefined) {
			const limitTokens = overflow.limitTokens ?? Math.floor(sizeAt(overflow.record) * afterOverflow);
			if (overflow.sinceTokens <= limitTokens) return { limitTokens, source: "overflow" as const };
		}
		if (guess === undefined) return undefined;
		const sizeTokens = sizeAt(guess.record);
		const limitTokens = Math.floor(sizeTokens * afterFailures);
		const isLarge = sizeTokens >= known.usableTokens * largeShare;
		return isLarge && guess.sinceTokens <= limitTokens ? { limitTokens, source: "failures" as const } : undefined;
	}

	/** The metered size of the request that a failed answer stands for. */
	#sizeBefore(branch: Branch, conditions: Conditions, key: string | undefined, failed: BranchRecord): number {
		const found = this.#learned.get(failed);
		if (found !== undefined) return found;
		const before = branch.before(failed);
		const measure = this.#measure(before, conditions);
		const { sizeTokens } = readingOf(calibrate(before, key, measure), measure(before.leaf));
		this.#learned.set(failed, sizeTokens);
		return sizeTokens;
	}

	/** The estimate of the view at each record of a branch. */
	#measure(branch: Branch, { settings, isActive, model }: Conditions): (record: BranchRecord | undefined) => Estimate {
		return (record) => {
			if (record === undefined) return { sizeTokens: 0, messages: 0 };
			const added: BranchRecord[] = [];
			let from = record;
			let known = this.#estimates.get(from);
			while (known === undefined) {
				const previous = branch.at(from.depth - 1);
				if (previous === undefined || !isAppended(from, previous)) break;
				added.push(from);
				from = previous;
				known = this.#estimates.get(from);
			}
			known ??= this.#project(branch.upTo(from), { settings, isActive, takesImages: model.takesImages });
			this.#estimates.set(from, known);
			for (const each of added.reverse()) {
				known = grown(known, each, isActive, model.takesImages);
				this.#estimates.set(each, known);
			}
			return known;
		};
	}

	#project(branch: Branch, under: Pick<Context, "settings" | "isActive" | "takesImages">): Estimate {
		const window = { limitTokens: 0, usableTokens: 0, source: "default" as const };
		const context = { ...under, window, calibration: uncalibrated, isAlternating: false };
		return estimateOf(standingView(branch, context));
	}
}

function isAlternating(setting: Alternation, { needsAlternation }: ModelTraits): boolean {
	return setting === "auto" ? needsAlternation : setting === "always";
}

/** True if an entry adds at most its own message to the view before it. */
function isAppended({ entry, state }: BranchRecord, previous: BranchRecord): boolean {
	if (state.commit !== previous.state.commit) return false;
	return (
		entry.kind === "message" || entry.kind === "branchSummary" || entry.kind === "custom" || entry.kind === "other"
	);
}

function grown(before: Estimate, record: BranchRecord, isTagged: boolean, takesImages: boolean): Estimate {
	const { message, isSilent } = record;
	if (message === undefined || isSilent) return before;
	const hasTag = isTagged && takesTag(record, message);
	const sent = filtered(message, hasTag);
	const ownTokens = sent === message ? record.tokensFor(takesImages) : messageTokens(sent);
	return { sizeTokens: before.sizeTokens + ownTokens + (hasTag ? tagTokens : 0), messages: before.messages + 1 };
}

/** What the latest reports of a model on a branch say; those of another model where it has made none. */
function calibrate(
	branch: Branch,
	key: string | undefined,
	measure: (record: BranchRecord | undefined) => Estimate,
): Calibration {
	const samples: Sample[] = [];
	let foreign: Sample | undefined;
	const deepest = Math.max(0, branch.length - lookBackLimit);
	for (let depth = branch.length - 1; depth >= deepest && samples.length < sampleLimit; depth--) {
		const record = branch.at(depth);
		const isOwn = record?.message !== undefined && modelKey(record.message) === key;
		if (record === undefined || (!isOwn && foreign !== undefined)) continue;
		const sample = sampleOf(branch, record, measure);
		if (sample === undefined) continue;
		if (isOwn) samples.push(sample);
		else foreign = sample;
	}
	const fit = fitTo(samples);
	const [own] = samples;
	if (own !== undefined) return { fit, anchor: { ...own, isForeign: false } };
	return { fit, anchor: foreign && { ...foreign, isForeign: true } };
}

/** The report of a record beside the estimate of the view it is for; undefined if it has none that can be believed. */
function sampleOf(
	branch: Branch,
	record: BranchRecord,
	measure: (record: BranchRecord | undefined) => Estimate,
): Sample | undefined {
	const { message } = record;
	const refused = message?.stopReason === "error" ? refusedTokens(record) : undefined;
	const reported = refused ?? (message && reportedTokens(message));
	if (reported === undefined) return undefined;
	const estimate = measure(branch.at(record.depth - 1));
	if (reported < estimate.sizeTokens * (refused === undefined ? leastReportShare : 1)) return undefined;
	if (reported > estimate.sizeTokens * mostReportShare + unloggedTokens) return undefined;
	return { estimate, reportedTokens: reported };
}

function lastKey(branch: Branch): string | undefined {
	for (let depth = branch.length - 1; depth >= 0; depth--) {
		const message = branch.at(depth)?.message;
		const key = message && modelKey(message);
		if (key !== undefined) return key;
	}
	return undefined;
}
