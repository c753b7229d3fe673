import { fullWindowTokens, paces } from "../../kernel/index.ts";
import type { KeyValues, PacedSettings } from "./schema.ts";

/** The figures of `compress`: as they are set, else as the pace says. */
export function withPace({ pace, compress }: Pick<KeyValues, "pace" | "compress">): PacedSettings["compress"] {
	const { keepTokens, stepTokens } = compress;
	return {
		...compress,
		keepTokens: keepTokens === "pace" ? paces[pace].keepTokens : keepTokens,
		stepTokens: stepTokens === "pace" ? paces[pace].stepTokens : stepTokens,
	};
}

/**
 * The settings for a window of so many tokens, with the pace of one no larger than `compress.maxContextLimit`. Nothing else
 * depends on that key: what is cut, and when, is a matter of the real window.
 */
export function paced(settings: PacedSettings, limitTokens: number): PacedSettings {
	const { compress } = settings;
	const { maxContextLimit, keepTokens, stepTokens } = compress;
	const boundTokens = maxContextLimit <= 1 ? limitTokens * maxContextLimit : maxContextLimit;
	const share = Math.min(fullWindowTokens, boundTokens) / Math.min(fullWindowTokens, limitTokens);
	if (share >= 1) return settings;
	return { ...settings, compress: { ...compress, keepTokens: keepTokens * share, stepTokens: stepTokens * share } };
}
