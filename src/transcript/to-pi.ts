import type { AgentMessage } from "@earendil-works/pi-agent-core";
import type { Message } from "../../kernel/index.ts";
import { messageFromPi } from "./from-pi.ts";

/** Pi's outgoing list in the kernel's terms, with the way back. */
export interface Outgoing {
	readonly messages: readonly Message[];
	/** The list for Pi: messages that came through unchanged are Pi's own objects. */
	toPi(messages: readonly Message[]): AgentMessage[];
}

export function outgoing(list: readonly AgentMessage[]): Outgoing {
	const originals = new Map<Message, AgentMessage>();
	const messages = list.map((original) => {
		const message = messageFromPi(original);
		if (message !== original) originals.set(message, original);
		return message;
	});
	return {
		messages,
		toPi: (changed) => changed.map((message) => originals.get(message) ?? (message as AgentMessage)),
	};
}
