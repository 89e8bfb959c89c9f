/**
 * Canonical JSON: the one text of a JSON value that is hashed and signed, and the text of the file.
 *
 * The canonical form is what Python's `json.dumps(json.loads(text), sort_keys=True,
 * separators=(",", ":"))` prints, since the seed signs that: ASCII, keys by code point, numbers as
 * Python prints them. It is not RFC 8785 (JCS), which reads 1.0 as 1 and sorts by UTF-16.
 *
 * - What is written reads back the same: if `formatPythonJson` returns a text, its `canonicalJson`
 *   is the `canonicalValue` of the value.
 * - A number that was read is written as it was read; `1.0` does not become `1`.
 */

import { assert, VerbatimError } from "../../core/base/errors.ts";
import { asciiJson } from "./checkpoint.ts";
import {
  isJsonMap,
  JSON_LIMITS,
  type JsonFault,
  JsonNumber,
  type JsonRefusal,
  type JsonTree,
  parseJson,
} from "./json-tree.ts";

export type Canonical =
  | { readonly canonical: string; readonly refusal: null }
  | { readonly canonical: undefined; readonly refusal: JsonRefusal };

/** The canonical form of a JSON text, or why it has none. Never throws. */
export function canonicalJson(input: string | Uint8Array): Canonical {
  const { tree, refusal } = parseJson(input);
  if (refusal) return { canonical: undefined, refusal };
  return { canonical: canonicalTree(tree), refusal: null };
}

/** The canonical form of a value to be written; UNSIGNABLE_JSON when it has none. */
export function canonicalValue(value: unknown): string {
  return canonicalTree(jsonTree(value));
}

/** The canonical form of a parsed tree. */
export function canonicalTree(tree: JsonTree): string {
  return printTree(tree, {
    number: ({ text }) => canonicalNumber(text),
    entries: (map) => [...map].sort(([a], [b]) => compareCodePoints(a, b)),
    indent: null,
    charsLeft: Number.POSITIVE_INFINITY,
  });
}

/**
 * The text of a file: Python's `json.dumps(value, indent=…)`, except that numbers keep their
 * original spelling. Refuses with UNSIGNABLE_JSON what could not be read again.
 */
export function formatPythonJson(value: unknown, indent = 2): string {
  const text = printTree(jsonTree(value), {
    number: ({ text }) => text,
    entries: (map) => [...map],
    indent: " ".repeat(indent),
    charsLeft: JSON_LIMITS.bytesMax,
  });
  if (text.length > JSON_LIMITS.bytesMax) throw unsignable("too long");
  return text;
}

/**
 * A value as a tree: arrays, plain objects and Maps, strings, finite numbers, booleans, null, and
 * trees within it. As in JSON.stringify, an undefined field is left out.
 *
 * With `was`, an older tree of the same value, an unchanged number keeps its spelling: JSON.parse
 * reads 1.0 and 1 as one number, and rounds those past 2^53.
 */
export function jsonTree(value: unknown, was?: JsonTree): JsonTree {
  // A lower bound of the final length. A few objects in memory can be endless in text when they
  // contain the same ones over and over.
  let chars = 0;
  const counted = <T>(tree: T, added: number): T => {
    chars += added;
    if (chars > JSON_LIMITS.bytesMax) throw unsignable("too long");
    return tree;
  };
  const string = (text: string): string => {
    if (!text.isWellFormed()) throw unsignable("lone surrogate");
    return counted(text, text.length + 2);
  };
  const build = (value: unknown, was: JsonTree | undefined, depth: number): JsonTree => {
    if (value === null || typeof value === "boolean") return counted(value, 4);
    if (typeof value === "string") return string(value);
    const number = numberTree(value, was);
    if (number) return counted(number, number.text.length);
    // Also ends an object that contains itself.
    if (depth === JSON_LIMITS.depthMax) throw unsignable("too deep");
    counted(value, 2);
    if (Array.isArray(value)) {
      const old = Array.isArray(was) ? was : [];
      counted(value, Math.max(0, value.length - 1));
      const items: JsonTree[] = [];
      // Not `map`, which skips holes.
      for (const item of value) items.push(build(item, old[items.length], depth + 1));
      return items;
    }
    const old = isJsonMap(was) ? was : null;
    const fields = new Map<string, JsonTree>();
    for (const [key, field] of entriesOf(value)) {
      if (field === undefined) continue;
      counted(key, fields.size > 0 ? 2 : 1);
      fields.set(string(key), build(field, old?.get(key), depth + 1));
    }
    return fields;
  };
  return build(value, was, 0);
}

