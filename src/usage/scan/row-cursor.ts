/**
 * Row cursor: walks the JSON of one row in its bytes, without an object for it.
 *
 * The caller descends into the objects that it needs and skips all other values. Everything before
 * and between is walked, so a key is only ever found at the place where it is: quotes inside strings
 * are escaped, and strings are skipped as a whole.
 *
 * `isOdd` says that the row cannot be read this way: it is damaged, or a name has an escape in it.
 * Brackets are counted and not matched: damage inside a skipped value may go unnoticed.
 *
 * Timestamps are read from bytes, too (`timeIn`).
 */

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const COLON = 0x3a;
const OPEN = 0x7b;
const CLOSE = 0x7d;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
/** A string is searched for its end byte by byte this far; then with a native search. */
const STRETCH = 32;

/** +1 where a value is opened, -1 where it is closed, 2 for a quote. */
const STRUCTURE = new Int8Array(256);
STRUCTURE[OPEN] = STRUCTURE[OPEN_LIST] = 1;
STRUCTURE[CLOSE] = STRUCTURE[CLOSE_LIST] = -1;
STRUCTURE[QUOTE] = 2;

/** A stretch of the row's bytes. */
export class ByteSpan {
  from = -1;
  to = -1;

  get isThere(): boolean {
    return this.from >= 0;
  }

  clear(): void {
    this.from = -1;
  }
}

export class RowCursor {
  bytes: Buffer = Buffer.alloc(0);
  at = 0;
  end = 0;
  /** The key or string that was read last, without its quotes. */
  from = 0;
  to = 0;
  isOdd = false;

  /** Begins a row: the bytes from `at` to `end`. */
  begin(bytes: Buffer, at: number, end: number): void {
    this.bytes = bytes;
    this.at = at;
    this.end = end;
    this.isOdd = false;
  }

  /** Enters the object that the value is; false: it is no object, and was skipped. */
  enter(): boolean {
    this.#space();
    if (this.bytes[this.at] !== OPEN || this.at >= this.end) {
      this.skip();
      return false;
    }
    this.at++;
    return true;
  }

  /** Moves to the value of the next key, which is `from` to `to`; false: the object has ended. */
  nextKey(): boolean {
    const { bytes, end } = this;
    // As programs write it, without spaces; all else is below.
    let at = this.at;
    if (bytes[at] === COMMA) at++;
    if (bytes[at] === QUOTE) {
      const from = ++at;
      let byte = bytes[at];
      while (byte !== QUOTE && byte !== BACKSLASH && at < end) byte = bytes[++at];
      if (byte === QUOTE && bytes[at + 1] === COLON && at + 1 < end) {
        this.from = from;
        this.to = at;
        this.at = at + 2;
        return true;
      }
    } else if (bytes[at] === CLOSE && at < end) {
      this.at = at + 1;
      return false;
    }
    return this.#spacedKey();
  }

