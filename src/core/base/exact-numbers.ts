/**
 * Exact numbers: reads JSON whose numbers JavaScript cannot represent.
 *
 * Other languages write integers of 64 bits and more. JSON.parse reads 9007199254740993 as
 * 9007199254740992, and showing or recording that would silently alter the input. Decimal fractions
 * are doubles for their writer as well, and are read as the same double.
 *
 * Only a text with a long sequence of digits pays for this; finding that out takes a fraction of
 * JSON.parse. Nothing here recurses: a line can be nested millions deep.
 */

const NUMBERS = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const MAY_OVERFLOW = /[eE]\+?\d{3}/;
/** 2^53 has as many. */
const LONG_DIGITS = 16;

/** The first number that would be altered, or null. The text is known to be valid JSON. */
export function inexactNumber(json: string): string | null {
  if (!hasLongDigits(json) && !MAY_OVERFLOW.test(json)) return null;
  let found: string | null = null;
  replaceNumbers(json, (number) => {
    if (found === null && isAltered(number)) found = number;
    return null;
  });
  return found;
}

/**
 * Like JSON.parse, but an integer that a double would alter becomes a string of its digits. What
 * JSON.stringify wrote is read as JSON.parse reads it.
 */
export function parseExactly(json: string): unknown {
  if (!hasLongDigits(json)) return JSON.parse(json);
  return parseQuoted(json, isAlteredInteger, (holder, key) => {
    const keys = DIGIT_KEYS.get(holder);
    if (keys) keys.add(key);
    else DIGIT_KEYS.set(holder, new Set([key]));
  });
}

/** By object or list of `parseExactly`: nothing else tells such a string from others. */
const DIGIT_KEYS = new WeakMap<object, Set<string>>();

/** The keys or indices of this object or list at which `parseExactly` made a string of digits. */
export function digitKeys(holder: object): ReadonlySet<string> | null {
  return DIGIT_KEYS.get(holder) ?? null;
}

/** A number as it is written, for printers that need its spelling: `30.0` is not `30` to Python. */
export class SourceNumber {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

/** Like JSON.parse, but the numbers that `isWanted` selects become `SourceNumber`s. */
export function parseWithSource(json: string, isWanted: (number: string) => boolean): unknown {
  return parseQuoted(json, isWanted, (holder, key, number) => {
    // Not by assignment, which would set the prototype where the key is `__proto__`.
    Object.defineProperty(holder, key, { value: new SourceNumber(number) });
  });
}

/** Parses with the selected numbers as strings, and calls back with the place of each. */
function parseQuoted(
  json: string,
  isWanted: (number: string) => boolean,
  onNumber: (holder: object, key: string, number: string) => void,
): unknown {
  const plain = { value: JSON.parse(json) as unknown };
  const quoted = replaceNumbers(json, (number) => (isWanted(number) ? `"${number}"` : null));
  if (quoted === json) return plain.value;
  const root = { value: JSON.parse(quoted) as unknown };
  const rest: [object, object][] = [[plain, root]];
  for (let pair = rest.pop(); pair; pair = rest.pop()) {
    const [before, after] = pair as [object, Record<string, unknown>];
    for (const [key, was] of Object.entries(before)) {
      const now = after[key];
      if (typeof was === "number" && typeof now === "string") onNumber(after, key, now);
      if (typeof was === "object" && was !== null) rest.push([was, now as object]);
    }
  }
  return root.value;
}

const INTEGER = /^-?\d+$/;

function isAlteredInteger(number: string): boolean {
  return INTEGER.test(number) && isAltered(number);
}

function isAltered(number: string): boolean {
  const value = Number(number);
  if (!Number.isFinite(value)) return true;
  if (!INTEGER.test(number)) return false;
  // Exact if the value is the same, or at least the digits that will be written.
  return BigInt(number) !== BigInt(value) && String(value) !== number;
}

/** The text with some of its numbers replaced; `replace` returns null to keep one. */
function replaceNumbers(json: string, replace: (number: string) => string | null): string {
  let replaced = "";
  let copiedTo = 0;
  for (let at = 0; at < json.length; ) {
    const quote = json.indexOf('"', at);
    for (const match of json.slice(at, quote < 0 ? json.length : quote).matchAll(NUMBERS)) {
      const instead = replace(match[0]);
      if (instead === null) continue;
      replaced += json.slice(copiedTo, at + match.index) + instead;
      copiedTo = at + match.index + match[0].length;
    }
    if (quote < 0) break;
    at = endOfString(json, quote + 1);
  }
  return copiedTo === 0 ? json : replaced + json.slice(copiedTo);
}

/** Looks at every sixteenth character only: a sequence of sixteen digits contains one of them. */
export function hasLongDigits(text: string): boolean {
  for (let at = LONG_DIGITS - 1; at < text.length; at += LONG_DIGITS) {
    if (!isDigit(text.charCodeAt(at))) continue;
    let [from, to] = [at, at + 1];
    while (isDigit(text.charCodeAt(from - 1))) from--;
    while (isDigit(text.charCodeAt(to))) to++;
    if (to - from >= LONG_DIGITS) return true;
  }
  return false;
}

function isDigit(unit: number): boolean {
  return unit >= 0x30 && unit <= 0x39;
}

/**
 * The index after the closing quote; not by a regular expression, which fails at a few million
 * characters.
 */
function endOfString(json: string, from: number): number {
  for (let quote = json.indexOf('"', from); quote >= 0; quote = json.indexOf('"', quote + 1)) {
    let escapes = 0;
    while (json[quote - 1 - escapes] === "\\" && quote - 1 - escapes >= from) escapes++;
    if (escapes % 2 === 0) return quote + 1;
  }
  return json.length;
}
