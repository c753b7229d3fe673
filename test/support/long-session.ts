import { anchorDetails, type Entry, planAnchor } from "../../kernel/index.ts";
import { Log, said, words } from "./log.ts";

const stepsBetweenFolds = 200;

/** The file of a session that folds what is unfolded now and then, anchored by the rule of the adapter or not at all. */
export function longSession(messages: number, isAnchored: boolean) {
	const log = new Log();
	log.user("Begin.");
	let folded = 1;
	let anchors = 0;
	while (log.branch().lastOrdinal < messages) {
		for (let step = 0; step < stepsBetweenFolds; step++)
			log.step("read", { path: `src/file${step}.ts` }, words(200, `s${step}`));
		log.user("Go on.");
		const last = log.branch().lastOrdinal;
		log.compress([{ startId: `m${folded}`, endId: `m${last - 1}`, summary: said(words(200, "sum")) }]);
		folded = last;
		const anchor = isAnchored ? planAnchor(log.branch(), log.view()) : undefined;
		if (anchor === undefined || anchor.replacedTokens < 8 * anchor.sizeTokens) continue;
		log.anchor(anchor.summary, anchor.firstKeptId);
		anchors += 1;
	}
	const header = { type: "session", version: 3, id: "bench", timestamp: new Date(0).toISOString(), cwd: "/tmp" };
	const lines = [...log.entries.values()].map(lineOf);
	return { text: `${[header, ...lines].map((line) => JSON.stringify(line)).join("\n")}\n`, anchors };
}

function lineOf(entry: Entry): object {
	const { id, parentId, timestampMs } = entry;
	const base = { id, parentId, timestamp: new Date(timestampMs).toISOString() };
	if (entry.kind === "anchor") {
		const { content } = entry.shownAs;
		const firstKeptEntryId = entry.firstKeptId ?? id;
		return { ...base, type: "compaction", summary: content, firstKeptEntryId, tokensBefore: 1, details: anchorDetails };
	}
	return { ...base, type: "message", message: entry.kind === "message" ? entry.message : undefined };
}
