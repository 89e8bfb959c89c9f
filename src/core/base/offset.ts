/** Offsets and line numbers: distinct types, so that they are not mixed up. */

import { checkWhole } from "./choice.ts";
import { assert } from "./errors.ts";

declare const byteOffset: unique symbol;
declare const lineNumber: unique symbol;

/** A position in a log: bytes from its start, on a line boundary: 0, or one past an LF. */
export type ByteOffset = number & { readonly [byteOffset]: true };

/** Lines before this one, from 0. Shown to people from 1. */
export type LineNumber = number & { readonly [lineNumber]: true };

export const START = 0 as ByteOffset;

export function toByteOffset(bytes: number): ByteOffset {
  checkWhole("offset", bytes);
  return bytes as ByteOffset;
}

export function toLineNumber(lines: number): LineNumber {
  assert(Number.isSafeInteger(lines) && lines >= 0, "a line number is a whole number from 0 up");
  return lines as LineNumber;
}
