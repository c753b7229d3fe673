import { readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";

const root = fileURLToPath(new URL("..", import.meta.url));

function filesIn(folder: string): readonly string[] {
	return readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
		.filter((name) => name.endsWith(".ts"))
		.map((name) => join(folder, name).split(sep).join("/"));
}

function read(path: string): string {
	return readFileSync(join(root, path), "utf8");
}

function importsOf(path: string): readonly string[] {
	return [...read(path).matchAll(/(?:from|import)\s+"([^"]+)"/g)].map((match) => match[1] ?? "");
}

const kernel = filesIn("kernel");
const src = filesIn("src");

describe("the layers", () => {
	it("keep the kernel free of everything but itself", () => {
		const strangers = kernel.flatMap((path) =>
			importsOf(path).filter((name) => !name.startsWith("./") && !name.startsWith("../")),
		);
		expect(strangers).toEqual([]);
		const outside = kernel.flatMap((path) =>
			importsOf(path).filter((name) => relative("kernel", join(path, "..", name)).startsWith("..")),
		);
		expect(outside).toEqual([]);
	});

	it("let src reach the kernel through its index only", () => {
		const deep = src.flatMap((path) =>
			importsOf(path).filter((name) => name.includes("/kernel/") && !name.endsWith("/kernel/index.ts")),
		);
		expect(deep).toEqual([]);
	});

	it("let src use at run time nothing but Node, Pi, typebox and what is bundled", () => {
		const allowed = /^(\.|node:|@earendil-works\/|typebox(\/|$)|strip-json-comments$)/;
		expect(src.flatMap(importsOf).filter((name) => !allowed.test(name))).toEqual([]);
	});

	it("have casts at Pi's border only in host.ts and transcript/", () => {
		const border = src.filter((path) => path !== "src/host.ts" && !path.startsWith("src/transcript/"));
		const code = (path: string) => read(path).replace(/^import [\s\S]*?;$|\/\/.*$|\/\*[\s\S]*?\*\//gm, "");
		const casting = border
			.filter((path) => importsOf(path).some((name) => name.startsWith("@earendil-works/")))
			.filter((path) => / as (?!const\b)\w/.test(code(path)));
		expect(casting).toEqual([]);
	});
});

describe("the files", () => {
	it("stay under 500 lines", () => {
		const long = [...kernel, ...src, ...filesIn("test")].filter((path) => read(path).split("\n").length > 500);
		expect(long).toEqual([]);
	});

	it("have no issue numbers and no loose ends in comments", () => {
		const loose = [...kernel, ...src].filter((path) => /\/\/.*#\d|TODO|FIXME|XXX/.test(read(path)));
		expect(loose).toEqual([]);
	});
});

describe("the code map in docs/ARCHITECTURE.md", () => {
	const map = read("docs/ARCHITECTURE.md");
	const section = (name: string) => map.split(`### ${name}/`)[1]?.split("\n#")[0] ?? "";
	const named = (name: string) => [...section(name).matchAll(/[\w-]+\.ts/g)].map((match) => match[0]);

	it.each([
		["kernel", kernel],
		["src", src],
	])("names every file of %s and no other", (folder, paths) => {
		const names = paths.map((path) => path.split("/").at(-1) ?? "");
		expect([...new Set(named(folder))].sort()).toEqual([...new Set(names)].sort());
	});
});
