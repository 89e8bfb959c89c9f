/**
 * Exact numbers: whether a JSON text says a number that JavaScript cannot hold.
 *
 * Other languages write whole numbers of 64 bits and more. Reading 9007199254740993 gives
 * 9007199254740992, and recording that would alter what was given without a word. Decimal
 * fractions are doubles to whoever wrote them, and come out as the same double.
 */

const NUMBERS = /-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Cheap to look for, and rare: only with one of these can a number be lost. */
const MAY_LOSE = /\d{16}|[eE]\+?\d{2}/;

/** The first number that would be altered, or null. The text is known to be JSON. */
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
  // Kept when the value is the same, or at least the digits that will be written.
  return BigInt(number) !== BigInt(value) && String(value) !== number;
}

/** After the quote that ends the string; not by a pattern, which gives up at a few million characters. */
function endOfString(json: string, from: number): number {
  for (let quote = json.indexOf('"', from); quote >= 0; quote = json.indexOf('"', quote + 1)) {
    let escapes = 0;
    while (json[quote - 1 - escapes] === "\\" && quote - 1 - escapes >= from) escapes++;
    if (escapes % 2 === 0) return quote + 1;
  }
  return json.length;
}
