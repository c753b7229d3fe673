import { expect, test } from "vitest";
import { nearest } from "../../../src/config/nearest.ts";

const candidates = [
	"enabled",
	"debug",
	"compress.keepTokens",
	"compress.stepTokens",
	"log.path",
	"compress",
	"log",
].map((name) => ({ path: name.split("."), shown: `<${name}>` }));

test.each([
	["enable", "enabled"],
	["STEPTOKENS", "compress.stepTokens"],
	["compress.keepToken", "compress.keepTokens"],
	["compres.stepTokens", "compress.stepTokens"],
	["compres", "compress"],
	["keepTokens", "compress.keepTokens"],
	["compress.debug", "debug"],
	["logs", "log"],
	["path", "log.path"],
])("%s is most like %s", (name, known) => {
	expect(nearest(name.split("."), candidates)).toBe(`<${known}>`);
});

test("the same name in the same place comes before the same name elsewhere", () => {
	const twice = [["log", "size"], ["size"]].map((path) => ({ path, shown: path.join(".") }));
	expect(nearest(["size"], twice)).toBe("size");
});

test("a name of any length has a nearest one", () => {
	expect(nearest(["compress".repeat(100_000)], candidates)).toMatch(/^<compress/);
	expect(nearest([""], candidates)).toBe("<log>");
	expect(nearest(["x"], [])).toBe("");
});
