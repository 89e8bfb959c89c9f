/**
 * JSON tree: parses JSON strictly and keeps numbers as they are written.
 *
 * Signed text must mean the same to every parser. So unlike JSON.parse, this parser refuses texts
 * that parsers read differently: a duplicate key, a lone surrogate, a number past a double.
 *
 * - Every text and every byte sequence gives a tree or a refusal, never an exception.
 * - Nothing is lost: `1.0` stays apart from `1`, 2^64 keeps its digits, keys keep their order and
 *   their names, `__proto__` and `7` too. Hence a Map, and JsonNumber for numbers.
 * - Whatever is accepted, Python's json.loads accepts too, and reads the same.
 */

import { assert } from "../../core/base/errors.ts";
import { utf8 } from "./bytes.ts";

/** Limits of a text to be signed or judged. */
export const JSON_LIMITS = {
  /** In UTF-8. As long as the longest line of a log. */
  bytesMax: 16 * 1024 * 1024,
  /** Nesting depth. */
  depthMax: 64,
  /** A number's characters without its sign. Python reads no longer integer. */
  numberCharsMax: 4300,
} as const;

export type JsonFault =
  | "not UTF-8"
  | "byte order mark"
  | "not JSON"
  | "not finite"
  | "duplicate key"
  | "lone surrogate"
  | "number too long"
  | "too deep"
  | "too long";

export interface JsonRefusal {
  readonly reason: JsonFault;
  /** Byte offset of what is refused. */
  readonly offset: number;
}

export type JsonTree = null | boolean | string | JsonNumber | readonly JsonTree[] | JsonMap;
export type JsonMap = ReadonlyMap<string, JsonTree>;

export type ParsedJson =
  | { readonly tree: JsonTree; readonly refusal: null }
  | { readonly tree: undefined; readonly refusal: JsonRefusal };

const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?$/;
const INTEGER = /^-?[0-9]+$/;

/** A number as it is written. Two with the same value may differ in text, and in type to Python. */
export class JsonNumber {
  readonly text: string;

  constructor(text: string) {
    assert(numberFault(text) === null, "a JsonNumber is a JSON number within the limits");
    this.text = text;
  }
}

function numberFault(text: string): JsonFault | null {
  const chars = text.startsWith("-") ? text.length - 1 : text.length;
  if (chars > JSON_LIMITS.numberCharsMax) return "number too long";
  if (!NUMBER.test(text)) return "not JSON";
  // An integer is never too large: Python's are unbounded.
  return INTEGER.test(text) || Number.isFinite(Number(text)) ? null : "not finite";
}

export function isJsonMap(tree: JsonTree | undefined): tree is JsonMap {
  return tree instanceof Map;
}

/** Parses a JSON text, or returns why and where it is refused. Never throws. */
export function parseJson(input: string | Uint8Array): ParsedJson {
  const bytes = typeof input === "string" ? utf8(input) : input;
  if (bytes.length > JSON_LIMITS.bytesMax) return refusal("too long", JSON_LIMITS.bytesMax);
  const text = typeof input === "string" ? input : decode(input);
  if (text === null) return refusal("not UTF-8", validBytes(bytes));
  const refuseAt = (reason: JsonFault, at: number) =>
    refusal(reason, utf8(text.slice(0, at)).length);
  if (text.startsWith("\ufeff")) return refuseAt("byte order mark", 0);
  // Only a string can have one unescaped: UTF-8 cannot encode it.
  if (!text.isWellFormed()) return refuseAt("lone surrogate", text.search(/\p{Surrogate}/u));
  try {
    return { tree: new Parser(text).document(), refusal: null };
  } catch (error) {
    if (error instanceof Refused) return refuseAt(error.reason, error.at);
    throw error;
  }
}

function refusal(reason: JsonFault, offset: number): ParsedJson {
  return { tree: undefined, refusal: { reason, offset } };
}

/** Null when the bytes are not UTF-8. A byte order mark stays. */
function decode(bytes: Uint8Array): string | null {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
}

/** The length of the longest prefix that is, or could continue as, UTF-8. */
function validBytes(bytes: Uint8Array): number {
  let [valid, broken] = [0, bytes.length + 1];
  while (broken - valid > 1) {
    const middle = (valid + broken) >> 1;
    // As a stream: a character that is cut off at the end may still be completed.
    const decoder = new TextDecoder("utf-8", { fatal: true });
    try {
      decoder.decode(bytes.subarray(0, middle), { stream: true });
      valid = middle;
    } catch {
      broken = middle;
    }
  }
  return valid;
}

/** Carries a refusal out of the recursion; never leaves this file. */
class Refused extends Error {
  readonly reason: JsonFault;
  readonly at: number;

  constructor(reason: JsonFault, at: number) {
    super(reason);
    this.reason = reason;
    this.at = at;
  }
}

