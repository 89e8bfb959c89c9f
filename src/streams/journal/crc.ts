/**
 * CRC: the checksum of stored bytes, continued from piece to piece.
 *
 * For an empty array whose `buffer` was accessed, Node (20.20) passes zlib a null pointer, which
 * zlib takes for "start again": the checksum so far would be lost. So it is not called for empty
 * arrays.
 */

import { crc32 } from "node:zlib";

export function crcOf(bytes: Uint8Array | string, before = 0): number {
  return bytes.length === 0 ? before : crc32(bytes, before);
}

/** Eight digits, so that a crc has one spelling. */
export function hex(crc: number): string {
  return crc.toString(16).padStart(8, "0");
}
