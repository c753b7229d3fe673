import { join } from "node:path";
import {
	type AgentSession,
	type CreateAgentSessionOptions,
	createAgentSession,
	DefaultResourceLoader,
	type ExtensionFactory,
	ModelRuntime,
	SessionManager,
	SettingsManager,
} from "@earendil-works/pi-coding-agent";
import { createHome, type Home, type HomeFiles, modelId, PROVIDER_NAME, writeHomeFiles } from "./home.ts";
import { type Provider, type RecordedRequest, type Script, startProvider } from "./provider.ts";

/** How to set up a session in this process. */
export interface InProcessOptions extends Omit<HomeFiles, "providerUrl"> {
	extensions: ExtensionFactory[];
	/** What the model answers; `ok` to everything if left out. Not used with `provider`. */
	script?: Script;
	/** A provider that outlives this session; the session's own one is closed with it. */
	provider?: Provider;
	/** A home that outlives this session; the session's own one is removed with it. */
	home?: Home;
	/** The session log to continue or to create; in memory only if left out. */
	sessionFile?: string;
	/** Whether the host starts the extensions (`session_start`), as Pi's own modes do and an SDK host may not. */
	bind?: boolean;
	/** Passed on to Pi, such as `tools`. */
	sessionOptions?: CreateAgentSessionOptions;
}

/** A real session with a scripted model. `extensionErrors` holds what handlers of the extensions threw. */
export interface InProcess {
	session: AgentSession;
	home: Home;
	provider: Provider;
	requests: RecordedRequest[];
	extensionErrors: { event: string; error: string }[];
	/** Sends a prompt and waits until the agent is idle again. */
	prompt(text: string): Promise<void>;
	dispose(): Promise<void>;
}

/**
 * Creates a real AgentSession with the given extensions and a scripted model. HOME and PI_CODING_AGENT_DIR point to
 * its home from then on, also after `dispose()`, so that late writes cannot reach the user's files.
 */
export async function inProcess(options: InProcessOptions): Promise<InProcess> {
	const home = options.home ?? createHome();
	const provider = options.provider ?? (await startProvider(options.script));
	writeHomeFiles(home, { ...options, providerUrl: provider.url });
	Object.assign(process.env, {
		HOME: home.path,
		PI_CODING_AGENT_DIR: home.agentDir,
		PI_OFFLINE: "1",
		PI_TELEMETRY: "0",
	});
	const { session, extensionsResult } = await createAgentSession(await piOptions(options, home));
	const [broken] = extensionsResult.errors;
	if (broken !== undefined) throw new Error(`Pi could not load an extension: ${broken.error}`);
	const extensionErrors: InProcess["extensionErrors"] = [];
	if (options.bind) await session.bindExtensions({ onError: (error) => extensionErrors.push(error) });
	else session.extensionRunner.onError((error) => extensionErrors.push(error));

	return {
		session,
		home,
		provider,
		requests: provider.requests,
		extensionErrors,
		async prompt(text) {
			await session.prompt(text);
			await session.waitForIdle();
		},
		async dispose() {
			if (options.bind) await session.extensionRunner.emit({ type: "session_shutdown", reason: "quit" });
			session.dispose();
			if (options.home === undefined) home.remove();
			if (options.provider === undefined) await provider.close();
		},
	};
}

async function piOptions(options: InProcessOptions, home: Home): Promise<CreateAgentSessionOptions> {
	const { agentDir, cwd } = home;
	const settingsManager = SettingsManager.create(cwd, agentDir);
	const resourceLoader = new DefaultResourceLoader({
		cwd,
		agentDir,
		settingsManager,
		extensionFactories: options.extensions,
	});
	await resourceLoader.reload();
	const modelRuntime = await ModelRuntime.create({
		authPath: join(agentDir, "auth.json"),
		modelsPath: join(agentDir, "models.json"),
	});
	const model = modelRuntime.getModel(PROVIDER_NAME, modelId(options.models));
	if (model === undefined)
		throw new Error(`Pi knows no scripted model: ${modelRuntime.getError() ?? "no reason given"}`);
	const sessionManager =
		options.sessionFile === undefined
			? SessionManager.inMemory(cwd)
			: SessionManager.open(options.sessionFile, undefined, cwd);
	return {
		cwd,
		agentDir,
		settingsManager,
		resourceLoader,
		modelRuntime,
		model,
		sessionManager,
		...options.sessionOptions,
	};
}
