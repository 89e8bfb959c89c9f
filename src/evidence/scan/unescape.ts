/**
 * Unescape: a text with the escapes of JSON strings replaced by what they stand for, and where each
 * character was before. The same for base64, and for values that the end of a line breaks.
 *
 * Works on any text, not only on JSON: JSON inside JSON, or inside a listing with line numbers, is
 * decoded by doing it again, a level at a time.
 */

/** Replaces every character outside ASCII: not a letter, a digit or a space to any rule. */
export const OTHER_CHARACTER = "\x80";

const ESCAPED: Readonly<Record<string, string>> = {
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  '"': '"',
  "/": "/",
  "\\": "\\",
};

export interface UnescapedText {
  readonly text: string;
  /** Where the character at `index` begins in the text that was passed. */
  at(index: number): number;
}

/** `isAscii`: characters outside ASCII become `OTHER_CHARACTER`. */
export function unescapeOnce(given: string, isAscii = true): UnescapedText {
  const pieces: string[] = [];
  /** Indexes after each escape: in the result, and in the text passed. */
  const after: number[] = [];
  const before: number[] = [];
  let copied = 0;
  let length = 0;
  for (let at = given.indexOf("\\"); at !== -1; at = given.indexOf("\\", at)) {
    const char = escapedAt(given, at, isAscii);
    if (char === null) {
      at++;
      continue;
    }
    pieces.push(given.slice(copied, at), char.text);
    length += at - copied + char.text.length;
    at += char.length;
    copied = at;
    after.push(length);
    before.push(at);
  }
  if (copied === 0) return { text: given, at: (index) => index };
  pieces.push(given.slice(copied));
  const at = (index: number) => {
    const escapes = countUpTo(after, index);
    if (escapes === 0) return index;
    return (before[escapes - 1] as number) + index - (after[escapes - 1] as number);
  };
  return { text: pieces.join(""), at };
}

/** Null: not an escape of JSON; the backslash stays. */
function escapedAt(
  text: string,
  at: number,
  isAscii: boolean,
): { readonly text: string; readonly length: number } | null {
  const next = text[at + 1] ?? "";
  if (next !== "u") {
    const char = Object.hasOwn(ESCAPED, next) ? ESCAPED[next] : undefined;
    return char === undefined ? null : { text: char, length: 2 };
  }
  const hex = text.slice(at + 2, at + 6);
  if (!/^[0-9a-fA-F]{4}$/.test(hex)) return null;
  const code = Number.parseInt(hex, 16);
  return { text: code < 0x80 || !isAscii ? String.fromCharCode(code) : OTHER_CHARACTER, length: 6 };
}

/** The end of a line inside a value, with the indentation that follows it. */
const BREAK = /(?<=[\w+/=.-])\r?\n[ \t]{0,8}(?=[\w+/=.-])/g;

/** Two lines as one, joined at `gap`. */
export interface JoinedLines extends UnescapedText {
  readonly gap: number;
  /** Whether it begins or ends where the text does. */
  readonly isFirst: boolean;
  readonly isLast: boolean;
}

/** Each two lines between which a value may be broken, joined. */
export function* joinedLines(given: string): Iterable<JoinedLines> {
  for (const { 0: gap, index } of given.matchAll(BREAK)) {
    const start = given.lastIndexOf("\n", index - 1) + 1;
    const next = index + gap.length;
    const lf = given.indexOf("\n", next);
    const end = lf === -1 ? given.length : lf;
    const before = index - start;
    const at = (place: number) => (place < before ? start + place : next + place - before);
    const text = given.slice(start, index) + given.slice(next, end);
    yield { text, gap: before, isFirst: start === 0, isLast: end === given.length, at };
  }
}

/** Characters of base64, in one of its two alphabets; lines of it may be broken. */
const BASE64 = /^[A-Za-z0-9+/_-]{24,}(?:(?:\\n|\r?\n)[A-Za-z0-9+/_-]{4,})*={0,2}/;
const NO_BASE64 = /\\n|[\r\n=]/g;
/** Base64 of more is not text that a person pasted. */
export const BASE64_CHARS_MAX = 1_048_576;
/** So many characters tell base64 of text from other tokens. */
const HEAD_CHARS = 24;
/** The six bits of each character, in both alphabets; 64 for all others. */
const SIX_BITS = new Uint8Array(256).fill(64);
for (const alphabet of ["+/", "-_"]) {
  const chars = `ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789${alphabet}`;
  for (const [value, char] of chars.split("").entries()) SIX_BITS[char.charCodeAt(0)] = value;
}

/** Whether the characters here look like base64 of text: nothing else decodes to printable bytes. */
export function isBase64Text(bytes: Uint8Array, at: number): boolean {
  let bits = 0;
  for (let n = 0; n < HEAD_CHARS; n++) {
    const value = SIX_BITS[bytes[at + n] ?? 0] as number;
    if (value === 64) return false;
    bits = ((bits << 6) | value) & 0xffffff;
    if (n % 4 !== 3) continue;
    if (!isPrintable(bits >> 16) || !isPrintable((bits >> 8) & 255) || !isPrintable(bits & 255)) {
      return false;
    }
  }
  return true;
}

function isPrintable(byte: number): boolean {
  return (byte >= 0x20 && byte < 0x7f) || byte === 0x0a || byte === 0x0d || byte === 0x09;
}

/** The text of the base64 that begins here, and where each byte of it is; an end is that of its group. */
export function fromBase64(
  bytes: Buffer,
  start: number,
): { readonly text: string; readonly end: number; at(index: number, isEnd?: boolean): number } {
  const given = bytes.toString("latin1", start, start + BASE64_CHARS_MAX);
  const [spelled = ""] = BASE64.exec(given) ?? [];
  /** Where the characters after each break are, without breaks and with them. */
  const before: number[] = [];
  const after: number[] = [];
  let removed = 0;
  const chars = spelled.replace(NO_BASE64, (gap, index: number) => {
    before.push(index - removed);
    removed += gap.length;
    after.push(index + gap.length);
    return "";
  });
  const placeOf = (char: number) => {
    const passed = countUpTo(before, char);
    return passed === 0 ? char : (after[passed - 1] as number) + char - (before[passed - 1] ?? 0);
  };
  const at = (index: number, isEnd = false) => {
    if (!isEnd) return start + placeOf(Math.floor((index * 4) / 3));
    return start + placeOf(Math.min(chars.length, Math.ceil((index * 4) / 3)) - 1) + 1;
  };
  const text = Buffer.from(chars, "base64").toString("latin1");
  return { text, end: start + spelled.length, at };
}

/** How many of the sorted numbers are at most `limit`. */
function countUpTo(sorted: readonly number[], limit: number): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((sorted[middle] as number) <= limit) low = middle + 1;
    else high = middle;
  }
  return low;
}
