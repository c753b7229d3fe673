// `npm start`: the real Pi with the extension, or a scripted session to watch.
import process from "node:process";
import { playDemo } from "./demo.ts";
import { BUNDLE_PATH, startPi, userEnv } from "./pi.ts";

const args = process.argv.slice(2);
const piArgs = args.filter((arg) => arg !== "--demo");
// Whoever has arguments for Pi means Pi; without a provider Pi says what to do.
const isDemo = args.includes("--demo") || (piArgs.every((arg) => arg === "--print") && !(await hasProvider()));
process.exitCode = isDemo ? await demo() : await openPi();

function demo(): Promise<number> {
	const isPrinted = piArgs.includes("--print") || !process.stdin.isTTY || !process.stdout.isTTY;
	return playDemo(
		isPrinted,
		piArgs.filter((arg) => arg !== "--print"),
	);
}

function openPi(): Promise<number> {
	const cwd = process.env.INIT_CWD ?? process.cwd();
	process.stderr.write(`Pi with pi-billion-context in ${cwd}. A scripted session to watch: npm start -- --demo\n`);
	// Pi itself answers ctrl+c; this process only waits for it.
	process.on("SIGINT", () => undefined);
	const pi = startPi({ extension: BUNDLE_PATH, args: piArgs, cwd, env: userEnv(), stdio: "inherit" });
	process.on("SIGTERM", pi.stop);
	process.on("SIGHUP", pi.stop);
	return pi.ended;
}

/** Whether Pi has a model to talk to, by Pi's own rules. Where these cannot be read, Pi is to say so. */
async function hasProvider(): Promise<boolean> {
	const { getAgentDir, ModelRuntime, SettingsManager } = await import("@earendil-works/pi-coding-agent");
	try {
		const settings = SettingsManager.create(process.env.INIT_CWD ?? process.cwd(), getAgentDir());
		// An extension may bring the default provider, and is not loaded here.
		if (settings.getDefaultProvider() !== undefined) return true;
		const signal = AbortSignal.timeout(10_000);
		const runtime = await ModelRuntime.create({ allowModelNetwork: false, signal });
		const models = await runtime.getAvailable(undefined, { signal });
		return models.length > 0 || runtime.getError() !== undefined;
	} catch {
		return true;
	}
}
