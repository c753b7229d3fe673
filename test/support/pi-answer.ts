import type { AssistantMessage } from "@earendil-works/pi-ai";

/** An answer as Pi keeps it. */
export function answerOf(model = "scripted-1"): AssistantMessage {
	const cost = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };
	return {
		role: "assistant",
		content: [{ type: "text", text: "done" }],
		api: "openai-completions",
		provider: "loopback",
		model,
		usage: { input: 9, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 10, cost },
		stopReason: "stop",
		timestamp: 1,
	};
}
