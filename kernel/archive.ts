import type { Branch } from "./timeline.ts";

/** A branch other than the current one. */
export interface ForeignBranch {
	readonly branch: Branch;
	/** The session it belongs to; undefined for the present one. */
	readonly sessionId: string | undefined;
}

/** What lies beyond the current branch: the other branches of its file, and the sessions it was forked from. */
export interface Archive {
	/** The branch that ends at an entry, by `<entry id>` or `<session id>/<entry id>`; undefined if there is none. */
	branchAt(address: string): ForeignBranch | undefined;
	/** The branch of every leaf, those of the present file first, then the ancestors', nearest first. */
	branches(): readonly ForeignBranch[];
}

/** An archive with nothing in it. */
export const noArchive: Archive = { branchAt: () => undefined, branches: () => [] };

/** Where a foreign branch is, in words. */
export function whereabouts({ sessionId }: ForeignBranch): string {
	return sessionId === undefined ? "on another branch" : `in session ${sessionId}`;
}

/** The address of an entry of a foreign branch, as refs carry it after the `@`. */
export function addressOf({ sessionId }: ForeignBranch, entryId: string): string {
	return sessionId === undefined ? entryId : `${sessionId}/${entryId}`;
}
