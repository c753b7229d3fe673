import { defineConfig } from "vitest/config";

export default defineConfig({
	test: {
		include: ["test/**/*.test.ts"],
		globalSetup: ["test/support/global-setup.ts"],
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