  #spacedKey(): boolean {
    const { bytes } = this;
    this.#space();
    if (bytes[this.at] === COMMA) {
      this.at++;
      this.#space();
    }
    if (this.at >= this.end) return this.#odd();
    if (bytes[this.at] === CLOSE) {
      this.at++;
      return false;
    }
    if (bytes[this.at] !== QUOTE) return this.#odd();
    this.#readQuoted();
    this.#space();
    if (this.isOdd || bytes[this.at] !== COLON) return this.#odd();
    this.at++;
    return true;
  }

  /** Reads a string without escapes; false: the value is none, and was skipped. */
  readString(): boolean {
    if (this.bytes[this.at] !== QUOTE) this.#space();
    if (this.bytes[this.at] !== QUOTE) {
      this.skip();
      return false;
    }
    this.#readQuoted();
    return !this.isOdd;
  }

  /** Reads a string into `span`, or clears it if the value is none. */
  readInto(span: ByteSpan): void {
    if (this.readString()) {
      span.from = this.from;
      span.to = this.to;
    } else {
      span.clear();
    }
  }

  /** NaN: the value is no number, and was skipped. */
  readNumber(): number {
    if ((this.bytes[this.at] ?? 0) <= 0x20) this.#space();
    const { bytes, end } = this;
    const start = this.at;
    let at = start;
    let value = 0;
    while (at < end) {
      const digit = (bytes[at] ?? 0) - 0x30;
      if (digit < 0 || digit > 9) break;
      value = value * 10 + digit;
      at++;
    }
    const next = bytes[at];
    if (at > start && at - start < 16 && (next === COMMA || next === CLOSE)) {
      this.at = at;
      return value;
    }
    this.skip();
    const text = bytes.toString("latin1", start, this.at).trim();
    return /^-?\d/.test(text) ? Number(text) : Number.NaN;
  }

  /** Skips the value. */
  skip(): void {
    const { bytes, end } = this;
    if (bytes[this.at] === QUOTE) {
      this.at = this.#pastString(this.at + 1);
      if (this.at > end) this.isOdd = true;
      return;
    }
    this.#space();
    let at = this.at;
    let depth = 0;
    while (at < end) {
      const kind = STRUCTURE[bytes[at] ?? 0];
      if (kind === 2) {
        at = this.#pastString(at + 1);
        if (depth === 0) break;
        continue;
      }
      if (kind === 0) {
        if (depth === 0 && (bytes[at] === COMMA || (bytes[at] ?? 0) <= 0x20)) break;
        at++;
        continue;
      }
      if (kind === -1 && depth === 0) break;
      depth += kind ?? 0;
      at++;
      if (depth === 0) break;
    }
    if (depth !== 0 || at > end) this.isOdd = true;
    this.at = at;
  }

  /** Whether the key, or string, that was read last is this one. */
  is(name: Uint8Array): boolean {
    const { bytes, from } = this;
    if (this.to - from !== name.length) return false;
    for (let n = name.length - 1; n >= 0; n--) if (bytes[from + n] !== name[n]) return false;
    return true;
  }

  text(): string {
    return this.bytes.toString("utf8", this.from, this.to);
  }

  #space(): void {
    const { bytes, end } = this;
    while (this.at < end && (bytes[this.at] ?? 0) <= 0x20) this.at++;
  }

  #readQuoted(): void {
    const { bytes, end } = this;
    let at = this.at + 1;
    this.from = at;
    while (at < end && bytes[at] !== QUOTE) {
      if (bytes[at] === BACKSLASH) {
        this.isOdd = true;
        return;
      }
      at++;
    }
    this.to = at;
    this.at = at + 1;
    if (at >= end) this.isOdd = true;
  }

  /** Past the quote that ends a string; past `end` if there is none. */
  #pastString(start: number): number {
    const { bytes, end } = this;
    let at = start;
    for (;;) {
      const near = Math.min(end, at + STRETCH);
      while (at < near) {
        const byte = bytes[at];
        if (byte === QUOTE) return at + 1;
        at += byte === BACKSLASH ? 2 : 1;
      }
      if (at >= end) return end + 1;
      const quote = bytes.indexOf(QUOTE, at);
      if (quote < 0 || quote >= end) return end + 1;
      let before = quote - 1;
      while (before >= at && bytes[before] === BACKSLASH) before--;
      if ((quote - before) % 2 === 1) return quote + 1;
      at = quote + 1;
    }
  }

  #odd(): false {
    this.isOdd = true;
    return false;
  }
}

const ZERO = 0x30;
const DOT = 0x2e;

/** The last day that was seen, "2026-11-15", as bytes and as its first millisecond. */
const day = new Uint8Array(10);
let dayMs = Number.NaN;

/** Milliseconds of a timestamp in a row. As `Date.parse`; only faster for the form that JavaScript writes. */
export function timeIn(bytes: Buffer, from: number, to: number): number {
  if (to - from !== 24 || bytes[to - 1] !== 0x5a || bytes[from + 10] !== 0x54) {
    return Date.parse(bytes.toString("latin1", from, to));
  }
  let isSameDay = !Number.isNaN(dayMs);
  for (let n = 9; n >= 0 && isSameDay; n--) isSameDay = bytes[from + n] === day[n];
  const hours = two(bytes, from + 11);
  const minutes = two(bytes, from + 14);
  const seconds = two(bytes, from + 17);
  const ms = two(bytes, from + 20) * 10 + (two(bytes, from + 21) % 10);
  const isPunctuated =
    bytes[from + 13] === COLON && bytes[from + 16] === COLON && bytes[from + 19] === DOT;
  const isPlain = isPunctuated && hours < 24 && minutes < 60 && seconds < 60 && ms < 1000;
  if (!isSameDay || !isPlain || Number.isNaN(hours + minutes + seconds + ms)) {
    return parsed(bytes, from, to);
  }
  return dayMs + ((hours * 60 + minutes) * 60 + seconds) * 1000 + ms;
}

function two(bytes: Buffer, at: number): number {
  const tens = (bytes[at] ?? 0) - ZERO;
  const ones = (bytes[at + 1] ?? 0) - ZERO;
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : Number.NaN;
}

/** Parses in full, and remembers the day. */
function parsed(bytes: Buffer, from: number, to: number): number {
  const text = bytes.toString("latin1", from, to);
  const ms = Date.parse(text);
  const first = Date.parse(`${text.slice(0, 10)}T00:00:00.000Z`);
  const isPunctuated = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text);
  if (!Number.isNaN(ms) && !Number.isNaN(first) && isPunctuated) {
    day.set(bytes.subarray(from, from + 10));
    dayMs = first;
  }
  return ms;
}
