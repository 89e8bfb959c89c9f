/**
 * Exact numbers: whether a JSON text says a number that JavaScript cannot hold.
 *
 * Other languages write whole numbers of 64 bits and more. Reading 9007199254740993 gives
 * 9007199254740992, and recording that would alter what was given without a word. Decimal
 * fractions are doubles to whoever wrote them, and come out as the same double.
 */

/** Strings, so that digits in them are passed over, and numbers. */
const TOKENS = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
/** Cheap to look for, and rare: only with one of these can a number be lost. */
const MAY_LOSE = /\d{16}|[eE]\+?\d{2}/;

/** The first number that would be altered, or null. The text is known to be JSON. */
export function inexactNumber(json: string): string | null {
  if (!MAY_LOSE.test(json)) return null;
  for (const [token] of json.matchAll(TOKENS)) {
    if (token.startsWith('"')) continue;
    const value = Number(token);
    if (!Number.isFinite(value)) return token;
    const isWhole = /^-?\d+$/.test(token);
    // Kept when the value is the same, or at least the digits that will be written.
    if (isWhole && BigInt(token) !== BigInt(value) && String(value) !== token) return token;
  }
  return null;
}
