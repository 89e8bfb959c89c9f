/**
 * Python: what the original, which is written in Python, would print for a JSON value.
 *
 * Owns numbers, JSON texts and truthiness; markdown.ts has `str.title()`. All take values of
 * `JSON.parse`. No Python is run; the tests compare with one if it is installed.
 *
 * A number prints as Python would print what it reads in the line. In *our* lines, JSON.stringify
 * writes 1.0 as `1` and -0 as `0`, so those print `1` and `0`; integers from 1e21 on are written
 * with an exponent and so are floats to Python. So markdown written live equals markdown made from
 * the log. Python itself writes `30.0`, `1e16` and integers of any length: where a value alone does
 * not say how Python prints it, `withPythonNumbers` keeps its spelling.
 *
 * Nothing here throws or recurses, whatever the value: a line may be nested a million deep.
 */

import { parseWithSource, SourceNumber } from "../../core/base/exact-numbers.ts";
import { type JsonStyle, printJson } from "../../core/base/print-json.ts";

/** Longer texts are printed compactly: indenting can turn a line of 16 MiB into gigabytes. */
export const INDENTED_CHARS_MAX = 64 * 1024 * 1024;

/** Only these can be numbers that print differently in Python. */
const MAY_DIFFER = /\d\.0|\d[eE]|\d{16}|-0/;

/** The line's value with the spelling of its numbers; undefined if none can need it. */
export function withPythonNumbers(line: string): unknown {
  if (!MAY_DIFFER.test(line)) return undefined;
  return parseWithSource(line, (text) => {
    return pythonNumber(new SourceNumber(text)) !== pythonNumber(Number(text));
  });
}

/** Python's repr of a float, or of an int; `Infinity` and `NaN` as Python's json spells them. */
export function pythonNumber(value: number | SourceNumber): string {
  if (value instanceof SourceNumber) {
    // Python's integers are exact, and know no negative zero.
    if (/^-?\d+$/.test(value.text)) return value.text === "-0" ? "0" : value.text;
    return pythonFloat(Number(value.text));
  }
  if (!Number.isFinite(value)) return String(value);
  if (value === 0) return "0";
  // Python uses the exponent below 1e-4, JavaScript below 1e-6; Python writes it with two digits.
  if (Math.abs(value) < 1e-4) return value.toExponential().replace(/-(\d)$/, "-0$1");
  return String(value);
}

/** The same for what Python reads as a float: never without a point or an exponent. */
function pythonFloat(value: number): string {
  if (Object.is(value, -0)) return "-0.0";
  const size = Math.abs(value);
  if (size >= 1e16 && Number.isFinite(size)) {
    return value.toExponential().replace(/\+(\d)$/, "+0$1");
  }
  return Number.isInteger(value) ? `${value}.0` : pythonNumber(value);
}

/** `format(value, ".{digits}f")`: rounds the exact value of the double, ties to the even digit. */
export function pythonFixed(given: number | SourceNumber, digits: number): string {
  const value = given instanceof SourceNumber ? Number(given.text) : given;
  // Only Python's own `-0.0` is one; our `-0` reads as 0.
  const isNegativeZero = given instanceof SourceNumber && pythonNumber(given) === "-0.0";
  if (isNegativeZero) return `-${pythonFixed(0, digits)}`;
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (Math.abs(value) >= 1e21) {
    // toFixed does not work here. Such a number is an integer, and Python prints all its digits.
    return `${BigInt(value)}${digits > 0 ? `.${"0".repeat(digits)}` : ""}`;
  }
  const text = (value === 0 ? 0 : value).toFixed(digits);
  // A double is midway between two such decimals only if it is an odd multiple of 2^-(digits+1).
  // toFixed then rounds away from zero; the last digit is odd if that was wrong, so it is at least
  // 1 and nothing is borrowed.
  const isTie = Math.abs(value * 2 ** (digits + 1)) % 2 === 1;
  const last = text.charCodeAt(text.length - 1) - 0x30;
  return isTie && last % 2 === 1 ? `${text.slice(0, -1)}${last - 1}` : text;
}

/** Whether Python's `if value:` takes the branch. An absent value is None. */
export function isTruthy(value: unknown): boolean {
  if (value instanceof SourceNumber) return Number(value.text) !== 0;
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  // NaN is true in Python, and the only value that does not equal itself.
  return Boolean(value) || Number.isNaN(value);
}

/** What Python's interpolation prints: null and absent are empty, non-strings compact JSON. */
export function printValue(value: unknown): string {
  if (typeof value === "string") return value;
  return value === null || value === undefined ? "" : compactJson(value);
}

/** `json.dumps(value, indent=2)`: ASCII only. Compact if it would exceed `charsMax` characters. */
export function pythonJson(value: unknown, charsMax = INDENTED_CHARS_MAX): string {
  return printJson(value, PYTHON, charsMax) ?? compactJson(value);
}

/** The same for a file that must be valid JSON: Infinity and NaN become null. */
export function pythonJsonFile(value: unknown, charsMax = INDENTED_CHARS_MAX): string {
  return (
    printJson(value, { ...PYTHON, number: finiteNumber }, charsMax) ??
    printWhole(value, { ...COMPACT, number: finiteNumber })
  );
}

/** JSON without spaces, characters unescaped, numbers as in Python. */
export function compactJson(value: unknown): string {
  return printWhole(value, COMPACT);
}

const PYTHON: JsonStyle = { indent: "  ", string: asciiString, number: pythonNumber };
const COMPACT: JsonStyle = { indent: null, string: JSON.stringify, number: pythonNumber };

function printWhole(value: unknown, style: JsonStyle): string {
  return printJson(value, style, Number.POSITIVE_INFINITY) ?? "";
}

/** Infinity and NaN have the same names in Python and JavaScript; JSON has none for them. */
function finiteNumber(value: number | SourceNumber): string {
  const text = pythonNumber(value);
  return /\d/.test(text) ? text : "null";
}

/** JSON.stringify does not escape DEL and non-ASCII; Python escapes each UTF-16 unit. */
function asciiString(text: string): string {
  return JSON.stringify(text).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
