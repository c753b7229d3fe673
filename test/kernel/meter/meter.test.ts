import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readingOf } from "../../../kernel/meter/calibration.ts";
import { unfitted } from "../../../kernel/meter/fit.ts";
import { Meter } from "../../../kernel/meter/meter.ts";
import { messageTokens } from "../../../kernel/meter/size.ts";
import { project } from "../../../kernel/pipeline/index.ts";
import { formatTokens } from "../../../kernel/problem.ts";
import { outgoingItems } from "../../../kernel/sent.ts";
import { defaultSettings } from "../../../kernel/settings.ts";
import { statusOf, statusText } from "../../../kernel/status.ts";
import { estimateOf, viewTokens } from "../../../kernel/view.ts";
import { foldText, nudgeText, sizeText } from "../../../kernel/wording.ts";
import { bareSettings, contextOf, Log, range, shown, words } from "../../support/log.ts";
import { answer, asked, bigModel, contextAt, failure, sizeAt } from "../../support/reports.ts";
import { copyOf } from "../../support/request.ts";

/** The size of the view as a share of a window. */
function pressure(log: Log, limitTokens = 200_000): number {
	return sizeAt(log) / limitTokens;
}

describe("the size of a view", () => {
	it("is what the provider reported, however small the estimate is, also right after a restart", () => {
		const log = asked(170_000);
		expect(viewTokens(log.view())).toBeLessThan(30_000);
		expect(pressure(log)).toBeCloseTo(0.85, 2);
		expect(pressure(copyOf(log, (id) => id))).toBe(pressure(log));
	});

	it("is that of what is sent, not of the session, where no provider reports any", () => {
		const log = new Log();
		log.user("task");
		for (const name of ["a", "b", "c"]) log.step("read", { path: name }, words(100_000, name));
		log.user(words(9_000));
		log.compress([range("m2", "m7", "All of it.")], bareSettings);
		expect(pressure(log, 180_000)).toBeGreaterThan(0.03);
		expect(pressure(log, 180_000)).toBeLessThan(0.07);
	});

	it("is the report of an answer without any output too", () => {
		const log = new Log();
		log.user(words(120_000));
		for (let round = 0; round < 3; round++) {
			const usage = { input: 900_000, output: 0, cacheRead: 0, cacheWrite: 0, totalTokens: 900_000 };
			answer(log, undefined, { text: "", usage });
		}
		expect(Math.abs(sizeAt(log) / 900_000 - 1)).toBeLessThan(0.001);
	});

	it("counts what the provider took from its cache", () => {
		const usage = { input: 12, output: 5, cacheRead: 150_000, cacheWrite: 4_000, totalTokens: 154_017 };
		const log = asked(undefined);
		answer(log, undefined, { text: "", usage });
		expect(Math.abs(sizeAt(log) - 154_012)).toBeLessThan(20);
	});

	it("keeps what no message holds, such as a long system prompt, through a fold", () => {
		const log = new Log();
		log.user("task");
		log.step("read", { path: "a" }, words(20_000));
		answer(log, 90_000);
		log.user("go on");
		const { calibration } = contextAt(log);
		const before = readingOf(calibration, estimateOf(log.view())).sizeTokens;
		const plan = log.compress([range("m2", "m3", "Read.")], bareSettings);
		const gone = readingOf(calibration, plan.before).sizeTokens - readingOf(calibration, plan.after).sizeTokens;
		const [call, result] = log.view().items.slice(-2);
		const added = [call, result].reduce((sum, item) => sum + (item?.sizeTokens ?? 0), 0);
		expect(gone).toBeGreaterThan(20_000);
		expect(Math.abs(sizeAt(log) - (before - gone + added * calibration.fit.perToken))).toBeLessThan(60);
		const context = contextAt(log);
		const status = statusOf(log.view(), context);
		expect(status.reading.sizeTokens).toBe(sizeAt(log));
		const nudge = nudgeText("soft", { ranges: [], run: undefined }, status.reading, context.window);
		expect(nudge).toContain(sizeText(status.reading, context.window));
	});

	it("does not stay at a report from before a summary by the host", () => {
		const log = new Log();
		log.user("task");
		log.step("read", { path: "a" }, words(150_000));
		const kept = log.user("and now?");
		answer(log, 190_000);
		log.compaction("What was done so far.", kept);
		const { calibration } = contextAt(log);
		const { sizeTokens, errorTokens } = readingOf(calibration, estimateOf(log.view()));
		expect(sizeTokens).toBeLessThan(40_000);
		expect(sizeTokens - errorTokens).toBeLessThan(1_000);
	});

	it("does not bring back what a summary by the host left out when something is folded after it", () => {
		const log = new Log();
		log.user("task");
		log.step("read", { path: "a" }, words(100_000));
		const kept = log.user("and now?");
		answer(log, 111_000);
		log.compaction("What was done so far.", kept);
		log.step("read", { path: "b" }, words(9_000));
		log.user("go on");
		const before = sizeAt(log);
		log.compress([range("m7", "m8", "Read b.")], bareSettings);
		expect(shown(log.view())).toEqual(["m6", "m4", "m5", "b1", "m9", "m10", "m11"]);
		expect(sizeAt(log)).toBeLessThan(before);
	});

	it.each([
		["Chinese", "你好世界".repeat(2_500), 7_000, 15_000],
		["kana", "ひらがなとカタカナ".repeat(1_000), 5_000, 12_000],
		["hangul", "안녕하세요세상".repeat(1_000), 4_000, 10_000],
		["emoji", "🚀🔥✅".repeat(1_000), 3_000, 9_000],
		["fullwidth letters", "Ｆｕｌｌｗｉｄｔｈ".repeat(1_000), 9_000, 20_000],
	])("is not a quarter of the characters of %s", (_, text, least, most) => {
		const log = new Log();
		log.user(text);
		expect(sizeAt(log)).toBeGreaterThanOrEqual(least);
		expect(sizeAt(log)).toBeLessThanOrEqual(most);
		const mixed = new Log();
		mixed.user(`${words(5_000)}\n${text}`);
		const plain = new Log();
		plain.user(words(5_000));
		expect(Math.abs(sizeAt(mixed) - sizeAt(log) - sizeAt(plain))).toBeLessThan(30);
	});

	it("is nowhere made of characters divided by four", () => {
		const root = fileURLToPath(new URL("../../../", import.meta.url));
		const files = ["kernel", "src"].flatMap((folder) =>
			readdirSync(join(root, folder), { recursive: true, encoding: "utf8" })
				.filter((name) => name.endsWith(".ts"))
				.map((name) => join(root, folder, name)),
		);
		expect(files.length).toBeGreaterThan(50);
		expect(files.filter((file) => /length\)? *\/ *[34]\b/.test(readFileSync(file, "utf8")))).toEqual([]);
	});

	it("counts an image by its pixels, never by its bytes, and hardly at all where the model takes none", () => {
		const png = Buffer.alloc(3_000_000, 7);
		png.set([0x89, 0x50, 0x4e, 0x47, 13, 10, 26, 10, 0, 0, 0, 13]);
		png.write("IHDR", 12);
		png.writeUInt32BE(640, 16);
		png.writeUInt32BE(480, 20);
		const image = (data: Buffer) => ({ type: "image", data: data.toString("base64"), mimeType: "image/png" });
		const log = new Log();
		log.user([image(png)]);
		const small = new Log();
		small.user([image(png.subarray(0, 100))]);
		expect(sizeAt(log)).toBe(sizeAt(small));
		expect(sizeAt(log)).toBeLessThan(450);
		const { calibration, takesImages } = contextAt(log, { model: { ...bigModel, takesImages: false } });
		const view = project(outgoingItems(log.branch(), log.outgoing(), false), contextOf(log.branch(), { takesImages }));
		expect(readingOf(calibration, estimateOf(view)).sizeTokens).toBeLessThan(30);
	});

	it("is the same figure for a range in the nudge, the status and the answer of compress", () => {
		const log = new Log();
		log.user("task");
		for (const name of ["a", "b"]) log.step("read", { path: name }, words(4_000, name));
		answer(log, 30_000);
		log.user("go on");
		const context = contextAt(log, { settings: bareSettings });
		const status = statusOf(log.view(), context);
		const [foldable] = status.foldable;
		const figure = formatTokens(foldable?.sizeTokens ?? 0);
		expect(context.calibration.fit.perToken).toBeGreaterThan(1.5);
		const nudge = nudgeText("soft", { ranges: status.foldable, run: undefined }, status.reading, context.window);
		expect(nudge).toContain(`6 messages, ${figure} tokens`);
		expect(statusText(status, "ranges", 20)).toContain(`6 messages, ${figure} tokens`);
		const plan = log.compress([range("m1", "m6", "All.")], bareSettings);
		expect(foldText(plan, context)).toContain(`6 messages, ${figure} → `);
		const after = statusOf(log.view(), { ...context, branch: log.branch() });
		expect(statusText(after, "blocks", 20)).toContain(`6 messages, ${figure} → `);
	});
});

