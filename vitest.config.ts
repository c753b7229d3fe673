import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		include: ["test/**/*.test.ts"],
		globalSetup: ["test/support/global-setup.ts"],
		// By default one core is left to others, which on two cores is half of them.
		maxWorkers: "100%",
		testTimeout: 60_000,
		hookTimeout: 60_000,
		coverage: {
			provider: "v8",
			include: ["kernel/**/*.ts", "src/**/*.ts"],
			reporter: ["text-summary", "json-summary"],
			thresholds: { "kernel/**": { lines: 100, branches: 95 }, "src/**": { lines: 85 } },
		},
	},
});
