/**
 * Copy text: a line of a disclosed copy in pieces, and as a value in which withheld strings are
 * marked. The mark is random, so no line can pretend that something is withheld.
 */

import { parseExactly } from "../../../src/core/base/exact-numbers.ts";
import { toHex } from "../../../src/trust/proof/bytes.ts";
import type { Gap } from "../../../src/trust/proof/disclosure/records.ts";

const decoder = new TextDecoder();
const MARK = `withheld ${toHex(crypto.getRandomValues(new Uint8Array(16)))} `;

/** Text as it is, or something withheld. */
export type CopyPiece = { readonly text: string } | { readonly gap: Gap };

export function piecesOf(bytes: Uint8Array, gaps: readonly Gap[]): CopyPiece[] {
  const pieces: CopyPiece[] = [];
  let at = 0;
  for (const gap of gaps) {
    pieces.push({ text: decoder.decode(bytes.subarray(at, gap.at)) }, { gap });
    at = gap.at + gap.length;
  }
  return [...pieces, { text: decoder.decode(bytes.subarray(at)) }];
}

/** The line's JSON, with a mark in place of each withheld string; undefined if it is not JSON. */
export function valueIn(bytes: Uint8Array, gaps: readonly Gap[]): unknown {
  const texts = piecesOf(bytes, gaps).map((piece, n) => {
    return "text" in piece ? piece.text : `${MARK}${(n - 1) / 2}`;
  });
  try {
    return parseExactly(texts.join(""));
  } catch {
    return undefined;
  }
}

/** The gap that a string of the value marks. */
export function gapMarked(text: string, gaps: readonly Gap[]): Gap | null {
  return text.startsWith(MARK) ? (gaps[Number(text.slice(MARK.length))] ?? null) : null;
}

const SPEAKERS = ["role", "type", "event_type", "kind"];
const TIMES = ["ts", "timestamp", "time", "createdAt"];
const NAME_CHARS_MAX = 40;

/** Who speaks in a line, and when, as far as its first fields say so. */
export function headOf(value: unknown, gaps: readonly Gap[]) {
  const fields = (typeof value === "object" && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  const said = SPEAKERS.map((key) => fields[key]).find((each) => {
    return typeof each === "string" && each.length <= NAME_CHARS_MAX && !gapMarked(each, gaps);
  });
  const time = TIMES.map((key) => fields[key]).find((each) => {
    return (
      typeof each === "number" || (typeof each === "string" && !Number.isNaN(Date.parse(each)))
    );
  });
  const ms = new Date(time as string | number).getTime();
  const at = time === undefined || Number.isNaN(ms) ? null : new Date(ms).toISOString();
  return { speaker: (said as string | undefined) ?? null, at };
}
