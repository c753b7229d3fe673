import { type Message, type ToolCallPart, toolCalls } from "../message.ts";
import { mapInputs, mapStrings } from "../reduce.ts";
import { messageRef } from "../ref.ts";
import type { BranchRecord } from "../timeline.ts";
import type { UnitPiece } from "../unit.ts";

/** What is in view after a fold. */
export interface Scene {
	/** In the order of the view. */
	readonly units: readonly UnitPiece[];
	/** True for a result that succeeded, says something, and is shown as it was written. */
	readonly isWhole: (record: BranchRecord) => boolean;
}

/**
 * A rule by which a fold reduces messages that stay in view. `plan` looks at all of them and is asked once, when the fold is
 * made; `reduce` knows nothing but the message, for what it makes has to be the same in every later request.
 */
export interface FilterRule {
	readonly name: string;
	/** Whether it is on where nothing else is set. */
	readonly isDefault: boolean;
	/** A message is left alone if reducing it saves less. */
	readonly leastSavedTokens: number;
	/** The messages to reduce, as far as the rule can tell. */
	readonly plan: (scene: Scene) => readonly BranchRecord[];
	/** The message reduced; the same message if there is nothing to reduce. */
	readonly reduce: (message: Message, ordinal: number) => Message;
}

/** What a marker has to save to be worth a hole in a message. */
export const markerSavesTokens = 50;

/** The results of calls with a key that a later call has too, if its result is whole. */
export function repeatedResults({ units, isWhole }: Scene, keyOf: (call: ToolCallPart) => string | undefined) {
	const later = new Set<string>();
	const found: BranchRecord[] = [];
	for (const record of units.flatMap((unit) => unit.records).reverse()) {
		const key = record.call && keyOf(record.call);
		if (key === undefined) continue;
		if (later.has(key)) found.push(record);
		else if (isWhole(record)) later.add(key);
	}
	return found.reverse();
}

/** A result with a marker in place of all it said and showed. */
export function withoutResult(message: Message, why: string, ordinal: number): Message {
	if (message.role !== "toolResult") return message;
	return { ...message, content: [{ type: "text", text: marker(why, ordinal, "this result") }] };
}

/** A longer string in the inputs of a call gives way to a marker. */
const longChars = 300;

/** The assistant messages of which all calls that `isMeant` names and that have long inputs failed, or succeeded. */
export function callingMessages(
	{ units }: Scene,
	isMeant: (call: ToolCallPart) => boolean,
	haveFailed: boolean,
): readonly BranchRecord[] {
	return units.flatMap(({ records: [first, ...results] }) => {
		const calls = first?.message === undefined ? [] : toolCalls(first.message).filter(isMeant).filter(hasLongInput);
		const isAsMeant = (call: ToolCallPart) => {
			const result = results.find(({ message }) => message?.toolCallId === call.id)?.message;
			return result !== undefined && (result.isError === true) === haveFailed;
		};
		return first !== undefined && calls.every(isAsMeant) ? first : [];
	});
}

function hasLongInput({ arguments: inputs }: ToolCallPart): boolean {
	return mapStrings(inputs, (input) => (input.length > longChars ? "" : input)) !== inputs;
}

/** A message with a marker in place of the long inputs of the calls that `isMeant` names; the same if it is signed. */
export function withoutInputs(
	message: Message,
	why: string,
	ordinal: number,
	isMeant: (call: ToolCallPart) => boolean,
): Message {
	const text = marker(why, ordinal, "this input");
	return mapInputs(message, (input) => (input.length > longChars ? text : input), isMeant);
}

function marker(why: string, ordinal: number, what: string): string {
	return `[left out: ${why}; decompress({ id: "${messageRef(ordinal)}" }) shows ${what}]`;
}
