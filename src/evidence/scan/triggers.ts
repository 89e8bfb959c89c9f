/**
 * Triggers: finds the places in raw bytes where a rule may match, without decoding anything.
 *
 * Nearly all bytes of a session are clean, so this is what a scan costs. Each rule names literals,
 * one of which every match contains. Literals of three bytes or more are searched for together
 * (Wu and Manber, blocks of two bytes, shifts of up to three); shorter ones with `indexOf`.
 *
 * - No match is missed: an escape that could hide a literal (`\u0041`, `\/`) is a trigger itself,
 *   for all rules (`ESCAPE`).
 * - Linear: a position is visited once per search, and a `check` looks at a bounded stretch.
 */

import { isBase64Text } from "./unescape.ts";

/** In a literal: any digit. */
export const DIGIT = "\x01";
const ANY = "\x00";

const WIDTH = 4;
const SHIFT_MAX = WIDTH - 1;
/** In place of a shift: both bytes are digits. No literal ends in two digits. */
const DIGITS = 255;
/** Of two bytes, seven bits each: a table of all would not fit into the processor's first cache. */
const PAIRS = 2 ** 14;
const PLUS = 0x2b;
const EQUALS = 0x3d;
const BACKSLASH = 0x5c;
/** Levels of JSON inside JSON that are decoded; the line itself is the first. */
export const DEPTH_MAX = 8;
const TOKEN_CHARS = /[A-Za-z0-9+/_=-]/;

export interface Trigger {
  /** Literals, one of which each match has; at least one byte each. */
  readonly near: readonly string[];
  /** A run of this many characters of a token is a trigger, too. */
  readonly run?: number;
  /** So is every run of four digits or more, or of two after a `+`, at its first digit. */
  readonly hasDigits?: true;
  /** Whether a match is possible at this place; looks at a bounded stretch. */
  readonly check?: (bytes: Uint8Array, at: number) => boolean;
}

/**
 * Every escape that may hide a letter, a digit, or the slashes of a URL. Must be the first of a
 * search.
 */
export const ESCAPE: Trigger = {
  near: ["\\u0", ":\\/", ":\\\\"],
  check: (bytes, at) => {
    if (bytes[at] !== BACKSLASH) {
      let slash = at + 1;
      while (bytes[slash] === BACKSLASH && slash < at + 2 ** DEPTH_MAX) slash++;
      return bytes[slash] === 0x2f;
    }
    const digit = bytes[at + 4] ?? 0;
    return bytes[at + 3] === 0x30 && digit >= 0x32 && digit <= 0x37;
  },
};

/** Base64 of text, also after a name: `KEY=…`, and at the beginning of a line after `\\n`. */
export const BASE64: Trigger = {
  near: [],
  run: 24,
  check: (bytes, at) => isBase64Text(bytes, base64From(bytes, at)),
};

/** Where it begins in a run of a token's characters. */
export function base64From(bytes: Uint8Array, at: number): number {
  const start = afterName(bytes, at);
  return start === at && bytes[at - 1] === BACKSLASH ? at + 1 : start;
}

/** A run of a token's characters may begin with a name: `KEY=value`. */
export function afterName(bytes: Uint8Array, at: number): number {
  for (let n = Math.min(bytes.length - 1, at + 40); n >= at; n--) {
    if (bytes[n] === EQUALS && bytes[n + 1] !== EQUALS) return n + 1;
  }
  return at;
}

interface Pattern {
  readonly sets: readonly Uint8Array[];
  readonly trigger: number;
  /** Where the literal begins, from the pattern. */
  readonly skipped: number;
  /** The whole literal, to be compared; null: the pattern is all of it. */
  readonly literal: Buffer | null;
}

export class TriggerSearch {
  readonly #triggers: readonly Trigger[];
  readonly #shifts = new Uint8Array(PAIRS).fill(SHIFT_MAX);
  /** Which of `#patterns` end with each pair of bytes. */
  readonly #groups = new Uint8Array(PAIRS);
  readonly #patterns: Pattern[][] = [[]];
  readonly #short: { readonly literal: Buffer; readonly trigger: number }[] = [];
  readonly #ofDigits: number[] = [];
  readonly #ofRuns: { readonly run: number; readonly trigger: number }[] = [];
  readonly #isToken = setOf((char) => TOKEN_CHARS.test(char));

  constructor(triggers: readonly Trigger[]) {
    this.#triggers = triggers;
    for (const [trigger, { near, hasDigits, run }] of triggers.entries()) {
      if (hasDigits) this.#ofDigits.push(trigger);
      if (run !== undefined) this.#ofRuns.push({ run, trigger });
      for (const literal of near) {
        if (literal.length < WIDTH - 1) {
          this.#short.push({ literal: Buffer.from(literal, "latin1"), trigger });
        } else this.#add(literal, trigger);
      }
    }
    const digits = setOf((char) => /\d/.test(char));
    if (this.#ofDigits.length > 0) {
      for (const pair of pairsOf(digits, digits)) this.#shifts[pair] = DIGITS;
    }
  }

