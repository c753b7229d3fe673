import { execFileSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const BUNDLE = join(ROOT, "dist", "index.js");

/**
 * Runs once before all tests: refuses a Node that Pi does not support, builds the bundle that the e2e tests load, and
 * gives the run a temp folder of its own, which the returned teardown deletes.
 */
export default function setup(): () => void {
	requireNode(process.versions.node);
	if (existsSync(join(ROOT, "src", "index.ts"))) {
		execFileSync("npm", ["run", "--silent", "build"], { cwd: ROOT, stdio: ["ignore", "inherit", "inherit"] });
	}
	const folder = mkdtempSync(join(tmpdir(), "pi-billion-context-tests-"));
	process.env.TMPDIR = folder;
	process.env.ACP_TEST_BUNDLE = copyBundle(folder);
	return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

function copyBundle(folder: string): string {
	const path = join(folder, "extension", "index.js");
	mkdirSync(dirname(path));
	if (existsSync(BUNDLE)) copyFileSync(BUNDLE, path);
	return path;
}

function requireNode(version: string): void {
	const [major = 0, minor = 0] = version.split(".").map(Number);
	if (major > 22 || (major === 22 && minor >= 19)) return;
	throw new Error(
		`The tests need Node 22.19 or newer and run on ${version}. Start them with "npm test" or "npx vitest"; ` +
			`if that is what you did, "npm rebuild node" installs the missing Node.`,
	);
}
