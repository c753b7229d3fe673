// Makes a fresh clone ready to run: dependencies, a Node that Pi supports, the bundle. `npm test` and `npm start` call
// it first, so it has to run on the machine's own Node (20 or newer) before anything is installed.
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)));
const NODE = join(ROOT, "node_modules", ".bin", "node");

if (!isInstalled()) {
	say("Installing the dependencies with npm ci; the first time this takes about half a minute …");
	npm("ci", "--include=dev", "--no-audit", "--no-fund", "--loglevel=error");
}
if (!isSupportedNode()) {
	say("Installing Node 22 with npm rebuild node …");
	npm("rebuild", "node", "--loglevel=error");
	if (!isSupportedNode()) {
		fail(
			`${NODE} is missing or older than 22.19. Its install script may be switched off: npm config get ignore-scripts`,
		);
	}
}
npm("run", "--silent", "build");

/** Whether node_modules holds what package-lock.json asks for, by npm's own record of its last install. */
function isInstalled() {
	const record = join(ROOT, "node_modules", ".package-lock.json");
	if (!existsSync(record)) return false;
	const installed = packagesIn(record);
	return Object.entries(packagesIn(join(ROOT, "package-lock.json"))).every(([path, wanted]) => {
		// The root has no folder, and an optional package may be made for another platform.
		if (path === "" || (wanted.optional && installed[path] === undefined)) return true;
		return installed[path]?.version === wanted.version && existsSync(join(ROOT, path));
	});
}

function packagesIn(path) {
	return JSON.parse(readFileSync(path, "utf8")).packages ?? {};
}

/** Whether npm scripts find a Node of at least 22.19. */
function isSupportedNode() {
	const { stdout } = spawnSync(NODE, ["--version"], { encoding: "utf8", shell: process.platform === "win32" });
	const [major = 0, minor = 0] = (stdout ?? "").trim().replace("v", "").split(".").map(Number);
	return major > 22 || (major === 22 && minor >= 19);
}

/** Runs npm and ends this process if it fails. */
function npm(...args) {
	const { status, error } = spawnSync("npm", args, {
		cwd: ROOT,
		env: { ...process.env, PATH: outerPath() },
		stdio: ["ignore", "inherit", "inherit"],
		shell: process.platform === "win32",
	});
	if (status !== 0) fail(`npm ${args.join(" ")} failed${error ? `: ${error.message}` : "; its own message is above."}`);
}

/** An install replaces the Node in node_modules, so npm must not run on that one. */
function outerPath() {
	const folders = (process.env.PATH ?? "").split(delimiter);
	return folders.filter((folder) => !folder.endsWith(join("node_modules", ".bin"))).join(delimiter);
}

function say(text) {
	process.stderr.write(`${text}\n`);
}

function fail(text) {
	say(text);
	process.exit(1);
}
