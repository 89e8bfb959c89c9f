/**
 * Python: what the original, which is written in Python, would print for a JSON value.
 *
 * Owns numbers, JSON texts and truth; `title.ts` has `str.title()`. All take values as `JSON.parse`
 * gives them. No Python is run: the tests compare with one when there is one.
 *
 * P1  A number prints as Python would print what it reads in *our* line. JSON.stringify writes 1.0
 *     as `1` and -0 as `0`, so those print `1` and `0`; whole numbers from 1e21 on are written with
 *     an exponent and so are floats to Python. Markdown written live thus equals markdown made
 *     from the log.
 * P2  Nothing here throws or recurses, whatever the value: a line may be nested a million deep.
 */

/** Longer texts are printed compactly: indenting can turn a line of 16 MiB into gigabytes. */
export const INDENTED_CHARS_MAX = 64 * 1024 * 1024;

/** Python's repr of a float, or of an int; `Infinity` and `NaN` as Python's json spells them. */
export function pythonNumber(value: number): string {
  if (value === 0) return "0";
  // Python takes the exponent below 1e-4, JavaScript below 1e-6; and writes it with two digits.
  if (Math.abs(value) < 1e-4) return value.toExponential().replace(/-(\d)$/, "-0$1");
  return String(value);
}

/** `format(value, ".{digits}f")`: rounds the exact value of the double, ties to the even digit. */
export function pythonFixed(value: number, digits: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  if (Math.abs(value) >= 1e21) {
    // toFixed gives up here. Such a number is whole, and Python prints all its digits.
    return `${BigInt(value)}${digits > 0 ? `.${"0".repeat(digits)}` : ""}`;
  }
  const text = (value === 0 ? 0 : value).toFixed(digits);
  // A double lies midway between two such decimals only if it is an odd multiple of
  // 2^-(digits+1). toFixed goes away from zero then; the last digit is odd if that was wrong,
  // so it is at least 1 and nothing is borrowed.
  const isTie = Math.abs(value * 2 ** (digits + 1)) % 2 === 1;
  const last = text.charCodeAt(text.length - 1) - 0x30;
  return isTie && last % 2 === 1 ? `${text.slice(0, -1)}${last - 1}` : text;
}

/** Whether Python's `if value:` takes the branch. An absent value is None. */
export function isTruthy(value: unknown): boolean {
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object" && value !== null) return Object.keys(value).length > 0;
  // NaN is true to Python, and the only value that is not itself.
  return Boolean(value) || Number.isNaN(value);
}

/** What stands where Python interpolates: null and absent are empty, non-strings compact JSON. */
export function printed(value: unknown): string {
  if (typeof value === "string") return value;
  return value === null || value === undefined ? "" : compactJson(value);
}

/** `json.dumps(value, indent=2)`: ASCII only. Compact when it would pass `charsMax` characters. */
export function pythonJson(value: unknown, charsMax = INDENTED_CHARS_MAX): string {
  return printJson(value, PYTHON, charsMax) ?? compactJson(value);
}

/** The same for a file that must be readable: Infinity and NaN, which JSON has not, are null. */
export function pythonJsonFile(value: unknown, charsMax = INDENTED_CHARS_MAX): string {
  return (
    printJson(value, { ...PYTHON, nonFinite: "null" }, charsMax) ??
    printText(value, { ...COMPACT, nonFinite: "null" })
  );
}

/** JSON without spaces, characters as they are, numbers as Python's. */
export function compactJson(value: unknown): string {
  return printText(value, COMPACT);
}

interface Style {
  readonly indent: string | null;
  readonly string: (text: string) => string;
  /** What Infinity and NaN print as; null for Python's names. */
  readonly nonFinite: "null" | null;
}

const PYTHON: Style = { indent: "  ", string: asciiString, nonFinite: null };
const COMPACT: Style = { indent: null, string: JSON.stringify, nonFinite: null };

/** A list or object being printed. */
interface Open {
  readonly keys: readonly string[] | null;
  readonly values: readonly unknown[];
  next: number;
}

function printText(value: unknown, style: Style): string {
  return printJson(value, style, Number.POSITIVE_INFINITY) ?? "";
}

/** Null when the text would be longer than `charsMax`. A stack of its own, because of P2. */
function printJson(root: unknown, style: Style, charsMax: number): string | null {
  const stack: Open[] = [];
  let text = "";
  const print = (value: unknown) => {
    const opened = open(value);
    if (opened) stack.push(opened);
    text += opened ? (opened.keys ? "{" : "[") : printScalar(value, style);
  };
  const newLine = () => {
    if (style.indent !== null) text += `\n${style.indent.repeat(stack.length)}`;
  };
  print(root);
  for (let top = stack.at(-1); top; top = stack.at(-1)) {
    if (text.length > charsMax) return null;
    if (top.next === top.values.length) {
      stack.pop();
      newLine();
      text += top.keys ? "}" : "]";
      continue;
    }
    if (top.next > 0) text += ",";
    newLine();
    const key = top.keys?.[top.next];
    if (key !== undefined) text += style.string(key) + (style.indent === null ? ":" : ": ");
    print(top.values[top.next++]);
  }
  return text.length > charsMax ? null : text;
}

/** Null for what prints in one piece: scalars, and lists and objects with nothing in them. */
function open(value: unknown): Open | null {
  if (typeof value !== "object" || value === null) return null;
  if (Array.isArray(value)) return value.length > 0 ? { keys: null, values: value, next: 0 } : null;
  const entries = Object.entries(value).filter(([, held]) => held !== undefined);
  if (entries.length === 0) return null;
  return { keys: entries.map(([key]) => key), values: entries.map(([, held]) => held), next: 0 };
}

function printScalar(value: unknown, style: Style): string {
  switch (typeof value) {
    case "string":
      return style.string(value);
    case "number":
      return Number.isFinite(value) ? pythonNumber(value) : (style.nonFinite ?? String(value));
    case "boolean":
    case "bigint":
      return String(value);
    case "object":
      if (value === null) return "null";
      return Array.isArray(value) ? "[]" : "{}";
    default:
      return "null";
  }
}

/** JSON.stringify leaves DEL and everything past ASCII bare; Python escapes each UTF-16 unit. */
function asciiString(text: string): string {
  return JSON.stringify(text).replace(
    /[^ -~]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
