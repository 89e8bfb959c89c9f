/**
 * Offset tokens: a place in a stream, as it goes over the wire.
 *
 * `"%016d_%016d"` of readSeq and byteOffset, so that tokens sort as places do. Only this file looks
 * inside one. Format: docs/formats/streams.md, "Offsets".
 *
 * K1  readSeq is the stream's incarnation: it grows when a deleted stream is made again, so an old
 *     token never names a place in new data.
 * K2  byteOffset counts the stored bytes before the place; in a JSON stream each message counts its
 *     LF. A fork counts on from where it left its source: no token is ever translated.
 */

import { checkWhole } from "../base/choice.ts";

declare const offsetToken: unique symbol;

/** A place in a stream. Opaque to whoever receives it; compares as a string. */
export type OffsetToken = string & { readonly [offsetToken]: true };

/** What a token says. */
export interface Place {
  readonly readSeq: number;
  readonly byteOffset: number;
}

const FORM = /^(\d{16})_(\d{16})$/;

export function formatOffset(readSeq: number, byteOffset: number): OffsetToken {
  checkWhole("readSeq", readSeq);
  checkWhole("byteOffset", byteOffset);
  return `${digits(readSeq)}_${digits(byteOffset)}` as OffsetToken;
}

/** Null when it is no token of ours. */
export function parseOffset(token: string): Place | null {
  const match = FORM.exec(token);
  if (match === null) return null;
  const readSeq = Number(match[1]);
  const byteOffset = Number(match[2]);
  return Number.isSafeInteger(readSeq) && Number.isSafeInteger(byteOffset)
    ? { readSeq, byteOffset }
    : null;
}

function digits(value: number): string {
  return String(value).padStart(16, "0");
}
