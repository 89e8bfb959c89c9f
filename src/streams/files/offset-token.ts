/**
 * Offset tokens: an offset in a stream, as sent over the wire.
 *
 * `"%016d_%016d"` of readSeq and byteOffset, so that tokens sort like offsets. Only this file
 * parses them. Format: docs/formats/streams.md, "Offsets".
 *
 * readSeq is the stream's incarnation: it grows when a deleted stream is created again, so an old
 * token never names an offset in new data.
 *
 * byteOffset counts the stored bytes before it; in a JSON stream each message includes its LF. A
 * fork continues the count of its source, so no token is ever translated.
 */

import { checkWhole } from "../../core/base/choice.ts";

declare const offsetToken: unique symbol;

/** An offset in a stream. Opaque to clients; compares as a string. */
export type OffsetToken = string & { readonly [offsetToken]: true };

/** The contents of a token. */
export interface ReadFrom {
  readonly readSeq: number;
  readonly byteOffset: number;
}

const FORM = /^(\d{16})_(\d{16})$/;

export function formatOffset(readSeq: number, byteOffset: number): OffsetToken {
  checkWhole("readSeq", readSeq);
  checkWhole("byteOffset", byteOffset);
  return `${digits(readSeq)}_${digits(byteOffset)}` as OffsetToken;
}

/** Null when it is not a valid token. */
export function parseOffset(token: string): ReadFrom | null {
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
