/** Invalid entry: the error for entries that this dialect refuses to write. */

import { VerbatimError } from "../../base/errors.ts";

export function invalidEntry(
  field: string,
  reason: string,
  cause?: unknown,
): VerbatimError<"INVALID_ENTRY"> {
  return new VerbatimError(
    "INVALID_ENTRY",
    `the entry is refused: ${field}: ${reason}; nothing was written`,
    { field, reason },
    cause === undefined ? {} : { cause },
  );
}
