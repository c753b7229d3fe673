import { afterEach, expect, it } from "vitest";
import { closeScenarios, openScenario, withoutNudges } from "../support/scenario.ts";
import { toolNames } from "../support/wire.ts";

afterEach(closeScenarios);

it("/acp doctor says on the real Pi how things stand, without a request", async () => {
	const scene = await openScenario({ acp: withoutNudges });
	const { made, stderr } = await scene.run("/acp doctor");
	expect(made).toEqual([]);
	expect(stderr).toMatch(/^✓ loaded: pi-billion-context \d+\.\d+\.\d+ on Pi 1\.\d+\.\d+$/m);
	expect(stderr).toMatch(/^✓ tools: ours, and offered to the model$/m);
	expect(stderr).not.toMatch(/^!/m);
});

it("behind a context proxy the real Pi gets no tools of ours, one notice, and advice from the doctor", async () => {
	const scene = await openScenario({ acp: withoutNudges });
	const env = { BILLION_CONTEXT_PROXY: "http://127.0.0.1:1" };
	const { made, stderr } = await scene.run("Hello", { env });
	expect(toolNames(made[0])).not.toContain("compress");
	expect(stderr.match(/stands down: a proxy manages the context/g)).toHaveLength(1);
	const doctor = await scene.run("/acp doctor", { env });
	expect(doctor.stderr).toMatch(
		/^! tools: we stand down: a proxy manages the context\. Use the provider without it\.$/m,
	);
});

it("a throttled request ends the real Pi at once where throttleRetry is off", async () => {
	const scene = await openScenario({ settings: { retry: { enabled: false } } });
	scene.replies({ status: 400, error: "Throttling error: Too many tokens, please wait before trying again." });
	const { made, stderr } = await scene.run("Hello", { env: { ACP_THROTTLE_RETRY: "off" } });
	expect(made).toHaveLength(1);
	expect(stderr).not.toContain("throttles tokens");
});
