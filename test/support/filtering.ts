import type { Message, Operation, Settings } from "../../kernel/index.ts";
import { bareSettings, Log, range, words } from "./log.ts";

/** A log that begins with a task, m1, and a step to be folded, m2 and m3. */
export function begun(): Log {
	const log = new Log();
	log.user("task");
	log.step("read", { path: "src/first.ts" }, words(600, "first"));
	return log;
}

/** Settings under which little is protected, with some rules of content switched. */
export function switched(filters: Partial<Settings["filters"]>): Settings {
	return { ...bareSettings, filters: { ...bareSettings.filters, ...filters } };
}

/** Folds m2 and m3, and tells what the fold reduces: `m5 unsignedThinking`. */
export function foldFirst(log: Log, filters: Partial<Settings["filters"]> = {}): readonly string[] {
	return reductionsIn(log.compress([range("m2", "m3")], switched(filters)).operation);
}

export function reductionsIn(operation: Operation | undefined): readonly string[] {
	const reductions = operation !== undefined && "reductions" in operation ? operation.reductions : [];
	return reductions.map(({ ordinal, rule }) => `m${ordinal} ${rule}`);
}

/** A message as the view shows it, its tag left out. */
export function shownMessage(log: Log, ordinal: number): Message | undefined {
	const item = log.view().items.find((item) => item.kind === "entry" && item.record.ordinal === ordinal);
	return item?.message;
}
