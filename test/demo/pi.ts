import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const CLI_PATH = join(ROOT, "node_modules/@earendil-works/pi-coding-agent/dist/bundle/cli.js");

/** The bundle of the extension, as `npm start` builds it. */
export const BUNDLE_PATH = join(ROOT, "dist", "index.js");

const GRACE_MS = 2_000;

/** A started Pi: `ended` gives its exit code, 128 and more for a signal; `stop` asks it to end and then ends it. */
export interface RunningPi {
	readonly child: ChildProcess;
	readonly ended: Promise<number>;
	stop(): void;
}

/** Starts the real Pi with the extension. */
export function startPi(options: {
	readonly extension: string;
	readonly args: readonly string[];
	readonly cwd: string;
	readonly env: NodeJS.ProcessEnv;
	readonly stdio: StdioOptions;
}): RunningPi {
	const { extension, args, cwd, env, stdio } = options;
	const child = spawn(process.execPath, [CLI_PATH, "-e", extension, ...args], { cwd, env, stdio });
	const ended = new Promise<number>((resolve, reject) => {
		child.once("error", reject);
		child.once("close", (code, signal) => resolve(code ?? (signal === "SIGINT" ? 130 : 143)));
	});
	function stop(): void {
		if (child.exitCode !== null || child.signalCode !== null) return;
		child.kill("SIGTERM");
		setTimeout(() => child.kill("SIGKILL"), GRACE_MS).unref();
	}
	return { child, ended, stop };
}

/** The environment as it was before npm added its own variables and its folders of programs. */
export function userEnv(): NodeJS.ProcessEnv {
	const env = Object.fromEntries(
		Object.entries(process.env).filter(([name]) => !/^npm_/i.test(name) && name !== "INIT_CWD"),
	);
	const folders = (process.env.PATH ?? "").split(delimiter);
	const isNpms = (folder: string) => folder.endsWith(join("node_modules", ".bin")) || folder.endsWith("node-gyp-bin");
	return { ...env, PATH: folders.filter((folder) => !isNpms(folder)).join(delimiter) };
}

const passedOn =
	/^(LANG|LC_|TERM|COLOR|NO_COLOR|FORCE_COLOR|TMUX|STY$|KITTY_|WEZTERM_|GHOSTTY_|ITERM_|WT_|VTE_|SHELL$|SystemRoot$|ComSpec$|PATHEXT$)/;

/** What a terminal program needs and nothing of the user's: no keys, no proxies, no settings; Node is this one. */
export function isolatedEnv(home: { path: string; agentDir: string; tmpDir: string }): NodeJS.ProcessEnv {
	const kept = Object.entries(process.env).filter(([name]) => passedOn.test(name));
	return {
		LANG: "C.UTF-8",
		...Object.fromEntries(kept),
		PATH: [dirname(process.execPath), process.env.PATH ?? ""].join(delimiter),
		HOME: home.path,
		USERPROFILE: home.path,
		TMPDIR: home.tmpDir,
		// A cache of Node's own; in a new folder it costs seconds to write when Pi ends.
		NODE_COMPILE_CACHE: join(tmpdir(), "node-compile-cache"),
		PI_CODING_AGENT_DIR: home.agentDir,
		PI_OFFLINE: "1",
		PI_TELEMETRY: "0",
		PI_SKIP_VERSION_CHECK: "1",
	};
}
