/**
 * Matching: finds a text of the user, and entries by their number.
 *
 * Text is found as it is and behind JSON escapes, also in JSON inside JSON. If it is found only
 * after decoding, the whole string counts as found.
 */

import { VerbatimError } from "../base/errors.ts";
import { findParts } from "../proof/leaf.ts";
import type { Finder, Hit } from "./hits.ts";

/** Levels of JSON inside JSON. */
const DEPTH_MAX = 8;
const BACKSLASH = 0x5c;
const ESCAPED_CODE = Buffer.from("\\u");
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g;
const CONTROLS: Readonly<Record<string, string>> = {
  ...{ b: "\b", f: "\f", n: "\n", r: "\r", t: "\t" },
};
const TEXT_BYTES_MIN = 1;
export const TEXT_BYTES_MAX = 64 * 1024;

/** A text that is found is removed from `missed`. */
export function matching(texts: readonly string[], rule = "match", missed?: Set<string>): Finder {
  const needles = texts.map((text) => ({ text, needle: new Needle(text) }));
  return (line) => {
    const bytes = Buffer.from(line.buffer, line.byteOffset, line.length);
    return needles.flatMap(({ text, needle }) => {
      const hits = needle.find(bytes, rule);
      if (hits.length > 0) missed?.delete(text);
      return hits;
    });
  };
}

/** Entries by the number of their line in the log, from 1. */
export function entriesNumbered(numbers: ReadonlySet<number>): Finder {
  return (line, number) => {
    return numbers.has(number) ? [{ rule: "entry", from: 0, to: line.length + 1 }] : [];
  };
}

class Needle {
  readonly #text: string;
  readonly #bytes: Buffer;
  /** Of these characters only `\u` is another spelling. */
  readonly #isPlain: boolean;

  constructor(text: string) {
    this.#text = text;
    this.#bytes = Buffer.from(text);
    const { length } = this.#bytes;
    if (length < TEXT_BYTES_MIN || length > TEXT_BYTES_MAX) {
      const reason = `a text to withhold has ${TEXT_BYTES_MIN} to ${TEXT_BYTES_MAX} bytes`;
      const setting = "match";
      throw new VerbatimError("BAD_SETTING", reason, { setting, from: "options", reason });
    }
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what JSON escapes.
    this.#isPlain = !/["\\/\u0000-\u001f]/.test(text);
  }

  find(line: Buffer, rule: string): Hit[] {
    const hits: Hit[] = [];
    const { length } = this.#bytes;
    for (let at = line.indexOf(this.#bytes); at !== -1; at = line.indexOf(this.#bytes, at + 1)) {
      hits.push({ rule, from: at, to: at + length });
    }
    const mayBeEscaped = this.#isPlain ? line.includes(ESCAPED_CODE) : line.includes(BACKSLASH);
    if (!mayBeEscaped || !this.#isIn(line.toString())) return hits;
    for (const { at, length } of findParts(line, 1)) {
      const contents = line.toString("utf8", at, at + length);
      if (this.#isIn(contents)) hits.push({ rule, from: at, to: at + length });
    }
    // Escaped, but in no string: in a line that is not JSON.
    return hits.length > 0 ? hits : [{ rule, from: 0, to: line.length + 1 }];
  }

  /** Whether the text appears once escapes are decoded, at any level. */
  #isIn(spelled: string): boolean {
    let text = spelled;
    for (let depth = 0; depth < DEPTH_MAX && text.includes("\\"); depth++) {
      text = text.replace(ESCAPE, (_, code: string | undefined, one: string) => {
        return code ? String.fromCharCode(Number.parseInt(code, 16)) : (CONTROLS[one] ?? one);
      });
      if (text.includes(this.#text)) return true;
    }
    return false;
  }
}
