/**
 * Python numbers: what Python's json prints for a number, from its text or its value.
 *
 * To Python a number without fraction and exponent is an int, of any size, and printed digit for
 * digit; every other one is a float, printed by `repr`: the fewest digits that give the same
 * double.
 */

import { assert } from "../base/errors.ts";

/** What `json.dumps(json.loads(text))` prints for a JSON number. */
export function canonicalNumber(text: string): string {
  if (/^-?[0-9]+$/.test(text)) return text === "-0" ? "0" : text;
  return pythonFloat(Number(text));
}

/**
 * How a number of ours is written: an int as long as it is exact, else a float. Past 2^53 an int's
 * digits would claim a precision that a double does not have.
 */
export function writtenNumber(value: number): string {
  // The sign of -0 is lost on purpose: an int has none.
  return Number.isSafeInteger(value) ? String(value) : pythonFloat(value);
}

/** Python's `repr` of a float: like JavaScript's, except for when and how it writes an exponent. */
export function pythonFloat(value: number): string {
  assert(Number.isFinite(value), "JSON has no number that is not finite");
  if (value === 0) return Object.is(value, -0) ? "-0.0" : "0.0";
  const size = Math.abs(value);
  if (size >= 1e-4 && size < 1e16) {
    const text = String(value);
    return text.includes(".") ? text : `${text}.0`;
  }
  // Python's exponent has at least two digits.
  return value.toExponential().replace(/(?<=[+-])(?=[0-9]$)/, "0");
}
