/**
 * Unescape: a text with the escapes of JSON strings replaced by what they stand for, and where each
 * character was before.
 *
 * Works on any text, not only on JSON: JSON inside JSON, or inside a listing with line numbers, is
 * decoded by doing it again, a level at a time.
 */

/** Replaces every character outside ASCII: not a letter, a digit or a space to any rule. */
export const OTHER = "\x80";

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

/** `isAscii`: characters outside ASCII become `OTHER`. */
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
  return { text: code < 0x80 || !isAscii ? String.fromCharCode(code) : OTHER, length: 6 };
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
