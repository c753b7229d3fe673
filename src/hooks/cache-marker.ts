import type { BeforeProviderRequestEvent, ExtensionContext } from "@earendil-works/pi-coding-agent";
import { isObject } from "../../kernel/index.ts";
import type { Sessions } from "../session.ts";

type Json = Readonly<Record<string, unknown>>;

/**
 * Moves the provider's cache marker, which Pi puts on the last message, off a nudge: a nudge is gone from the next request,
 * so what is cached up to it would never be read again. Payloads without messages or markers stay as they are.
 */
export function onBeforeProviderRequest(sessions: Sessions, event: BeforeProviderRequestEvent, ctx: ExtensionContext) {
	const { payload } = event;
	const nudge = sessions.of(ctx).shownNudge;
	if (nudge === undefined || !isObject(payload) || !Array.isArray(payload.messages)) return undefined;
	const messages = withMarkerBefore(payload.messages, nudge.text);
	return messages && { ...payload, messages };
}

/** The messages with the marker on the last part before the one that holds `text`; undefined if there is none to move. */
export function withMarkerBefore(messages: readonly unknown[], text: string): readonly Json[] | undefined {
	if (!messages.every(isObject)) return undefined;
	const last = messages.at(-1);
	const parts = last === undefined ? [] : partsOf(last);
	const written = JSON.stringify(text).slice(1, -1);
	const from = parts.findLastIndex((part) => JSON.stringify(part).includes(written));
	const marked = parts.slice(Math.max(0, from)).find((part) => "cache_control" in part || "cachePoint" in part);
	if (from < 0 || last === undefined || marked === undefined) return undefined;
	const moved = markLast([...messages.slice(0, -1), { ...last, content: parts.slice(0, from) }], marked);
	const tail = parts.slice(from).flatMap(({ cache_control: _, ...part }) => ("cachePoint" in part ? [] : part));
	return [...moved.slice(0, -1), { ...last, content: [...moved.slice(-1).flatMap(partsOf), ...tail] }];
}

/** Puts the marker that a part is or has on the last part that can take it. */
function markLast(messages: readonly Json[], marker: Json): readonly Json[] {
	const at = messages.findLastIndex((message) => partsOf(message).some(takesMarker));
	return messages.map((message, index) => {
		if (index !== at) return message;
		const parts = partsOf(message);
		const place = parts.findLastIndex(takesMarker);
		const part = parts[place];
		const withMarker = "cachePoint" in marker ? [part, marker] : [{ ...part, cache_control: marker.cache_control }];
		return { ...message, content: [...parts.slice(0, place), ...withMarker, ...parts.slice(place + 1)] };
	});
}

/** The parts of a message on the wire; a text alone is one part. */
function partsOf({ content }: Json): readonly Json[] {
	if (typeof content === "string") return [{ type: "text", text: content }];
	return Array.isArray(content) ? content.filter(isObject) : [];
}

/** Kinds of parts that Pi itself marks: with a `type` in Anthropic's form, by their field in Bedrock's. */
const markable: ReadonlySet<string> = new Set(["text", "image", "tool_result", "toolResult"]);

function takesMarker(part: Json): boolean {
	if (part.text === "") return false;
	return typeof part.type === "string" ? markable.has(part.type) : Object.keys(part).some((name) => markable.has(name));
}
