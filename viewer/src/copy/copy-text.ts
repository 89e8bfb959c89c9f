/** Copy text: a line of a disclosed copy in pieces. */

import type { Gap } from "../../../src/trust/proof/disclosure/records.ts";

const decoder = new TextDecoder();

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
