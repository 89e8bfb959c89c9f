/** Displaced write: the errors of a signed session next to which another program writes. */

import { errnoOf, VerbatimError } from "../base/errors.ts";

/** A refused append whose lines could not be cut off (turn.ts, `cutBack`). */
export function staysInLog(path: string, cause: unknown): VerbatimError {
  return new VerbatimError(
    "IO_ERROR",
    `an append to ${path} could not be signed, and its lines are still there: another program wrote ` +
      "after them. They count as found; do not append them again",
    { path, operation: "signing", errno: errnoOf(cause) },
    { cause },
  );
}

/** Nothing is signed while another program writes faster than we do, or over what it wrote. */
export function displaced(path: string): VerbatimError {
  return new VerbatimError(
    "CHANGED_WHILE_READ",
    `another program appended to ${path} while it was signed; nothing was signed, try again`,
    { path, offset: 0 },
  );
}
