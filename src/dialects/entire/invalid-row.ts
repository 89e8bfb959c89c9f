/** Invalid row: the error for rows that this dialect refuses to write. */

import { VerbatimError } from "../../base/errors.ts";

/** Names the field and the fault, never the field's value. */
export function refuse(field: string, reason: string): never {
  throw new VerbatimError(
    "INVALID_ENTRY",
    `the row is refused: ${field} is ${reason}; nothing was written. See docs/formats/entire.md`,
    { field, reason },
  );
}
