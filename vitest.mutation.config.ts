import { defineConfig } from "vitest/config";

/** The kernel's own tests, without those over generated sessions: each runs for thousands of mutants. */
export default defineConfig({
	test: {
		include: ["test/kernel/**/*.test.ts"],
		exclude: ["**/*.property.test.ts"],
		testTimeout: 60_000,
		isolate: false,
		pool: "threads",
	},
});
