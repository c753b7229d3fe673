/** Keys of billion-context-pi for what does not exist here or works otherwise. */
const foreign =
	/^(autoUpdate|protectedLatestTools|preserveRecentTools|hostSession|priceProfile|displayUsage|delegate(Prompt)?|acknowledgePromptsRisk|promptSections|nudgeSections|toolPrompts|compress\.(minPressureBenefitTokens|reasoning|promptPack|stripImages(KeepRecent)?|async(ClaudeBridge)?|providers))$/;

/** Guards that are groups there, and a switch here. */
const guard = /(Retry|Guard)$/;

/** True for a key that only billion-context-pi knows. */
export function isForeign(path: readonly string[]): boolean {
	return foreign.test(path.join("."));
}

/** True for a switch that is a group there, with a switch `enabled` in it. */
export function isGroupThere(path: readonly string[]): boolean {
	return guard.test(path.at(-1) ?? "");
}

/** The name that a key of there has here, if it has another one. */
export function nameHere(name: string): string {
	return name === "nudgeGrowthTokens" ? "stepTokens" : name;
}

type Fields = Readonly<Record<string, unknown>>;

/** True for what `providersIn` reads. */
export function isOfProviders(path: readonly string[], value: unknown): boolean {
	return path.join(".") === "compress.providers" && typeof value === "object" && value !== null;
}

/** What `compress.providers` says there, as a document of ours. */
export function providersIn(document: unknown): unknown {
	const { compress } = fieldsOf(document);
	return {
		providers: each(fieldsOf(compress).providers, ({ models, ...compress }) => ({
			compress,
			models: each(models, (compress) => ({ compress })),
		})),
	};
}

function each(table: unknown, change: (fields: Fields) => unknown): unknown {
	return Object.fromEntries(Object.entries(fieldsOf(table)).map(([name, fields]) => [name, change(fieldsOf(fields))]));
}

function fieldsOf(value: unknown): Fields {
	return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}