describe("what a calibration is made of", () => {
	it("is nothing before the first report", () => {
		expect(contextAt(new Log()).calibration).toEqual({ fit: unfitted, anchor: undefined });
		expect(contextAt(asked(undefined)).calibration).toEqual({ fit: unfitted, anchor: undefined });
	});

	it("is the report beside the view it was made for, without the answer", () => {
		const log = new Log();
		log.user(words(5_000));
		const estimate = estimateOf(log.view());
		answer(log, 9_000, { text: words(3_000) });
		log.user("more");
		const { calibration } = contextAt(log);
		expect(calibration.anchor).toEqual({ estimate, reportedTokens: 9_000, isForeign: false });
		expect(calibration.fit.perToken).toBeGreaterThan(1.5);
	});

	it.each([
		["failed", { stopReason: "error" }],
		["was aborted", { stopReason: "aborted" }],
	])("is no report of an answer that %s", (_, over) => {
		const log = asked(30_000);
		log.user("more");
		answer(log, 90_000, over);
		expect(contextAt(log).calibration.anchor?.reportedTokens).toBe(30_000);
	});

	it("is no report of zero, none of a small request beside the conversation, and none that cannot be", () => {
		const log = asked(30_000);
		for (const reportedTokens of [0, 900, 99_000_000]) answer(log, reportedTokens);
		expect(contextAt(log).calibration).toEqual(contextAt(asked(30_000)).calibration);
	});

	it("is the size that a refusal names", () => {
		const log = asked(30_000);
		log.step("read", { path: "a" }, words(80_000));
		failure(log, "prompt is too long: 155000 tokens > 130000 maximum");
		expect(contextAt(log).calibration.anchor?.reportedTokens).toBe(155_000);
		expect(sizeAt(log)).toBe(155_000);
	});

	it("is not the limit that a refusal names where the view is larger than that", () => {
		const log = asked(30_000);
		log.step("read", { path: "a" }, words(80_000));
		failure(log, "maximum context length is 64000 tokens");
		expect(contextAt(log).calibration.anchor?.reportedTokens).toBe(30_000);
	});

	it("is of the model in use; of another one only while it has reported nothing itself", () => {
		const log = new Log();
		log.user(words(20_000));
		answer(log, 20_000);
		log.user("more");
		answer(log, 40_000, { model: "huge" });
		expect(contextAt(log).calibration.anchor).toMatchObject({ reportedTokens: 20_000, isForeign: false });
		const { fit, anchor } = contextAt(log, { model: { ...bigModel, key: "acme/third" } }).calibration;
		expect(fit).toEqual(unfitted);
		expect(anchor).toMatchObject({ reportedTokens: 40_000, isForeign: true });
	});

	it("is of the model that answered last, where the model in use sends requests to others", () => {
		const log = asked(30_000);
		log.user("more");
		answer(log, 60_000, { model: "huge" });
		const { anchor } = contextAt(log, { model: { ...bigModel, key: undefined } }).calibration;
		expect(anchor).toMatchObject({ reportedTokens: 60_000, isForeign: false });
	});

	it("is of answers that name no model, where none does", () => {
		const log = new Log();
		log.user(words(20_000));
		answer(log, 40_000, JSON.parse('{"provider":null,"model":null}'));
		const unnamed = new Log();
		unnamed.user(words(20_000));
		const usage = { input: 40_000, output: 1, cacheRead: 0, cacheWrite: 0, totalTokens: 40_001 };
		unnamed.assistant("ok", [], { usage });
		const { anchor } = contextAt(unnamed, { model: { ...bigModel, key: undefined } }).calibration;
		expect(anchor).toMatchObject({ reportedTokens: 40_000, isForeign: false });
	});

	it("is of the latest reports alone: sixteen of them, no more than 400 entries ago", () => {
		const log = new Log();
		log.user(words(2_000));
		answer(log, 6_000);
		for (let round = 0; round < 16; round++) answer(log, undefined, { text: "" });
		const latest = contextAt(log).calibration;
		expect(latest.anchor?.reportedTokens).toBe(6_000);
		for (let entry = 0; entry < 400; entry++) log.other();
		expect(contextAt(log).calibration).toEqual({ fit: unfitted, anchor: undefined });
		const moved = new Log();
		moved.user(words(2_000));
		answer(moved, 6_000);
		for (let round = 0; round < 16; round++) answer(moved, Math.round(viewTokens(moved.view())), { text: "" });
		expect(contextAt(moved).calibration.fit.perToken).toBeCloseTo(1, 1);
	});
});

