import { describe, expect, it } from "vitest";
import { begun, foldFirst, shownMessage } from "../../support/filtering.ts";
import { type Log, words } from "../../support/log.ts";

const on = { failedInputs: true };
const content = words(200, "text");

/** A log whose m4 makes calls with long inputs, each with a result that is a failure or none. */
function written(...failures: readonly (boolean | undefined)[]): Log {
	const log = begun();
	log.assistant(
		"Writing.",
		failures.map((_, index) => ({ name: "write", arguments: { path: `${index}.ts`, lines: [content, "short"] } })),
	);
	for (const [call, isError] of failures.entries()) if (isError !== undefined) log.result("done", { call, isError });
	return log;
}

describe("the long inputs of a call that failed", () => {
	it("give way to a marker, and the short ones stay", () => {
		const log = written(true);
		expect(foldFirst(log, on)).toEqual(["m4 failedInputs"]);
		const marker = '[left out: this call failed; decompress({ id: "m00004" }) shows this input]';
		expect(shownMessage(log, 4)?.content).toMatchObject([
			{ type: "text", text: "Writing." },
			{ name: "write", arguments: { path: "0.ts", lines: [marker, "short"] } },
		]);
	});

	it("stay unless the rule is switched on", () => {
		expect(foldFirst(written(true))).toEqual([]);
	});

	it("stay where a call beside it succeeded or has no result, and go where all failed", () => {
		expect(foldFirst(written(true, false), on)).toEqual([]);
		expect(foldFirst(written(true, undefined), on)).toEqual([]);
		expect(foldFirst(written(true, true), on)).toEqual(["m4 failedInputs"]);
	});

	it("stay where a part of the message is signed", () => {
		const log = begun();
		const call = { type: "toolCall", id: "c", name: "write", arguments: { content } };
		log.message({ role: "assistant", content: [{ ...call, ...{ thoughtSignature: "xyz" } }] });
		log.result("no", { isError: true });
		expect(foldFirst(log, on)).toEqual([]);
	});
});
