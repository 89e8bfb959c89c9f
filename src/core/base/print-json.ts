/**
 * Print JSON: writes a parsed value as text, in a given style.
 *
 * Nothing here recurses: a line of 16 MiB can be nested eight million deep, and JSON.stringify
 * fails at some thousands. Indenting such a line would take gigabytes, so there is a limit.
 *
 * `printJson` and `exactJson` write an integer that was read as a string of its digits without
 * quotes.
 */

import { digitKeys, hasLongDigits, SourceNumber } from "./exact-numbers.ts";

export interface JsonStyle {
  /** The indent of each level; null for one line without spaces. */
  readonly indent: string | null;
  readonly string: (text: string) => string;
  readonly number: (value: number | SourceNumber) => string;
}

const COMPACT: JsonStyle = { indent: null, string: JSON.stringify, number: numberText };

/** A number as JSON.stringify writes it, or as its source spells it. */
export function numberText(value: number | SourceNumber): string {
  return value instanceof SourceNumber ? value.text : JSON.stringify(value);
}

/** Compact JSON of a parsed value of any depth. */
export function compactJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause;
    return printJson(value, COMPACT, Number.POSITIVE_INFINITY) ?? "";
  }
}

/** The same, with integers that were read as strings of their digits as they were: no quotes. */
export function exactJson(value: unknown): string {
  const text = compactJson(value);
  if (!hasLongDigits(text)) return text;
  return printJson(value, COMPACT, Number.POSITIVE_INFINITY) ?? "";
}

/** An array or object that is partly printed. */
interface Open {
  readonly keys: readonly string[] | null;
  readonly values: readonly unknown[];
  next: number;
}

/** The value's JSON; null when it would be longer than `charsMax`. */
export function printJson(root: unknown, style: JsonStyle, charsMax: number): string | null {
  const stack: Open[] = [];
  let text = "";
  const print = (value: unknown) => {
    const opened = openIfNotEmpty(value);
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

/** Null for scalars and for empty arrays and objects. */
function openIfNotEmpty(value: unknown): Open | null {
  if (typeof value !== "object" || value === null || value instanceof SourceNumber) return null;
  const digits = digitKeys(value);
  if (Array.isArray(value) && digits === null) {
    return value.length > 0 ? { keys: null, values: value, next: 0 } : null;
  }
  const entries = Object.entries(value).filter(([, held]) => held !== undefined);
  if (entries.length === 0) return null;
  const keys = Array.isArray(value) ? null : entries.map(([key]) => key);
  const values = entries.map(([key, held]) => {
    return digits?.has(key) && typeof held === "string" ? new SourceNumber(held) : held;
  });
  return { keys, values, next: 0 };
}

function printScalar(value: unknown, style: JsonStyle): string {
  switch (typeof value) {
    case "string":
      return style.string(value);
    case "number":
      return style.number(value);
    case "boolean":
    case "bigint":
      return String(value);
    case "object":
      if (value === null) return "null";
      if (value instanceof SourceNumber) return style.number(value);
      return Array.isArray(value) ? "[]" : "{}";
    default:
      return "null";
  }
}

/**
 * A short id of a text: 64 bits, two FNV-1a hashes of its UTF-16 units, in hex. Not resistant to
 * collisions: never use it where an attacker may choose the text.
 */
export function fingerprint(text: string): string {
  let a = 0x811c9dc5;
  let b = 0x01000193;
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x85ebca6b) ^ (b >>> 13);
  }
  return hex(a) + hex(b);
}

function hex(bits: number): string {
  return (bits >>> 0).toString(16).padStart(8, "0");
}
