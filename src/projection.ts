import { isDeepStrictEqual } from "node:util";
import {
	buildSessionContext,
	buildSessionProjection,
	type CompactionEntry,
	type ExtensionContext,
	type SessionEntry,
} from "@earendil-works/pi-coding-agent";

/** What is used of Pi's session. */
export type PiSession = Pick<
	ExtensionContext["sessionManager"],
	"buildSessionProjection" | "getEntries" | "getEntry" | "getLeafId"
>;

/** Where the branch begins for what is sent from a compaction on, and entries that stand for all before. */
interface Beginning {
	readonly entry: SessionEntry;
	readonly before: readonly SessionEntry[];
}

/**
 * Lets Pi project only what is sent. For each projection Pi goes over the whole branch several times, though the newest
 * compaction on it hides all but the end; here Pi's own `buildSessionProjection` gets that end alone, led by entries with the
 * model and the thinking level of what is left out. The first answer after each compaction is compared with the one Pi gives
 * without us; the first difference or failure ends it for good and is told to `report`. A session whose method is replaced
 * already is left alone. Returns how to take it back.
 */
export function shortenProjection(session: PiSession, report: (problem: string) => void): () => void {
	const hasMethod =
		typeof session.buildSessionProjection === "function" && typeof buildSessionProjection === "function";
	if (!hasMethod || Object.hasOwn(session, "buildSessionProjection")) return () => undefined;
	const whole = session.buildSessionProjection.bind(session);
	const newest = compactions(session);
	const beginnings = new WeakMap<CompactionEntry, Beginning>();
	let isTrusted = true;

	function distrust(problem: string): void {
		isTrusted = false;
		report(`${problem}; Pi projects the session alone from now on`);
	}

	function shortened(): ReturnType<typeof whole> | undefined {
		const compaction = newest();
		if (compaction === undefined) return undefined;
		const known = beginnings.get(compaction);
		if (known !== undefined) return projectionFrom(session, known);
		const beginning = beginningOf(session, compaction);
		const expected = whole();
		if (isDeepStrictEqual(projectionFrom(session, beginning), expected)) beginnings.set(compaction, beginning);
		else distrust("the session is projected in another way than expected");
		return expected;
	}

	const short = () => {
		try {
			if (isTrusted) return shortened() ?? whole();
		} catch (error) {
			distrust(String(error));
		}
		return whole();
	};
	session.buildSessionProjection = short;
	return () => {
		// Somebody may have replaced it again, and call ours from theirs.
		if (session.buildSessionProjection === short) Reflect.deleteProperty(session, "buildSessionProjection");
	};
}

/** Finds the newest compaction of the branch; only entries behind the leaf of the last time are looked at. */
function compactions(session: PiSession): () => CompactionEntry | undefined {
	let leaf: SessionEntry | undefined;
	let found: CompactionEntry | undefined;
	return () => {
		const start = at(session, session.getLeafId());
		let entry = start;
		while (entry !== undefined && entry !== leaf && entry.type !== "compaction") entry = at(session, entry.parentId);
		if (entry !== leaf) found = entry?.type === "compaction" ? entry : undefined;
		leaf = start;
		return found;
	};
}

function beginningOf(session: PiSession, compaction: CompactionEntry): Beginning {
	let kept = at(session, compaction.parentId);
	while (kept !== undefined && kept.id !== compaction.firstKeptEntryId) kept = at(session, kept.parentId);
	const entry = kept ?? compaction;
	const { parentId } = entry;
	// Of a parent that is missing, Pi's function would take the last entry of the file.
	if (parentId === null || at(session, parentId) === undefined) return { entry, before: [] };
	const { thinkingLevel, model } = buildSessionContext(session.getEntries(), parentId);
	const base = { parentId: null, timestamp: entry.timestamp };
	const level = { ...base, type: "thinking_level_change" as const, id: parentId, thinkingLevel };
	if (model === null) return { entry, before: [level] };
	const id = `${parentId} model`;
	return {
		entry,
		before: [
			{ ...base, ...model, type: "model_change", id },
			{ ...level, parentId: id },
		],
	};
}

function projectionFrom(session: PiSession, { entry, before }: Beginning) {
	const leafId = session.getLeafId();
	const byId = new Map(before.map((each) => [each.id, each]));
	for (let each = at(session, leafId); each !== undefined; each = at(session, each.parentId)) {
		byId.set(each.id, each);
		if (each === entry) break;
	}
	return buildSessionProjection([], leafId, byId);
}

function at(session: PiSession, id: string | null): SessionEntry | undefined {
	return id === null ? undefined : session.getEntry(id);
}
