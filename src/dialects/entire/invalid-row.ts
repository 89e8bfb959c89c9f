/** Invalid row: how this dialect refuses what it will not write. */

import { VerbatimError } from "../../base/errors.ts";

/** Names the field and what is wrong with it, never what it holds. */
export function refuse(field: string, reason: string): never {
  throw new VerbatimError(
    "INVALID_ENTRY",
    `the row is refused: ${field} is ${reason}; nothing was written. See docs/formats/entire.md`,
    { field, reason },
  );
}
