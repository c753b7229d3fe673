import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { version } from "../../src/version.ts";

it("is the version of the package, a plain one", () => {
	const manifest: unknown = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8"));
	expect(manifest).toMatchObject({ name: "pi-billion-context", version });
	expect(version).toMatch(/^\d+\.\d+\.\d+/);
});
