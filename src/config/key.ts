import { type TSchema, Type } from "typebox";
import { Check } from "typebox/value";

/** One setting: its typebox schema, its default, and how a value in a file or in the environment is read. */
export interface Key<T> {
	readonly kind: "key";
	readonly schema: TSchema;
	readonly default: T;
	/** What a value looks like, in words. */
	readonly form: string;
	/** The values allowed, in words; empty when the form says it all. */
	readonly range: string;
	/** Environment variable that beats every file; "" when there is none. */
	readonly environment: string;
	/** The value in the form the code uses; undefined when type or range is wrong. */
	read(value: unknown): T | undefined;
	/** The same for the text of an environment variable. */
	readText(text: string): T | undefined;
}

/** Keys under one name. */
export interface Group {
	readonly kind: "group";
	readonly keys: Readonly<Record<string, Node>>;
}

/** Groups of the same keys under names that the user chooses. */
export interface Table {
	readonly kind: "table";
	readonly each: Group;
}

/** What can stand under a name in the settings. */
export type Node = Key<unknown> | Group | Table;

/** The keys that yield a value of type T, so that a setting without a key is a compile error. */
export type KeysOf<T> = { readonly [Name in keyof T]: NodeOf<T[Name]> };
type Plain = boolean | number | string | readonly string[] | undefined;
type NodeOf<T> = [T] extends [Plain] ? Key<T> : { readonly kind: "group"; readonly keys: KeysOf<T> };

interface KeyOptions<T> {
	readonly default: T;
	readonly environment?: string;
}

interface NumberOptions extends KeyOptions<number> {
	readonly minimum: number;
	readonly maximum: number;
}

/** Collects keys under one name. */
export function group<Keys>(keys: Keys): { readonly kind: "group"; readonly keys: Keys } {
	return { kind: "group", keys };
}

/** Repeats a group under free names. */
export function table(each: Group): Table {
	return { kind: "table", each };
}

const words: Readonly<Record<string, boolean>> = {
	"1": true,
	true: true,
	yes: true,
	on: true,
	"0": false,
	false: false,
	no: false,
	off: false,
};

/** True or false; in the environment also 1, 0, yes, no, on and off. */
export function flag(options: KeyOptions<boolean>): Key<boolean> {
	const schema = Type.Boolean();
	return {
		...described(options, "`true` or `false`", ""),
		schema,
		read: (value) => (Check(schema, value) ? value : undefined),
		readText: (text) => (Object.hasOwn(words, text.toLowerCase()) ? words[text.toLowerCase()] : undefined),
	};
}

/** A whole number. */
export function count(options: NumberOptions): Key<number> {
	const schema = Type.Integer(limits(options));
	const read = (value: unknown) => (Check(schema, value) ? value : undefined);
	return {
		...described(options, "whole number", between(options, written)),
		schema,
		read,
		readText: (text) => read(/^\d+$/.test(text) ? Number(text) : undefined),
	};
}

const tokenText = /^(\d+(?:\.\d+)?)\s*([kKmM]?)$/;
const tokenFactors: Readonly<Record<string, number>> = { k: 1_000, m: 1_000_000 };

/** A number of tokens: 20000, "20000", "20K" or "1M". */
export function tokens(options: NumberOptions): Key<number> {
	const whole = Type.Integer(limits(options));
	const read = (value: unknown) => {
		const amount = typeof value === "string" ? parseTokens(value) : value;
		return Check(whole, amount) ? amount : undefined;
	};
	return {
		...described(options, 'tokens: `20000` or `"20K"`', between(options, written)),
		schema: Type.Union([whole, Type.String({ pattern: tokenText.source })]),
		read,
		readText: read,
	};
}

function parseTokens(text: string): number | undefined {
	const match = tokenText.exec(text);
	return match ? Math.round(Number(match[1]) * (tokenFactors[(match[2] ?? "").toLowerCase()] ?? 1)) : undefined;
}

const percentText = /^(\d+(?:\.\d+)?)\s*%$/;

