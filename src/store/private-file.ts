import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

/**
 * Writes a text into a folder of its own under the system's temp directory, so that others can neither read it nor know its
 * name beforehand; returns its path. `prefix` begins the folder's name, `title` makes the file's. Rejects if it cannot.
 */
export async function writePrivate(prefix: string, title: string, text: string): Promise<string> {
	const folder = await mkdtemp(join(tmpdir(), prefix));
	const path = join(folder, `${title.replace(/\W+/g, "-").slice(0, 60)}.txt`);
	await writeFile(path, text, { mode: 0o600, flag: "wx" });
	return path;
}
