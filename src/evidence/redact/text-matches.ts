/**
 * Text matches: finds a text of the user, and entries by their number.
 *
 * Text is found in every spelling that looks the same, and behind JSON escapes,
 * also in JSON inside JSON. If it is found only after decoding, the whole string counts as found.
 *
 * A near miss has the same letters and digits, with other accents, punctuation or spacing. It is not
 * found, only reported: the user decides.
 *
 * Folded text: a text in the form in which two spellings of the same words are equal, and where
 * each character of it was before.
 *
 * Equal are: all Unicode forms (NFC, NFD, NFKC, NFKD), upper and lower case, any run of white space
 * with any other (no-break spaces, line breaks), and texts that differ only in characters that are
 * not visible (soft hyphens, zero-width characters).
 *
 * A folded text can be longer or shorter than the original. Characters that fold together (a letter
 * with its accents, a ligature) belong together: a range of folded text means all of them.
 */

import { isAscii } from "node:buffer";
import { VerbatimError } from "../../core/base/errors.ts";
import { findParts } from "../../trust/proof/leaf.ts";
import type { Finder, Hit } from "./hits.ts";

const IGNORABLE = /\p{Default_Ignorable_Code_Point}+/gu;
/** Marks, also the two half-width ones, which fold to marks; and what is not visible. */
const MARK = "\\p{M}\\uff9e\\uff9f\\p{Default_Ignorable_Code_Point}";
/** A character with the marks that belong to it. */
const UNIT = new RegExp(`[^${MARK}][${MARK}]*|[${MARK}]+`, "gu");
const SPACE = /[\s\x85]/;
const SPACES = /[\s\x85]+/g;
/** Needs no decomposition; most of what is folded. */
const ASCII = /^[\0-\x7f]*$/;
const NO_WORD = /[^\p{L}\p{N}]+/gu;
/** Levels of JSON inside JSON. */
const DEPTH_MAX = 8;
const ESCAPED_CODE = Buffer.from("\\u");
const ESCAPE = /\\(?:u([0-9a-fA-F]{4})|(["\\/bfnrt]))/g;

const CONTROLS: Readonly<Record<string, string>> = {
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
};

const TEXT_BYTES_MIN = 1;
export const TEXT_BYTES_MAX = 64 * 1024;
/** Fewer letters are near to too much. */
const NEAR_LETTERS_MIN = 4;
const REPLACEMENT = "\ufffd";
/** Never part of a text. */
const NO_CHARACTER = "\uffff";

/** Which texts are found, and what only looks like them. */
export class Matches {
  readonly #texts: readonly string[];
  readonly #found = new Set<string>();
  readonly #near = new Map<string, Set<number>>();

  constructor(texts: readonly string[]) {
    this.#texts = texts;
  }

  found(text: string): void {
    this.#found.add(text);
  }

  near(text: string, line: number): void {
    if (line > 0) this.#near.set(text, (this.#near.get(text) ?? new Set()).add(line));
  }

  /** The texts that were not found, by their numbers, from 1. */
  get missing(): number[] {
    return [...this.#texts.entries()].filter(([, text]) => !this.#found.has(text)).map(numberOf);
  }

  /** The lines with near misses, by the number of their text. */
  get nearMisses(): { readonly number: number; readonly lines: readonly number[] }[] {
    return [...this.#texts.entries()].flatMap((each) => {
      const lines = [...(this.#near.get(each[1]) ?? [])].sort((one, other) => one - other);
      return lines.length === 0 ? [] : [{ number: numberOf(each), lines }];
    });
  }
}

function numberOf([at]: readonly [number, string]): number {
  return at + 1;
}

/** The rule of texts that a user named. */
export const MATCH = "match";

export function matching(texts: readonly string[], rule = MATCH, matches?: Matches): Finder {
  const needles = texts.map((text) => ({ text, needle: new Needle(text) }));
  return (line, number) => {
    const spelled = new SpelledLine(line);
    return needles.flatMap(({ text, needle }) => {
      const hits = needle.find(spelled, rule);
      if (hits.length > 0) matches?.found(text);
      if (matches && needle.isNear(spelled)) matches.near(text, number);
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

/** A line, with its escapes decoded once, twice and so on; each folded. Made once for all needles. */
class SpelledLine {
  readonly bytes: Buffer;
  /** In lower case, if that and white space are all that folding can change; else null. */
  readonly #plain: string | null;
  #text: string | null = null;
  #levels: readonly string[] | null = null;
  #letters: readonly string[] | null = null;
  #places: FoldedText | null = null;

  constructor(line: Uint8Array) {
    this.bytes = Buffer.from(line.buffer, line.byteOffset, line.length);
    const isPlain = isAscii(this.bytes) && !this.bytes.includes(ESCAPED_CODE);
    this.#plain = isPlain ? this.bytes.toString("latin1").toLowerCase() : null;
  }

  /** False only if no level can have these letters. Most lines need no more than this. */
  mayHave(letters: string): boolean {
    return this.#plain === null || this.#plain.includes(letters);
  }

  get text(): string {
    this.#text ??= this.bytes.toString();
    return this.#text;
  }

  /** The line as it is, then each level. */
  get levels(): readonly string[] {
    this.#levels ??= levelsOf(this.text);
    return this.#levels;
  }

  get letters(): readonly string[] {
    this.#letters ??= this.levels.map(lettersOf);
    return this.#letters;
  }

  /** Null if the bytes are not UTF-8, so that places in the text are not places in the line. */
  get places(): FoldedText | null {
    if (this.text.includes(REPLACEMENT) && !Buffer.from(this.text).equals(this.bytes)) return null;
    this.#places ??= new FoldedText(this.text);
    return this.#places;
  }
}

function levelsOf(spelled: string): string[] {
  const levels = [foldText(spelled)];
  let text = spelled;
  for (let depth = 0; depth < DEPTH_MAX && text.includes("\\"); depth++) {
    text = text.replace(ESCAPE, (_, code: string | undefined, one: string) => {
      return code ? String.fromCharCode(Number.parseInt(code, 16)) : (CONTROLS[one] ?? one);
    });
    levels.push(foldText(text));
  }
  return levels;
}

function countIn(text: string, part: string): number {
  let count = 0;
  for (let at = text.indexOf(part); at !== -1; at = text.indexOf(part, at + 1)) count++;
  return count;
}

class Needle {
  readonly #bytes: Buffer;
  /** Empty if nothing of the text is visible: then only its bytes are found. */
  readonly #folded: string;
  /** Null if there are too few to be near to something. */
  readonly #letters: string | null;
  /** Its longest run of ASCII letters and digits. */
  readonly #run: string;

  constructor(text: string) {
    this.#bytes = Buffer.from(text);
    const { length } = this.#bytes;
    if (length < TEXT_BYTES_MIN || length > TEXT_BYTES_MAX) {
      const reason = `a text to withhold has ${TEXT_BYTES_MIN} to ${TEXT_BYTES_MAX} bytes`;
      const setting = "match";
      throw new VerbatimError("BAD_SETTING", reason, { setting, from: "options", reason });
    }
    this.#folded = foldText(text);
    const letters = lettersOf(this.#folded);
    this.#letters = letters.length < NEAR_LETTERS_MIN ? null : letters;
    const runs = this.#folded.match(/[a-z0-9]+/g) ?? [];
    this.#run = runs.reduce((best, run) => (run.length > best.length ? run : best), "");
  }

  find(line: SpelledLine, rule: string): Hit[] {
    if (!line.mayHave(this.#run)) return [];
    const hits = this.#foldedHits(line, rule);
    const { bytes } = line;
    const { length } = this.#bytes;
    for (let at = bytes.indexOf(this.#bytes); at !== -1; at = bytes.indexOf(this.#bytes, at + 1)) {
      const isKnown = hits.some(({ from, to }) => from <= at && at + length <= to);
      if (!isKnown) hits.push({ rule, from: at, to: at + length });
    }
    if (!this.#isDecoded(line.levels)) return hits;
    for (const { at, length } of findParts(bytes, 1)) {
      const contents = this.#withoutFound(bytes.toString("utf8", at, at + length));
      if (this.#isDecoded(levelsOf(contents))) hits.push({ rule, from: at, to: at + length });
    }
    // Escaped, but in no string: in a line that is not JSON.
    return hits.length > 0 ? hits : [{ rule, from: 0, to: bytes.length + 1 }];
  }

  /** Whether a line has the text's letters more often than the text. */
  isNear(line: SpelledLine): boolean {
    const wanted = this.#letters;
    if (wanted === null || !line.mayHave(this.#run)) return false;
    const { levels, letters } = line;
    return levels.some((text, depth) => {
      const near = countIn(letters[depth] ?? "", wanted);
      return near > 0 && near > countIn(text, this.#folded);
    });
  }

  #foldedHits(line: SpelledLine, rule: string): Hit[] {
    const [text = ""] = line.levels;
    if (this.#folded === "" || !text.includes(this.#folded)) return [];
    const { places } = line;
    if (places === null) return [{ rule, from: 0, to: line.bytes.length + 1 }];
    const hits: Hit[] = [];
    let [chars, bytes] = [0, 0];
    const bytesAt = (index: number) => {
      bytes += Buffer.byteLength(line.text.slice(chars, index));
      chars = index;
      return bytes;
    };
    const { length } = this.#folded;
    for (let at = places.text.indexOf(this.#folded); at !== -1; ) {
      const { from, to } = places.rangeOf(at, length);
      const start = bytesAt(from);
      hits.push({ rule, from: start, to: start + Buffer.byteLength(line.text.slice(from, to)) });
      at = places.text.indexOf(this.#folded, at + 1);
    }
    return hits;
  }

  /** Whether the text appears once escapes are decoded. */
  #isDecoded([, ...decoded]: readonly string[]): boolean {
    return this.#folded !== "" && decoded.some((text) => text.includes(this.#folded));
  }

  /** The contents of a string without what is found in them as they are. */
  #withoutFound(contents: string): string {
    if (!foldText(contents).includes(this.#folded)) return contents;
    const places = new FoldedText(contents);
    let [rest, end] = ["", 0];
    for (let at = places.text.indexOf(this.#folded); at !== -1; ) {
      const { from, to } = places.rangeOf(at, this.#folded.length);
      if (from >= end) rest += contents.slice(end, from) + NO_CHARACTER;
      end = Math.max(end, to);
      at = places.text.indexOf(this.#folded, at + 1);
    }
    return rest + contents.slice(end);
  }
}

export function foldText(text: string): string {
  return caseless(text).replace(SPACES, " ");
}

/** Only letters and digits, without accents: of this form are also near misses. */
function lettersOf(foldedText: string): string {
  return foldedText.replace(NO_WORD, "");
}

/** Decomposed, so that the parts of a text, folded and joined, are the folded text. */
function caseless(text: string): string {
  if (ASCII.test(text)) return text.toLowerCase();
  const bare = text.replace(IGNORABLE, "").normalize("NFKD");
  // ß and ẞ are SS in upper case. A sigma has another form at the end of a word.
  const lower = bare.toLowerCase().toUpperCase().toLowerCase();
  return lower.normalize("NFKD").replaceAll("ς", "σ");
}

/** `text` is `folded(original)`, with the place of each character. */
export class FoldedText {
  readonly text: string;
  readonly #starts: ArrayLike<number>;
  readonly #ends: ArrayLike<number>;

  constructor(original: string) {
    if (ASCII.test(original)) {
      this.text = foldText(original);
      const starts = startsInAscii(original);
      [this.#starts, this.#ends] = [starts, starts.subarray(1)];
      return;
    }
    const [pieces, starts, ends]: [string[], number[], number[]] = [[], [], []];
    for (const { 0: unit, index } of original.matchAll(UNIT)) {
      const end = index + unit.length;
      for (const char of caseless(unit).split("")) {
        const isSpace = SPACE.test(char);
        if (isSpace && pieces.at(-1) === " ") {
          ends[pieces.length - 1] = end;
          continue;
        }
        pieces.push(isSpace ? " " : char);
        starts.push(index);
        ends.push(end);
      }
    }
    [this.text, this.#starts, this.#ends] = [pieces.join(""), starts, ends];
  }

  /** The range of the original that folds to these characters. */
  rangeOf(at: number, length: number): { readonly from: number; readonly to: number } {
    return { from: this.#starts[at] ?? 0, to: this.#ends[at + length - 1] ?? 0 };
  }
}

/** Where each character of the folded text begins, and its end: only runs of white space fold. */
function startsInAscii(original: string): Uint32Array {
  const starts = new Uint32Array(original.length + 1);
  let [count, wasSpace] = [0, false];
  for (let index = 0; index < original.length; index++) {
    const code = original.charCodeAt(index);
    const isSpace = code === 0x20 || (code >= 0x09 && code <= 0x0d);
    if (!(isSpace && wasSpace)) starts[count++] = index;
    wasSpace = isSpace;
  }
  starts[count] = original.length;
  return starts;
}
