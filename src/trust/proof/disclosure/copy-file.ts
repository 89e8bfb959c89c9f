/** Copy file: recognises a disclosed copy by its first bytes, for readers that expect a session. */

import { VerbatimError } from "../../../core/base/errors.ts";
import { asAscii } from "../bytes.ts";

const MAGIC = '{"verbatim":"disclosure",';
export const MAGIC_BYTES = MAGIC.length;
/** How the names of disclosed copies end. */
export const COPY_EXTENSION = ".vbd";

export function beginsAsCopy(bytes: Uint8Array): boolean {
  return asAscii(bytes.subarray(0, MAGIC_BYTES)) === MAGIC;
}

/** The error for a copy where a session is expected. */
export function disclosedCopy(path: string): VerbatimError<"DISCLOSED_COPY"> {
  const message =
    `${path} is a disclosed copy, which shows part of a session and cannot be continued or ` +
    "unpacked; read it with: verbatim show, and check it with: verbatim verify";
  return new VerbatimError("DISCLOSED_COPY", message, { path });
}
