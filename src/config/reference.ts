/** A settings document in our terms, and the keys in it that only billion-context-pi knows. */
export interface Translated {
	readonly document: unknown;
	readonly unknown: readonly string[];
}

/** Keys of billion-context-pi for what does not exist here or works otherwise. */
const foreign =
	/^(autoUpdate|protectedLatestTools|preserveRecentTools|hostSession|priceProfile|displayUsage|delegate|delegatePrompt|prompts|acknowledgePromptsRisk|promptSections|nudgeSections|toolPrompts)$/;
const foreignInCompress =
	/^(minPressureBenefitTokens|reasoning|promptPack|stripImages|stripImagesKeepRecent|async|asyncClaudeBridge)$/;

/** Guards that are groups there, and a switch here. */
const guard = /^(throttle|repetition|degeneration)(Retry|Guard)$/;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Puts what an acp.json of billion-context-pi says where it stands here: `compress.nudgeGrowthTokens`, `compress.providers`
 * and `enabled` of a guard. A name that `isOurs` is read as ours. Never throws.
 */
export function translateReference(document: unknown, isOurs: (name: string) => boolean): Translated {
	if (!isFields(document)) return { document, unknown: [] };
	const unknown: string[] = [];
	const own: Record<string, unknown> = {};
	for (const [name, value] of Object.entries(document)) {
		if (guard.test(name) && isFields(value)) switchOf(own, name, value, unknown);
		else if (foreign.test(name) && !isOurs(name)) unknown.push(name);
		// A switch there, a group here.
		else if (name === "rules" && typeof value === "boolean") unknown.push(name);
		else define(own, name, value);
	}
	translateCompress(own, unknown);
	return { document: own, unknown };
}

function translateCompress(own: Record<string, unknown>, unknown: string[]): void {
	if (!isFields(own.compress)) return;
	const { providers, ...rest } = compressIn(own.compress, "compress", unknown);
	own.compress = rest;
	if (isFields(providers)) own.providers = withProviders(own.providers, providers, unknown);
	else if (providers !== undefined) unknown.push("compress.providers");
}

function switchOf(own: Record<string, unknown>, name: string, value: Fields, unknown: string[]): void {
	const { enabled, ...rest } = value;
	if (enabled !== undefined) own[name] = enabled;
	unknown.push(...Object.keys(rest).map((key) => `${name}.${key}`));
}

/** A group `compress` without what does not exist here; of two names for one thing ours counts. */
function compressIn(compress: Fields, place: string, unknown: string[]): Fields {
	const own: Record<string, unknown> = {};
	for (const [name, value] of Object.entries(compress)) {
		if (foreignInCompress.test(name)) unknown.push(`${place}.${name}`);
		else if (name !== "nudgeGrowthTokens") define(own, name, value);
		else if (!Object.hasOwn(compress, "stepTokens")) own.stepTokens = value;
	}
	return own;
}

/** `providers` with what `compress.providers` says; where both speak, `providers` counts. */
function withProviders(providers: unknown, inCompress: Fields, unknown: string[]): unknown {
	if (providers !== undefined && !isFields(providers)) return providers;
	const merged: Record<string, unknown> = { ...providers };
	for (const [name, value] of Object.entries(inCompress)) {
		const place = `compress.providers.${name}`;
		const { models, ...fields } = isFields(value) ? value : {};
		const provider = withCompress(merged[name], fields, place, unknown);
		define(merged, name, provider);
		if (!isFields(provider) || !isFields(models)) continue;
		const known: Record<string, unknown> = isFields(provider.models) ? { ...provider.models } : {};
		for (const [model, each] of Object.entries(models)) {
			const inModel = isFields(each) ? each : {};
			define(known, model, withCompress(known[model], inModel, `${place}.models.${model}`, unknown));
		}
		define(merged, name, { ...provider, models: known });
	}
	return merged;
}

function withCompress(scope: unknown, fields: Fields, place: string, unknown: string[]): unknown {
	if (scope !== undefined && !isFields(scope)) return scope;
	const { compress = {} } = scope ?? {};
	if (!isFields(compress)) return scope;
	return { ...scope, compress: { ...compressIn(fields, place, unknown), ...compress } };
}

/** Assignment would make `__proto__` a prototype. */
function define(target: object, name: string, value: unknown): void {
	Object.defineProperty(target, name, { value, enumerable: true, configurable: true, writable: true });
}

function isFields(value: unknown): value is Fields {
	return typeof value === "object" && value !== null && !Array.isArray(value);
}