/** Null when it is not a number. */
function numberTree(value: unknown, was: JsonTree | undefined): JsonNumber | null {
  if (value instanceof JsonNumber) return value;
  if (typeof value !== "number") return null;
  if (!Number.isFinite(value)) throw unsignable("not finite");
  if (was instanceof JsonNumber && Number(was.text) === value) return was;
  return new JsonNumber(writtenNumber(value));
}

/** Entries of a plain object, or of a Map with string keys; JSON shows no other fields. */
function entriesOf(value: unknown): Iterable<[string, unknown]> {
  if (value instanceof Map) {
    if ([...value.keys()].every((key) => typeof key === "string")) return value;
  } else if (typeof value === "object" && value !== null) {
    const prototype: unknown = Object.getPrototypeOf(value);
    if (prototype === null || prototype === Object.prototype) return Object.entries(value);
  }
  throw unsignable("not JSON");
}

function unsignable(reason: JsonFault): VerbatimError<"UNSIGNABLE_JSON"> {
  return new VerbatimError(
    "UNSIGNABLE_JSON",
    `a JSON value cannot be signed (${reason}): parsers would read it differently; ` +
      "pass plain, finite, well-formed JSON within the limits",
    { reason },
  );
}

interface Layout {
  readonly number: (number: JsonNumber) => string;
  readonly entries: (map: ReadonlyMap<string, JsonTree>) => [string, JsonTree][];
  /** The indent of each level; null for one line without spaces. */
  readonly indent: string | null;
  /** Counts down as text is made: indenting can turn a megabyte into gigabytes. */
  charsLeft: number;
}

function printTree(tree: JsonTree, layout: Layout, depth = 0): string {
  if (isJsonMap(tree)) {
    const colon = layout.indent === null ? ":" : ": ";
    const fields = layout
      .entries(tree)
      .map(([key, field]) => asciiJson(key) + colon + printTree(field, layout, depth + 1));
    return enclose("{", fields, "}", layout, depth);
  }
  if (Array.isArray(tree)) {
    const items = tree.map((item: JsonTree) => printTree(item, layout, depth + 1));
    return enclose("[", items, "]", layout, depth);
  }
  return tree instanceof JsonNumber ? layout.number(tree) : asciiJson(tree);
}

function enclose(
  open: string,
  items: readonly string[],
  close: string,
  layout: Layout,
  depth: number,
): string {
  if (items.length === 0 || layout.indent === null) return open + items.join(",") + close;
  const line = `\n${layout.indent.repeat(depth)}`;
  const between = `,${line}${layout.indent}`;
  // Only the separators: the items were counted when they were made.
  layout.charsLeft -= items.length * between.length;
  if (layout.charsLeft < 0) throw unsignable("too long");
  return open + between.slice(1) + items.join(between) + line + close;
}

/**
 * By code point, as Python sorts. UTF-16 sorts surrogates (U+D800 to U+DFFF) before U+E000, though
 * the characters they encode come after U+FFFF.
 */
function compareCodePoints(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let at = 0; at < length; at++) {
    const [left, right] = [a.charCodeAt(at), b.charCodeAt(at)];
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
}

function rank(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

// Numbers. To Python a number without fraction and exponent is an int, of any size, and printed digit for
// digit; every other one is a float, printed by `repr`: the fewest digits that give the same double.

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
