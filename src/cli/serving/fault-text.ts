/** Fault text: a fault of the server as the command prints it. */

import { VerbatimError } from "../../base/errors.ts";

/** A stack is for faults of the program; what a disk or a database refuses needs none. */
export function faultText(cause: unknown): string {
  if (cause instanceof VerbatimError) return `${cause.message} (${cause.code})`;
  return cause instanceof Error ? (cause.stack ?? cause.message) : String(cause);
}
