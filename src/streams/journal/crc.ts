/**
 * CRC: the checksum of stored bytes, which goes on from one piece to the next.
 *
 * Of an empty array whose `buffer` somebody has looked at, Node (20.20) hands zlib a null pointer,
 * which zlib takes for "begin anew": the checksum so far would be lost. So of nothing it is not
 * asked.
 */

import { crc32 } from "node:zlib";

export function crcOf(bytes: Uint8Array | string, before = 0): number {
  return bytes.length === 0 ? before : crc32(bytes, before);
}

/** Eight digits, so that a crc has one spelling. */
export function hex(crc: number): string {
  return crc.toString(16).padStart(8, "0");
}
