/**
 * Choice: options that take one of a few values, refused at the door when they have another.
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

/** Only what is short and says something: a caller may have put anything there. */
function shown(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(oneLine(value, SHOWN_CHARS_MAX));
  if (typeof value === "object" && value !== null) return "an object";
  return typeof value === "function" ? "a function" : oneLine(String(value), SHOWN_CHARS_MAX);
}
