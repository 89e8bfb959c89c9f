/**
 * Filling: a line with `x` in place of each withheld string, so that its strings are found as in
 * the original. The contents of a withheld string end before its closing quote, whatever they are.
 */

import { LOG_LIMITS } from "../../../core/base/limits.ts";
import { asAscii } from "../bytes.ts";
import type { Gap } from "./records.ts";

const X = 0x78;
const ZERO = 0x30;
const UPPER_A = 0x41;
const EQUALS = 0x3d;

/** The line in its full length; null if the gaps do not fit into it, or it is too long. */
export function fillGaps(rest: Uint8Array, gaps: readonly Gap[]): Uint8Array | null {
  let length = rest.length;
  for (const gap of gaps) {
    length += gap.length;
    if (length > LOG_LIMITS.lineBytesMax) return null;
  }
  const line = new Uint8Array(length).fill(X);
  let [from, to] = [0, 0];
  for (const { at, length } of gaps) {
    const shown = at - to;
    if (shown < 0 || from + shown > rest.length) return null;
    line.set(rest.subarray(from, from + shown), to);
    from = from + shown;
    to = at + length;
  }
  line.set(rest.subarray(from), to);
  return line;
}

/** The strings of genesis that are always withheld: key, length, and a valid character for each. */
const SECRETS = [
  { key: '"hash":"', length: 64, fill: ZERO, padding: 0 },
  { key: '"sig":"', length: 88, fill: UPPER_A, padding: 2 },
  { key: '"salt":"', length: 64, fill: ZERO, padding: 0 },
  { key: '"sig2":"', length: 86, fill: UPPER_A, padding: 0 },
];

/** Genesis with harmless values in place of its secrets; null unless exactly these are withheld. */
export function fillGenesis(rest: Uint8Array, gaps: readonly Gap[]): Uint8Array | null {
  const line = gaps.length === SECRETS.length ? fillGaps(rest, gaps) : null;
  if (!line) return null;
  for (const [n, { key, length, fill, padding }] of SECRETS.entries()) {
    const gap = gaps[n];
    if (gap?.length !== length || gap.at < key.length) return null;
    if (asAscii(line.subarray(gap.at - key.length, gap.at)) !== key) return null;
    const end = gap.at + length;
    line.fill(fill, gap.at, end - padding).fill(EQUALS, end - padding, end);
  }
  return line;
}

/** Whether a string of genesis, whose contents begin here, is always withheld. */
export function isSecret(line: Uint8Array, at: number): boolean {
  return SECRETS.some(({ key }) => {
    return at >= key.length && asAscii(line.subarray(at - key.length, at)) === key;
  });
}