describe("a nudge", () => {
	it("is looked for before each request of a long turn, not at its end", () => {
		const compress = { ...defaultSettings.compress, keepTokens: 0, stepTokens: 50_000 };
		const over = { settings: { ...bareSettings, compress }, model: { ...bigModel, windowTokens: 2_000_000 } };
		const log = new Log();
		log.user("task");
		const meter = new Meter();
		const sizesTokens = [0];
		for (let step = 1; step <= 50; step++) {
			answer(log, viewTokens(log.view()), { text: "", calls: [{ name: "read", arguments: { path: `${step}` } }] });
			log.result(words(5_000, `n${step}-`));
			const context = contextAt(log, over, meter);
			const view = project(outgoingItems(context.branch, log.outgoing()), context);
			if (view.nudge === undefined) continue;
			sizesTokens.push(view.nudge.sizeTokens);
			log.operation({ kind: "nudge", sizeTokens: view.nudge.sizeTokens });
		}
		const grownTokens = sizesTokens.slice(1).map((sizeTokens, index) => sizeTokens - (sizesTokens[index] ?? 0));
		expect(grownTokens.length).toBeGreaterThan(4);
		for (const sizeTokens of grownTokens) {
			expect(sizeTokens).toBeGreaterThan(48_000);
			expect(sizeTokens).toBeLessThan(60_000);
		}
	});
});

describe("a meter that is kept", () => {
	it("measures anew when tags or images no longer count", () => {
		const log = new Log();
		log.user([{ type: "image", data: "aGk=", mimeType: "image/png" }]);
		answer(log, 5_000);
		const meter = new Meter();
		const sizes = [
			contextAt(log, {}, meter),
			contextAt(log, { isActive: false }, meter),
			contextAt(log, { model: { ...bigModel, takesImages: false } }, meter),
		].map(({ calibration }) => calibration.anchor?.estimate.sizeTokens ?? 0);
		const whole = messageTokens(log.branch().message(1)?.message ?? expect.unreachable());
		expect(sizes).toEqual([whole + 8, whole, whole + 8 - 1_590]);
	});
});
