/**
 * Choice: options and arguments, refused at the entry point when they are unknown or have a value that
 * they do not take.
 *
 * Callers in JavaScript have no compiler to tell them of a misspelt word; taken in silence it would
 * mean whatever the code does with what it does not know.
 */

import { VerbatimError } from "./errors.ts";
import { oneLine } from "./one-line.ts";

const SHOWN_CHARS_MAX = 40;

/** Refuses with BAD_SETTING a value that is none of the choices; undefined is to choose nothing. */
export function checkChoice(option: string, value: unknown, choices: readonly unknown[]): void {
  if (value !== undefined) requireChoice(option, value, choices);
}

/** The same where something must be chosen. */
export function requireChoice(option: string, value: unknown, choices: readonly unknown[]): void {
  if (choices.includes(value)) return;
  const allowed = choices.map(shown);
  const last = allowed.pop();
  const all = allowed.length === 0 ? last : `${allowed.join(", ")} or ${last}`;
  throw badOption(option, `cannot be ${shown(value)}; choose ${all}`);
}

/** `reason` says what is wrong with the option's value, and what to give instead. */
export function badOption(option: string, reason: string): VerbatimError<"BAD_SETTING"> {
  const details = { setting: option, from: "options", reason };
  return new VerbatimError("BAD_SETTING", `the option ${option} ${reason}`, details);
}

/** What an option takes. `any`: another check judges its value. */
export type OptionKind = "string" | "text" | "boolean" | "count" | "function" | "object" | "any";

/** Every option of an interface, and what it takes: none can be left out or misspelt here. */
export type OptionKinds<Options> = Readonly<Record<keyof Options, OptionKind>>;

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
 * Refuses with BAD_SETTING options that are not an object, an option that does not exist, and a value
 * of the wrong kind. `of` names who takes them: `JsonlEngine.open`.
 */
export function checkOptions(of: string, options: unknown, kinds: OptionKinds<object>): void {
  const known = kinds as Readonly<Record<string, OptionKind>>;
  checkData(of, options, "options");
  for (const [name, value] of Object.entries(options as object)) {
    if (value === undefined) continue;
    const kind = Object.hasOwn(known, name) ? known[name] : undefined;
    if (kind === undefined) throw unknownOption(of, name, Object.keys(known));
    checkKind(name, value, kind);
  }
}

/** Refuses with BAD_SETTING a value that is not of its kind. */
export function checkKind(option: string, value: unknown, kind: OptionKind): void {
  const [wanted, isOne] = KINDS[kind];
  if (!isOne(value)) throw badOption(option, `cannot be ${shown(value)}; give ${wanted}`);
}

/** The same where an argument has no name of an option. */
export function badArgument(
  of: string,
  reason: string,
  cause?: unknown,
): VerbatimError<"BAD_SETTING"> {
  const details = { setting: of, from: "arguments", reason };
  const because = cause === undefined ? {} : { cause };
  return new VerbatimError("BAD_SETTING", `${of} ${reason}`, details, because);
}

/** Refuses with BAD_SETTING what is not an object with fields. */
export function checkData(of: string, given: unknown, name = "data"): void {
  if (typeof given === "object" && given !== null && !Array.isArray(given)) return;
  throw badArgument(of, `takes its ${name} as an object, not ${shown(given)}`);
}

/** Refuses with BAD_SETTING what is not bytes. */
export function checkBytes(of: string, data: unknown): void {
  if (data instanceof Uint8Array) return;
  throw badArgument(of, "takes bytes, a Uint8Array; encodeLine gives those of a JSON value");
}

/** Refuses with BAD_SETTING a stretch of a file whose place or length is not a whole number. */
export function checkStretch(bytePos: unknown, length: unknown): void {
  checkWhole("bytePos", bytePos);
  checkWhole("length", length);
}

/** Refuses with BAD_SETTING what is not a whole number from 0 on. */
export function checkWhole(option: string, value: unknown): void {
  if (Number.isSafeInteger(value) && (value as number) >= 0) return;
  throw badOption(option, `cannot be ${shown(value)}; give a whole number from 0 on`);
}

/**
 * Milliseconds of `2026-11-15` or `2026-11-15T10:00:00Z`, NaN where there is no such time: by itself
 * `Date.parse` takes 30 February for 2 March, and 24:00 for the day after (V8 of Node 20).
 */
export function momentOf(text: string): number {
  const day = text.slice(0, 10);
  const midnight = new Date(`${day}T00:00:00Z`);
  const isDay = !Number.isNaN(midnight.getTime()) && midnight.toISOString().startsWith(day);
  return isDay && text.slice(11, 13) !== "24" ? Date.parse(text) : Number.NaN;
}

/** For the constructor of a class whose objects only its own `open` can make. */
export function notByNew(name: string, instead: string): VerbatimError<"BAD_SETTING"> {
  return badArgument(`new ${name}`, `makes nothing that works; use ${instead}`);
}

function unknownOption(of: string, name: string, known: readonly string[]): VerbatimError {
  const plain = (word: string) => word.replaceAll(/[_-]/g, "").toLowerCase();
  const meant = known.find((option) => plain(option) === plain(name));
  const hint = meant === undefined ? `it takes ${known.join(", ")}` : `did you mean ${meant}?`;
  return badOption(oneLine(name, SHOWN_CHARS_MAX), `is not one of ${of}'s: ${hint}`);
}

/** Only what is short and says something: a caller may have put anything there. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(oneLine(value, SHOWN_CHARS_MAX));
  if (Array.isArray(value)) return "a list";
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "function" ? "a function" : oneLine(String(value), SHOWN_CHARS_MAX);
}
