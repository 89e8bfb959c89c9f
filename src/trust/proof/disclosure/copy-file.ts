/**
 * Copy file: recognises a disclosed or masked copy by its first bytes, for readers that expect a
 * session.
 */

import { VerbatimError } from "../../../core/base/errors.ts";
import { asAscii } from "../bytes.ts";

const DISCLOSED = '{"verbatim":"disclosure",';
const MASKED = '{"verbatim":"masked-copy",';
export const MAGIC_BYTES = Math.max(DISCLOSED.length, MASKED.length);
/** How the names of disclosed copies end. */
export const COPY_EXTENSION = ".vbd";

export function beginsAsCopy(bytes: Uint8Array): boolean {
  return begins(bytes, DISCLOSED) || beginsAsMasked(bytes);
}

/** Whether it is a masked copy, in which nothing is a signature (docs/formats/share.md). */
export function beginsAsMasked(bytes: Uint8Array): boolean {
  return begins(bytes, MASKED);
}

function begins(bytes: Uint8Array, magic: string): boolean {
  return asAscii(bytes.subarray(0, magic.length)) === magic;
}

/** The error for a copy where a session is expected. */
export function disclosedCopy(path: string): VerbatimError<"DISCLOSED_COPY"> {
  const message =
    `${path} is a disclosed copy, which shows part of a session and cannot be continued or ` +
    "unpacked; read it with: verbatim show, and check it with: verbatim verify";
  return new VerbatimError("DISCLOSED_COPY", message, { path });
}
