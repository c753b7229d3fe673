import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { type AcpSession, bareAcp, closeAcp, openAcp, work } from "../../support/acp.ts";

afterEach(closeAcp);

const tag = "<acp>m00001</acp>";

async function open(acp: Record<string, unknown> = bareAcp): Promise<AcpSession> {
	return openAcp({ seed: work(1), acp });
}

function file(acp: AcpSession, name = "a.txt"): string {
	return readFileSync(join(acp.home.cwd, name), "utf8");
}

describe("a tag that the model repeats", () => {
	it("at the end of its text is not stored, and no later request shows it", async () => {
		const acp = await open();
		acp.replies({ text: `Done.\n${tag}` });
		await acp.prompt("hello");
		expect(acp.session.getLastAssistantText()).toBe("Done.");
		await acp.prompt("again");
		expect(JSON.stringify(acp.requests.at(-1)?.body.messages)).not.toContain("Done.\\n<acp>");
		expect(await acp.logText()).toContain("[info] [echo] where=text");
	});

	it("in the middle of its text stays: it speaks of it", async () => {
		const acp = await open();
		acp.replies({ text: `The message ${tag} says so.` });
		await acp.prompt("hello");
		expect(acp.session.getLastAssistantText()).toBe(`The message ${tag} says so.`);
	});

	it("in what it writes, edits or runs reaches neither file nor shell", async () => {
		const acp = await open();
		await acp.call("write", { path: "a.txt", content: `one\n${tag}\ntwo\n${tag}` });
		expect(file(acp)).toBe("one\ntwo");
		await acp.call("edit", { path: "a.txt", edits: [{ oldText: `two\n${tag}`, newText: `three\n${tag}` }] });
		expect(file(acp)).toBe("one\nthree");
		await acp.call("bash", { command: `echo four > b.txt\n${tag}` });
		expect(file(acp, "b.txt")).toBe("four\n");
	});

	it("stays where the file holds tags already", async () => {
		const acp = await open();
		writeFileSync(join(acp.home.cwd, "a.txt"), `about ${tag}`);
		await acp.call("write", { path: "a.txt", content: `more about ${tag}` });
		expect(file(acp)).toBe(`more about ${tag}`);
	});

	it("is none of our affair while folding is switched off", async () => {
		const acp = await open({ ...bareAcp, enabled: false });
		acp.replies({ text: `Done.\n${tag}` });
		await acp.prompt("hello");
		expect(acp.session.getLastAssistantText()).toBe(`Done.\n${tag}`);
		await acp.call("write", { path: "a.txt", content: tag });
		expect(file(acp)).toBe(tag);
	});

	it("that is all of the text stays, since an answer without any is none", async () => {
		const acp = await open();
		acp.replies({ text: tag });
		await acp.prompt("hello");
		expect(acp.session.getLastAssistantText()).toBe(tag);
	});
});
