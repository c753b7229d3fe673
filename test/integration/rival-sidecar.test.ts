import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { afterEach, expect, it } from "vitest";
import piBillionContext from "../../src/index.ts";
import { closeAcp, openAcp, range, rival, work } from "../support/acp.ts";
import { createHome } from "../support/home.ts";

afterEach(closeAcp);

it("leaves the sidecar of the extension it stands down beside alone", async () => {
	const home = createHome();
	const first = await openAcp({ home, seed: work(3) });
	await first.call("compress", { content: [range("m00002", "m00003")] });
	await first.logText();
	const path = `${first.sessionFile}.acp.json`;
	expect(existsSync(path)).toBe(true);
	writeFileSync(path, '{"blocks":[],"rival":1}');
	const second = await openAcp({ home, sessionFile: first.sessionFile, extensions: [rival, piBillionContext] });
	await second.prompt("Go on");
	await second.logText();
	expect(readFileSync(path, "utf8")).toBe('{"blocks":[],"rival":1}');
	expect(existsSync(`${path}.bak`)).toBe(false);
});