/** Characters that cannot be in a string unescaped. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for.
const SPECIAL = /["\\\u0000-\u001f]/g;
/** Escapes: the character after the backslash, and its meaning, in pairs. */
const ESCAPES = new Map(['""', "\\\\", "//", "b\b", "f\f", "n\n", "r\r", "t\t"].map(pairOf));
const WORDS: ReadonlyMap<string, null | boolean> = new Map([
  ["null", null],
  ["true", true],
  ["false", false],
]);
/** What Python's json reads and writes beyond JSON. */
const NOT_FINITE = ["NaN", "Infinity", "-Infinity"];

function isOfNumber(character: string): boolean {
  return character !== "" && "0123456789.eE+-".includes(character);
}

function pairOf(pair: string): [string, string] {
  return [pair.charAt(0), pair.charAt(1)];
}

/** One pass over one text. Recurses, no deeper than the limit. */
class Parser {
  readonly #text: string;
  #at = 0;
  #depth = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): JsonTree {
    const tree = this.#value();
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#refused("not JSON");
    return tree;
  }

  #value(): JsonTree {
    this.#skipSpace();
    const character = this.#text[this.#at];
    if (character === "{") return this.#nested(() => this.#object());
    if (character === "[") return this.#nested(() => this.#list());
    if (character === '"') return this.#string();
    for (const [word, value] of WORDS) if (this.#takes(word)) return value;
    if (NOT_FINITE.some((word) => this.#text.startsWith(word, this.#at))) {
      throw this.#refused("not finite");
    }
    return this.#number();
  }

  #nested<T>(read: () => T): T {
    if (this.#depth === JSON_LIMITS.depthMax) throw this.#refused("too deep");
    this.#depth++;
    const value = read();
    this.#depth--;
    return value;
  }

  #object(): JsonMap {
    const fields = new Map<string, JsonTree>();
    this.#at++;
    this.#skipSpace();
    if (this.#takes("}")) return fields;
    do {
      this.#skipSpace();
      const start = this.#at;
      const key = this.#string();
      if (fields.has(key)) throw new Refused("duplicate key", start);
      this.#skipSpace();
      if (!this.#takes(":")) throw this.#refused("not JSON");
      fields.set(key, this.#value());
      this.#skipSpace();
    } while (this.#takes(","));
    if (!this.#takes("}")) throw this.#refused("not JSON");
    return fields;
  }

  #list(): JsonTree[] {
    const items: JsonTree[] = [];
    this.#at++;
    this.#skipSpace();
    if (this.#takes("]")) return items;
    do {
      items.push(this.#value());
      this.#skipSpace();
    } while (this.#takes(","));
    if (!this.#takes("]")) throw this.#refused("not JSON");
    return items;
  }

  #string(): string {
    const start = this.#at;
    if (!this.#takes('"')) throw this.#refused("not JSON");
    let text = "";
    for (;;) {
      SPECIAL.lastIndex = this.#at;
      const special = SPECIAL.exec(this.#text);
      if (!special) throw new Refused("not JSON", this.#text.length);
      text += this.#text.slice(this.#at, special.index);
      this.#at = special.index;
      if (this.#takes('"')) break;
      if (special[0] !== "\\") throw this.#refused("not JSON");
      text += this.#escape();
    }
    if (!text.isWellFormed()) throw new Refused("lone surrogate", start);
    return text;
  }

  #escape(): string {
    const letter = this.#text[this.#at + 1] ?? "";
    if (letter === "u") {
      const digits = this.#text.slice(this.#at + 2, this.#at + 6);
      if (!/^[0-9a-fA-F]{4}$/.test(digits)) throw this.#refused("not JSON");
      this.#at += 6;
      return String.fromCharCode(Number.parseInt(digits, 16));
    }
    const character = ESCAPES.get(letter);
    if (character === undefined) throw this.#refused("not JSON");
    this.#at += 2;
    return character;
  }

  #number(): JsonNumber {
    const start = this.#at;
    // Stops where the number is too long anyway: digits may continue for megabytes.
    const end = start + JSON_LIMITS.numberCharsMax + 2;
    while (this.#at < end && isOfNumber(this.#text.charAt(this.#at))) this.#at++;
    const text = this.#text.slice(start, this.#at);
    const fault = numberFault(text);
    if (fault) throw new Refused(fault, start);
    return new JsonNumber(text);
  }

  #takes(word: string): boolean {
    if (!this.#text.startsWith(word, this.#at)) return false;
    this.#at += word.length;
    return true;
  }

  #skipSpace(): void {
    for (;;) {
      const unit = this.#text.charCodeAt(this.#at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
      this.#at++;
    }
  }

  #refused(reason: JsonFault): Refused {
    return new Refused(reason, this.#at);
  }
}
