/**
 * Choice: checks options and arguments where they enter, and refuses with BAD_SETTING.
 *
 * JavaScript callers have no compiler to catch a misspelt option; ignored silently, it would change
 * what the code does.
 */

import { VerbatimError } from "./errors.ts";
import { oneLine } from "./one-line.ts";

const SHOWN_CHARS_MAX = 40;

/** Refuses a value that is not one of the choices; undefined means that none was made. */
export function checkChoice(option: string, value: unknown, choices: readonly unknown[]): void {
  if (value !== undefined) requireChoice(option, value, choices);
}

/** Like `checkChoice`, for a value that is required. */
export function requireChoice(option: string, value: unknown, choices: readonly unknown[]): void {
  if (choices.includes(value)) return;
  const allowed = choices.map(valueText);
  const last = allowed.pop();
  const all = allowed.length === 0 ? last : `${allowed.join(", ")} or ${last}`;
  throw badOption(option, `cannot be ${valueText(value)}; choose ${all}`);
}

/** `reason`: what is wrong with the value, and what to pass instead. */
export function badOption(option: string, reason: string): VerbatimError<"BAD_SETTING"> {
  const details = { setting: option, from: "options", reason };
  return new VerbatimError("BAD_SETTING", `the option ${option} ${reason}`, details);
}

/** The type of an option's value. `any`: checked elsewhere. */
export type OptionKind = "string" | "text" | "boolean" | "count" | "function" | "object" | "any";

/** Every option of an interface with its type. The compiler reports a missing or misspelt one. */
export type OptionKinds<Options> = Readonly<Record<keyof Options, OptionKind>>;

/** Options that are checked by their kind, or by a list of all their values. */
export type OwnOptions<Options> = Readonly<Record<keyof Options, OptionKind | readonly unknown[]>>;

const KINDS: Readonly<Record<OptionKind, readonly [string, (value: unknown) => boolean]>> = {
  string: ["text", (value) => typeof value === "string"],
  text: ["text that is not empty", (value) => typeof value === "string" && value !== ""],
  boolean: ["true or false", (value) => typeof value === "boolean"],
  count: ["a number from 0 on", (value) => typeof value === "number" && value >= 0],
  function: ["a function", (value) => typeof value === "function"],
  object: ["an object", (value) => typeof value === "object" && value !== null],
  any: ["anything", () => true],
};

/**
 * Refuses options that are not an object, an option that does not exist, and a value of the wrong
 * type. `of` names the function that takes them: `openStreams`.
 */
export function checkOptions(of: string, options: unknown, kinds: OptionKinds<object>): void {
  const kindByName = kinds as Readonly<Record<string, OptionKind>>;
  checkData(of, options, "options");
  for (const [name, value] of Object.entries(options as object)) {
    if (value === undefined) continue;
    const kind = Object.hasOwn(kindByName, name) ? kindByName[name] : undefined;
    if (kind === undefined) throw unknownOption(of, name, Object.keys(kindByName));
    checkKind(name, value, kind);
  }
}

export function checkKind(option: string, value: unknown, kind: OptionKind): void {
  const [wanted, isOne] = KINDS[kind];
  if (!isOne(value)) throw badOption(option, `cannot be ${valueText(value)}; give ${wanted}`);
}

/**
 * The directory that the options name, by `root` or by the word of the document that the caller
 * follows; refuses none and both.
 */
export function rootIn(of: string, options: object, documents: string): string {
  const values = options as Readonly<Record<string, unknown>>;
  const names = ["root", documents].filter((name) => values[name] !== undefined);
  const [name = "root"] = names;
  if (names.length > 1) throw badOption(documents, `of ${of} is another word for root; give one`);
  checkKind(name, values[name], "text");
  return values[name] as string;
}

/** Like `badOption`, for an argument that has no option name. */
export function badArgument(
  of: string,
  reason: string,
  cause?: unknown,
): VerbatimError<"BAD_SETTING"> {
  const details = { setting: of, from: "arguments", reason };
  const because = cause === undefined ? {} : { cause };
  return new VerbatimError("BAD_SETTING", `${of} ${reason}`, details, because);
}

/** Refuses a value that is not an object with fields. */
export function checkData(of: string, data: unknown, name = "data"): void {
  if (typeof data === "object" && data !== null && !Array.isArray(data)) return;
  throw badArgument(of, `takes its ${name} as an object, not ${valueText(data)}`);
}

/** Refuses a value that is not a list of objects. */
export function checkList(of: string, list: unknown, name: string): void {
  if (!Array.isArray(list))
    throw badArgument(of, `takes a list of ${name}, not ${valueText(list)}`);
  for (const item of list) checkData(of, item, name);
}

/** Refuses a value that is not bytes. */
export function checkBytes(of: string, data: unknown): void {
  if (data instanceof Uint8Array) return;
  throw badArgument(of, "takes bytes, a Uint8Array; encodeLine makes them from a JSON value");
}

/** Refuses a byte range whose start or length is not a whole number. */
export function checkStretch(bytePos: unknown, length: unknown): void {
  checkWhole("bytePos", bytePos);
  checkWhole("length", length);
}

/** Refuses a value that is not a whole number from 0 up. */
export function checkWhole(option: string, value: unknown): void {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return;
  throw badOption(option, `cannot be ${valueText(value)}; give a whole number from 0 on`);
}

/**
 * Milliseconds of `2026-11-15` or `2026-11-15T10:00:00Z`; NaN when no such time exists.
 * `Date.parse` alone reads 30 February as 2 March, and 24:00 as the day after (V8 of Node 20).
 */
export function momentOf(text: string): number {
  const day = text.slice(0, 10);
  const midnight = new Date(`${day}T00:00:00Z`);
  const isDay = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
  return isDay && text.slice(11, 13) !== "24" ? Date.parse(text) : Number.NaN;
}

/** For the constructor of a class that is only made by its own `open`. */
export function notByNew(name: string, instead: string): VerbatimError<"BAD_SETTING"> {
  return badArgument(`new ${name}`, `cannot be called directly; use ${instead}`);
}

/** The choice that was probably meant: the same, or the same after a letter is taken from each. */
export function nearest(word: string, choices: readonly string[]): string | null {
  const plain = (text: string) => text.slice(0, SHOWN_CHARS_MAX).replace(/[_-]/g, "").toLowerCase();
  const cuts = (of: string) => [...`${of} `].map((_, n) => of.slice(0, n) + of.slice(n + 1));
  const wordCuts = cuts(plain(word));
  const isNear = (each: string) => cuts(plain(each)).some((cut) => wordCuts.includes(cut));
  return choices.find((each) => plain(each) === plain(word)) ?? choices.find(isNear) ?? null;
}

function unknownOption(of: string, name: string, optionNames: readonly string[]): VerbatimError {
  const meant = nearest(name, optionNames);
  const hint = meant === null ? `it takes ${optionNames.join(", ")}` : `did you mean ${meant}?`;
  return badOption(oneLine(name, SHOWN_CHARS_MAX), `is not an option of ${of}: ${hint}`);
}

/** Short and on one line: a caller may have passed anything. */
function valueText(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(oneLine(value, SHOWN_CHARS_MAX));
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "function" ? "a function" : oneLine(String(value), SHOWN_CHARS_MAX);
}