  /** Passes the places of triggers; those of one literal or run are in order. */
  each(bytes: Buffer, onPlace: (trigger: number, at: number) => void): void {
    const tell = (trigger: number, at: number) => {
      if (this.#triggers[trigger]?.check?.(bytes, at) ?? true) onPlace(trigger, at);
    };
    for (const { literal, trigger } of this.#short) {
      let at = bytes.indexOf(literal);
      while (at !== -1) {
        tell(trigger, at);
        at = bytes.indexOf(literal, at + 1);
      }
    }
    this.#eachLong(bytes, tell);
    this.#eachRun(bytes, tell);
  }

  #add(literal: string, trigger: number): void {
    const padding = Math.max(0, WIDTH - literal.length);
    const chosen = rarestIn(literal);
    const skipped = padding - chosen;
    const whole = literal.length > WIDTH ? Buffer.from(literal, "latin1") : null;
    const text = ANY.repeat(padding) + literal.slice(chosen, chosen + WIDTH);
    const sets = [...text].map((char) => {
      if (char === ANY) return setOf(() => true);
      return setOf(char === DIGIT ? (each) => /\d/.test(each) : (each) => each === char);
    });
    for (let block = 0; block < SHIFT_MAX; block++) {
      const shift = SHIFT_MAX - 1 - block;
      for (const pair of pairsOf(sets[block], sets[block + 1])) {
        this.#shifts[pair] = Math.min(this.#shifts[pair] ?? 0, shift);
        if (shift === 0) this.#addTo(pair, { sets, trigger, skipped, literal: whole });
      }
    }
  }

  /** Pairs with the same patterns share a group. */
  #addTo(pair: number, pattern: Pattern): void {
    const patterns = [...(this.#patterns[this.#groups[pair] as number] ?? []), pattern];
    const isSame = (group: readonly Pattern[]) => {
      return (
        group.length === patterns.length && group.every((each, n) => sameAs(each, patterns[n]))
      );
    };
    const found = this.#patterns.findIndex(isSame);
    this.#groups[pair] = found === -1 ? this.#patterns.push(patterns) - 1 : found;
  }

  #eachLong(bytes: Buffer, tell: (trigger: number, at: number) => void): void {
    const shifts = this.#shifts;
    const { length } = bytes;
    for (let end = WIDTH - 1; end < length; ) {
      const pair = (((bytes[end - 1] as number) & 127) << 7) | ((bytes[end] as number) & 127);
      const shift = shifts[pair] as number;
      if (shift > 0) {
        // A literal may begin at the last digit, if any byte may come before it.
        end = shift === DIGITS ? this.#afterDigits(bytes, end, tell) + 2 : end + shift;
        continue;
      }
      const start = end - SHIFT_MAX;
      const patterns = this.#patterns[this.#groups[pair] as number] as Pattern[];
      for (const { sets, trigger, skipped, literal } of patterns) {
        if (!hasAll(bytes, start, sets)) continue;
        const at = start + skipped;
        if (literal === null || isAt(bytes, literal, at)) tell(trigger, at);
      }
      end++;
    }
  }

  /** Reports the digits around `at`, and returns where they end. */
  #afterDigits(bytes: Buffer, at: number, tell: (trigger: number, at: number) => void): number {
    let start = at - 1;
    while (start > 0 && isDigit(bytes[start - 1] as number)) start--;
    let end = at + 1;
    while (end < bytes.length && isDigit(bytes[end] as number)) end++;
    // A pair of other bytes may look like digits.
    if (!isDigit(bytes[at] as number) || !isDigit(bytes[at - 1] as number)) return at - 1;
    if (end - start >= 4 || bytes[start - 1] === PLUS) {
      for (const trigger of this.#ofDigits) tell(trigger, start);
    }
    return end;
  }

  /** Looks at every byte that is as far from the last as the shortest run is long: a run has one there. */
  #eachRun(bytes: Buffer, tell: (trigger: number, at: number) => void): void {
    const least = Math.min(...this.#ofRuns.map(({ run }) => run));
    const isToken = this.#isToken;
    const { length } = bytes;
    let from = 0;
    while (from + least <= length) {
      let at = from + least - 1;
      while (at >= from && isToken[bytes[at] as number] === 1) at--;
      if (at >= from) {
        from = at + 1;
        continue;
      }
      let end = from + least;
      while (end < length && isToken[bytes[end] as number] === 1) end++;
      for (const { run, trigger } of this.#ofRuns) if (end - from >= run) tell(trigger, from);
      from = end;
    }
  }
}

/** The most frequent characters of English text and code. */
const FREQUENT = "  etaoinsrhldcump";

/** Where in the literal to look: the four bytes that end in the rarest pair. */
function rarestIn(literal: string): number {
  const rarity = (at: number) => {
    const rank = (char = "") => (FREQUENT.lastIndexOf(char) + 1 || 2 * FREQUENT.length) as number;
    return rank(literal[at + WIDTH - 2]) * rank(literal[at + WIDTH - 1]);
  };
  let best = 0;
  for (let at = 1; at + WIDTH <= literal.length; at++) if (rarity(at) > rarity(best)) best = at;
  return best;
}

function sameAs(one: Pattern, other: Pattern | undefined): boolean {
  return one.trigger === other?.trigger && one.sets === other.sets;
}

function hasAll(bytes: Uint8Array, at: number, sets: readonly Uint8Array[]): boolean {
  for (let n = 0; n < WIDTH; n++) if (sets[n]?.[bytes[at + n] as number] !== 1) return false;
  return true;
}

function isAt(bytes: Uint8Array, literal: Uint8Array, at: number): boolean {
  for (let n = 0; n < literal.length; n++) if (bytes[at + n] !== literal[n]) return false;
  return true;
}

export function isDigit(byte: number | undefined): boolean {
  return byte !== undefined && byte >= 48 && byte <= 57;
}

function setOf(has: (char: string) => boolean): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, byte) => Number(has(String.fromCharCode(byte))));
}

function* pairsOf(first: Uint8Array | undefined, second: Uint8Array | undefined) {
  for (let one = 0; one < 128; one++) {
    if (first?.[one] !== 1) continue;
    for (let two = 0; two < 128; two++) if (second?.[two] === 1) yield (one << 7) | two;
  }
}
