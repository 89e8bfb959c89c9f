/**
 * Exact numbers: whether a JSON text contains a number that JavaScript cannot represent.
 *
 * Other languages write integers of 64 bits and more. Parsing 9007199254740993 gives
 * 9007199254740992, and recording that would silently alter the input. Decimal fractions are
 * doubles for their writer as well, and are read as the same double.
 */

const NUMBERS = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Cheap to test, and rare: only these patterns can lose a number. */
const MAY_LOSE = /\d{16}|[eE]\+?\d{2}/;

/** The first number that would be altered, or null. The text is known to be valid JSON. */
export function inexactNumber(json: string): string | null {
  if (!MAY_LOSE.test(json)) return null;
  for (let at = 0; at < json.length; ) {
    const quote = json.indexOf('"', at);
    const outside = json.slice(at, quote < 0 ? json.length : quote);
    for (const [number] of outside.matchAll(NUMBERS)) if (isAltered(number)) return number;
    if (quote < 0) break;
    at = endOfString(json, quote + 1);
  }
  return null;
}

function isAltered(number: string): boolean {
  const value = Number(number);
  if (!Number.isFinite(value)) return true;
  if (!/^-?\d+$/.test(number)) return false;
  // Exact if the value is the same, or at least the digits that will be written.
  return BigInt(number) !== BigInt(value) && String(value) !== number;
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
