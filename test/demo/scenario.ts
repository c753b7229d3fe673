import type { ScriptedCall } from "../support/provider.ts";
import type { Result } from "./request.ts";

/** What the scripted model does next: it says something, calls tools, or both. */
export interface Move {
	readonly say?: string;
	readonly calls: readonly ScriptedCall[];
}

/** The work on one prompt: each move is answered with the texts of its results; the last thing said ends it. */
export type Work = Generator<Move, string, readonly string[]>;

/** A prompt of the user and how the model works on it. */
export interface Turn {
	readonly prompt: string;
	readonly work: () => Work;
}

const testCommand = "node --no-warnings --test --test-reporter=spec test/*.spec.ts";
const replayCommand = "node --no-warnings scripts/replay.ts --month 2026-05";

/** A session on the sample project in project/. */
export const turns: readonly Turn[] = [
	{
		prompt: "Get to know this service: how does the total of an order come about?",
		*work() {
			yield {
				say: "I start with the layout and the rules.",
				calls: [bash("find . -type f | sort"), ...reads("README.md", "docs/pricing.md")],
			};
			yield { calls: reads("src/types.ts", "src/money.ts", "src/catalog.ts") };
			yield { calls: reads("src/tax.ts", "src/shipping.ts", "src/service.ts", "src/store.ts", "src/invoice.ts") };
			return "A total is the lines less discounts, plus shipping, plus VAT for each rate, all in whole cents; docs/pricing.md numbers the rules and decides where code and rules differ. `priceOrder` in src/pricing.ts puts it together.";
		},
	},
	{
		prompt: "Order 1042 was charged 87.31, accounting says 87.30, and a test is red. Why? Change nothing yet.",
		*work() {
			yield { say: "The red test first.", calls: [bash(testCommand)] };
			yield { calls: reads("test/pricing.spec.ts", "src/pricing.ts", "src/coupons.ts") };
			return "`takePercentCoupon` rounds the discount of every line by itself: 2.28 + 5.24 + 4.87 = 12.39. Rule 2.3 wants it once on the sum: 15 % of 82.65 is 12.40. The customer lost a cent.";
		},
	},
	{
		prompt: "Is it the only one? Price last month again and count.",
		*work() {
			const [replay = ""] = yield { say: "I price all of May again.", calls: [bash(replayCommand)] };
			const [count] = yield {
				say: "To be sure of the figure, the count alone.",
				calls: [bash(`${replayCommand} --summary`)],
			};
			return `It is not: ${count?.trim() || lastLine(replay)}. The others differ by a cent in the customer's favour.`;
		},
	},
	{
		prompt: "Fix it, and show me that the tests pass.",
		*work() {
			const [hits = ""] = yield {
				say: "I need the exact lines again; they are folded by now.",
				calls: [{ name: "search_context", arguments: { query: "takePercentCoupon percentOf netCents" } }],
			};
			yield* openUntil(firstHit(hits), oldCode);
			yield {
				calls: [
					{ name: "edit", arguments: { path: "src/pricing.ts", edits: [{ oldText: oldCode, newText: newCode }] } },
				],
			};
			const [tests = "", count = ""] = yield {
				say: "Tests and replay once more.",
				calls: [bash(testCommand), bash(`${replayCommand} --summary`)],
			};
			return `Done. src/pricing.ts takes the percentage once and spreads it over the lines (rules 2.3 and 2.4). Tests: ${passed(tests)}. ${lastLine(count)}.`;
		},
	},
];

/** Opens a block page by page until a page shows a text. */
function* openUntil(id: string, wanted: string): Work {
	for (let page = 1; ; page++) {
		const [text = ""] = yield { calls: [{ name: "decompress", arguments: page === 1 ? { id } : { id, page } }] };
		if (text.includes(wanted)) return text;
		if (!text.includes(`next: page ${page + 1}`)) throw new Error(`${id} does not show the code to edit:\n${text}`);
	}
}

