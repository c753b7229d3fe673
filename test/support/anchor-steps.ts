import { planAnchor, planFit, planHandover, planRules, type Settings, viewTokens } from "../../kernel/index.ts";
import { choose } from "./choose.ts";
import { contextOf, type Log, narrowWindow, wideWindow } from "./log.ts";
import { sentByHost, sentThroughAnchors } from "./request.ts";

/** The numbers that choose what a step is like. */
interface Step {
	readonly form: number;
	readonly picks: readonly [number, ...unknown[]];
}

/** An anchor as the adapter plans it, or one that keeps any message in view, or none. */
export function playAnchor(log: Log, { form, picks: [a] }: Step, settings: Settings): void {
	const planned = planAnchor(log.branch(), log.view(settings));
	if (form % 4 !== 0 && planned !== undefined) {
		writeAnchor(log, planned.summary, planned.firstKeptId, form);
		return;
	}
	const seen = sentThroughAnchors({ log, leafId: log.leafId }).flatMap(({ id, message }) =>
		message.role === "system" ? [] : (id ?? []),
	);
	const firstKeptId = form % 3 === 0 || seen.length === 0 ? null : choose(seen, a);
	writeAnchor(log, `anchor ${form}`, firstKeptId, form);
}

/** Writes an anchor as the host does: with its system message so far if it has one, now and then with no moment of its own. */
function writeAnchor(log: Log, summary: string, firstKeptId: string | null, form: number): void {
	const { leafId } = log;
	const hasSystem = form % 7 !== 3 && sentByHost({ log, leafId }).some(({ message }) => message.role === "system");
	const id = log.anchor(summary, firstKeptId, hasSystem ? "rules so far" : undefined);
	const timestamp = log.entries.get(id)?.timestampMs ?? 0;
	if (form % 5 === 0) log.message({ role: "custom", content: `beside anchor ${form}`, timestamp });
}

/** A handover, as the adapter writes one. */
export function playHandover(log: Log, { form }: Step, settings: Settings): void {
	const handover = planHandover(log.view(settings), contextOf(log.branch(), { settings, window: narrowWindow }));
	if (handover !== undefined) writeAnchor(log, handover.summary, handover.firstKeptId, form);
}

/** What strategy `rules` folds, with so few turns in full that it happens. */
export function playRules(log: Log, { form }: Step, settings: Settings): void {
	const rules = { recentTurnsFull: 1 + (form % 2), slackTurns: form % 3, maxTurns: 1 + (form % 5) };
	const under = { ...settings, strategy: "rules" as const, rules };
	const operation = planRules(log.view(settings), contextOf(log.branch(), { settings: under }));
	if (operation !== undefined) log.operation(operation);
}

/** What it takes to fit some share of the view, or less than the last message. */
export function playFit(log: Log, { form, picks: [a] }: Step, settings: Settings): void {
	const view = log.view(settings);
	const window = form % 2 === 0 ? narrowWindow : wideWindow;
	const limitTokens = viewTokens(view) * choose([0, 0.1, 0.3, 0.6, 0.9, 1.2], a);
	const found = planFit(view, contextOf(log.branch(), { settings, window }), limitTokens, form % 3 !== 0);
	if (found.kind !== "fits" && found.operation !== undefined) log.operation(found.operation);
}
