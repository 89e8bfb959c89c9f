/**
 * Tar: the header of a member, in the one spelling of bundles (ustar, POSIX.1-1988).
 *
 * - Name and length decide every byte of a header: a regular file, 0600, no owner, no time. So a
 *   header is read by writing it again and comparing; links, devices, sparse files, other forms of
 *   paths and everything else in tars are refused.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import { BUNDLE_LIMITS } from "../../core/base/limits.ts";
import { asAscii, utf8 } from "../../trust/proof/bytes.ts";

export const BLOCK_BYTES = 512;
/** Two blocks of zeros end the file. */
export const END_BYTES = 2 * BLOCK_BYTES;

/** Offsets of the fields that are not zero. */
const MODE = 100;
const SIZE = 124;
const SUM = 148;
const MAGIC = 257;
const VERSION = 263;
const DEVICE = 329;

/** The header of a member; refuses with BUNDLE_TOO_LARGE what does not fit a header. */
export function memberHeader(name: string, bytes: number): Uint8Array {
  const { memberBytesMax, memberNameMax } = BUNDLE_LIMITS;
  if (bytes > memberBytesMax) throw tooLarge(name, bytes, memberBytesMax);
  if (name.length > memberNameMax) throw tooLarge(name, name.length, memberNameMax);
  const header = new Uint8Array(BLOCK_BYTES);
  header.set(utf8(name), 0);
  const put = (at: number, ...fields: readonly string[]) => {
    header.set(utf8(fields.map((field) => `${field}\u0000`).join("")), at);
  };
  put(MODE, octal(0o600, 7), octal(0, 7), octal(0, 7)); // Then user and group.
  put(SIZE, octal(bytes, 11), octal(0, 11)); // Then the time.
  header.set(utf8("        0"), SUM); // The checksum counts itself as blanks; then the type.
  put(MAGIC, "ustar");
  header.set(utf8("00"), VERSION);
  put(DEVICE, octal(0, 7), octal(0, 7));
  const sum = header.reduce((all, byte) => all + byte, 0);
  header.set(utf8(`${octal(sum, 6)}\u0000 `), SUM);
  return header;
}

/** Parses a header; null when the block is not one. */
export function readHeader(block: Uint8Array): { name: string; bytes: number } | null {
  const text = asAscii(block);
  const [name = ""] = text.slice(0, MODE).split("\u0000");
  const size = text.slice(SIZE, SIZE + 11);
  if (!/^[\w./-]{1,100}$/.test(name) || !/^[0-7]{11}$/.test(size)) return null;
  const bytes = Number.parseInt(size, 8);
  return Buffer.compare(memberHeader(name, bytes), block) === 0 ? { name, bytes } : null;
}

/** Zeros after a member, up to a whole block. */
export function paddingAfter(bytes: number): number {
  return (BLOCK_BYTES - (bytes % BLOCK_BYTES)) % BLOCK_BYTES;
}

function octal(value: number, digits: number): string {
  return value.toString(8).padStart(digits, "0");
}

function tooLarge(path: string, bytes: number, bytesMax: number): VerbatimError {
  return new VerbatimError(
    "BUNDLE_TOO_LARGE",
    `${path} is too large for a bundle: ${bytes} of ${bytesMax} bytes; copy the session's ` +
      "files by other means, and verify them there",
    { path, bytes, bytesMax },
  );
}