/** The best hit that is a block. */
function firstHit(hits: string): string {
	const block = /^b\d+(?= \()/m.exec(hits)?.[0];
	if (block === undefined) throw new Error(`the search found no block:\n${hits}`);
	return block;
}

function passed(tests: string): string {
	return `${/pass (\d+)/.exec(tests)?.[1] ?? "?"} pass, ${/fail (\d+)/.exec(tests)?.[1] ?? "?"} fail`;
}

function lastLine(text: string): string {
	return text.trim().split("\n").at(-1) ?? "";
}

function bash(command: string): ScriptedCall {
	return { name: "bash", arguments: { command } };
}

function reads(...paths: string[]): ScriptedCall[] {
	return paths.map((path) => ({ name: "read", arguments: { path } }));
}

/** The lines with the bug, and what the model puts in their place. */
export const oldCode = `	return lines.map((line) => ({
		...line,
		discountCents: appliesTo(coupon, line) ? percentOf(line.netCents, coupon.percent) : 0,
	}));`;

export const newCode = `	const eligible = lines.map((line) => (appliesTo(coupon, line) ? line.netCents : 0));
	const parts = spread(percentOf(sum(eligible), coupon.percent), eligible);
	return lines.map((line, index) => ({ ...line, discountCents: parts[index] ?? 0 }));`;

/** What the model keeps of the results in a range when it folds them. */
export function summaryOf(results: readonly Result[]): { topic: string; summary: string } {
	const topic = topics.find(([pattern]) => results.some(({ call }) => pattern.test(subject(call.arguments))))?.[1];
	return {
		topic: topic ?? "earlier work",
		summary: results
			.map((result) => noteOn(result))
			.filter(Boolean)
			.join("\n"),
	};
}

const topics: readonly (readonly [RegExp, string])[] = [
	[/docs\/pricing\.md/, "how a total comes about"],
	[/src\/pricing\.ts/, "why order 1042 is a cent off"],
	[/replay/, "May 2026 priced again"],
];

function subject(args: Result["call"]["arguments"]): string {
	return String(args.path ?? args.command ?? "");
}

function noteOn({ call, text }: Result): string {
	const on = subject(call.arguments);
	if (call.name === "read") return notes[on] ?? `${on}: read, nothing of it is needed.`;
	if (on.includes("replay")) return replayNote(text);
	if (on.includes("--test")) return testNote(text);
	return "";
}

function testNote(text: string): string {
	const red = [...text.matchAll(/✖ (.*\(\d\.\d\)) /g)].map(([, name]) => name);
	const values = /\d+ !== \d+/.exec(text)?.[0];
	return `\`${testCommand}\`: ${passed(text)}. Red: "${[...new Set(red)].join('", "')}"${values ? ` (${values})` : ""}.`;
}

function replayNote(text: string): string {
	const wrong = text.split(/^(?=order )/m).filter((order) => order.includes("WRONG"));
	const ids = wrong.map((order) => /^order (\d+)/.exec(order)?.[1]);
	return `\`${replayCommand}\`: ${lastLine(text)}. Wrong orders: ${ids.join(", ")}. All of them have a percentage coupon on two lines or more; each is off by one cent, in either direction.`;
}

/** What is worth knowing of a file once it was read. */
const notes: Readonly<Record<string, string>> = {
	"README.md":
		"Amounts are integers in cents (`…Cents`); docs/pricing.md decides where the code differs. Released totals are never changed, a wrong charge gets a credit note. Tests: Node's own runner, no build step.",
	"docs/pricing.md":
		"docs/pricing.md v7: 2.3 a percentage coupon is computed ONCE on the sum of the lines it applies to, rounded half up; 2.4 then spread over the lines, remainder to the largest fractions; 2.5 fixed coupons after it, 2.6 no negative line; 3.2 free shipping in zone 1 from 150.00 after discounts; 4.1 VAT once per rate, 4.2 shipping at the standard rate; 5.2 a stored total is never computed again. Orders before 2026-05-01 keep their old discount.",
	"src/types.ts":
		"src/types.ts: OrderRequest { customer, country, lines: {sku, quantity}[], percentCoupon?, fixedCoupon? } → Totals { lines: PricedLine[], subtotalCents, discountCents, shippingCents, taxes, totalCents }.",
	"src/money.ts":
		"src/money.ts: percentOf(amountCents, percent) rounds half up; spread(amountCents, weights): number[] adds up exactly; formatCents(cents).",
	"src/catalog.ts": "src/catalog.ts: 56 products, findProduct(sku), allProducts().",
	"src/tax.ts": "src/tax.ts: taxRate(country, category), standardRate(country).",
	"src/shipping.ts": "src/shipping.ts: shippingFee(country, weightGrams, netCents).",
	"src/service.ts": "src/service.ts: OrderService quote/place/change/invoice, on priceOrder and OrderStore.",
	"src/store.ts": "src/store.ts: in memory, a version for each write.",
	"src/invoice.ts": "src/invoice.ts: invoiceText(order), from stored amounts only.",
	"test/pricing.spec.ts":
		"test/pricing.spec.ts: order 1042 is T129 + G136 + B122 with SPRING15, subtotal 8265, expected discount 1240.",
	"src/pricing.ts":
		"src/pricing.ts: priceOrder = priceLine → takePercentCoupon → takeFixedCoupon → shippingFee → taxesOf. CAUSE: takePercentCoupon calls percentOf(line.netCents, coupon.percent) for every line, so each line rounds by itself (against 2.3). takeFixedCoupon already spreads one amount with spread(); the fix is to do the same. Still open.",
	"src/coupons.ts":
		"src/coupons.ts: findCoupon(code, kind), appliesTo(coupon, line); SPRING15 15 % on all, GARDEN12 12.5 %, TOOLS7 7 %, READER10 10 %.",
};