/** A share of a whole: 0.75 or "75%". */
export function share(options: NumberOptions): Key<number> {
	const part = Type.Number(limits(options));
	const read = (value: unknown) => {
		const amount = typeof value === "string" ? parsePercent(value) : value;
		return Check(part, amount) ? amount : undefined;
	};
	return {
		...described(options, 'share: `0.75` or `"75%"`', between(options, percent)),
		schema: Type.Union([part, Type.String({ pattern: percentText.source })]),
		read,
		readText: (text) => read(/^\d*\.?\d+$/.test(text) ? Number(text) : text),
	};
}

function parsePercent(text: string): number | undefined {
	const match = percentText.exec(text);
	return match ? Number(match[1]) / 100 : undefined;
}

/** A part of a whole: a share of it, at least `least`, or a number of tokens. */
export function portion(options: NumberOptions & { readonly least: number }): Key<number> {
	const part = share({ ...options, minimum: options.least, maximum: 1 });
	const whole = tokens(options);
	const read = (value: unknown) => part.read(value) ?? whole.read(value);
	return {
		...described(options, `${part.form}, or ${whole.form}`, `${part.range}, or ${whole.range}`),
		schema: Type.Union([part.schema, whole.schema]),
		read,
		readText: read,
	};
}

/** A number of tokens, or a word for one that is found elsewhere; the word if not set. */
export function tokensOr<T extends string>(word: T, options: Omit<NumberOptions, "default">): Key<number | T> {
	const whole = tokens({ ...options, default: options.minimum });
	const read = (value: unknown) => (value === word ? word : whole.read(value));
	return {
		...described<number | T>({ ...options, default: word }, `${whole.form}, or \`"${word}"\``, whole.range),
		schema: Type.Union([whole.schema, Type.Literal(word)]),
		read,
		readText: read,
	};
}

/** A list of names, which may be empty; in the environment separated by commas. */
export function names(options: KeyOptions<readonly string[]>): Key<readonly string[]> {
	const schema = Type.Array(Type.String({ minLength: 1 }));
	return {
		...described(options, "list of names", ""),
		schema,
		read: (value) => (Check(schema, value) ? value : undefined),
		readText: (text) =>
			text
				.split(",")
				.map((name) => name.trim())
				.filter((name) => name !== ""),
	};
}

/** One of a few words. */
export function choice<T extends string>(options: KeyOptions<T> & { readonly values: readonly T[] }): Key<T> {
	const schema = Type.Enum([...options.values]);
	const read = (value: unknown) => options.values.find((each) => each === value);
	const listed = options.values.map((value) => `\`"${value}"\``).join(", ");
	return { ...described<T>(options, `one of ${listed}`, ""), schema, read, readText: read };
}

/** The path of a file. */
export function path(options: KeyOptions<string>): Key<string> {
	return matching("path", "^[^\\u0000]+$", options);
}

/** The name of a file without its ending: nothing that leads out of a folder. */
export function fileName(options: KeyOptions<string>): Key<string> {
	return matching("name of a file, without folder and ending", "^(?!\\.)[^/\\\\:\\u0000-\\u001f]{1,100}$", options);
}

function matching(form: string, pattern: string, options: KeyOptions<string>): Key<string> {
	const schema = Type.String({ pattern });
	const read = (value: unknown) => (Check(schema, value) ? value : undefined);
	return { ...described(options, form, ""), schema, read, readText: read };
}

/** A text in place of another one; `null` is the empty text, and what is not set leaves the other one. */
export function text(): Key<string | undefined> {
	const schema = Type.Union([Type.String(), Type.Null()]);
	const read = (value: unknown) => (Check(schema, value) ? (value ?? "") : undefined);
	return {
		...described<string | undefined>({ default: undefined }, "text or `null`", ""),
		schema,
		read,
		readText: read,
	};
}

function described<T>(options: KeyOptions<T>, form: string, range: string) {
	return { kind: "key", default: options.default, form, range, environment: options.environment ?? "" } as const;
}

function limits({ minimum, maximum }: NumberOptions) {
	return { minimum, maximum };
}

function between({ minimum, maximum }: NumberOptions, write: (amount: number) => string): string {
	return `${write(minimum)} to ${write(maximum)}`;
}

/** A whole number with a comma between thousands. Without Intl, whose first use takes 15 ms of a start. */
export function written(amount: number): string {
	return String(amount).replaceAll(/\B(?=(?:\d{3})+$)/g, ",");
}

function percent(amount: number): string {
	return `${Math.round(amount * 100)}%`;
}
