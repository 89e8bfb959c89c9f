/** Trouble: an operating system error during examination, as a finding. */

import { errnoOf, VerbatimError } from "../base/errors.ts";
import { type Finding, type FoundAt, finding } from "./finding.ts";

/** Null if the file no longer exists: sessions may be deleted meanwhile. */
export function troubleOf(at: FoundAt, error: unknown): Finding | null {
  if (error instanceof VerbatimError) {
    if (error.code === "LOG_NOT_FOUND") return null;
    if (error.code === "UNSAFE_PATH") return refused(at);
  }
  const errno = errnoIn(error);
  if (errno === "ENOENT") return null;
  if (errno === "ELOOP") return refused(at);
  if (errno === "UNKNOWN") throw error; // A bug of ours, not a finding.
  return finding("UNREADABLE", at, `it cannot be read: ${errno}`);
}

/** The operating system's error code, also inside an error of ours. */
export function errnoIn(error: unknown): string {
  if (!(error instanceof VerbatimError)) return errnoOf(error);
  return error.code === "IO_ERROR" && "errno" in error.details ? error.details.errno : "UNKNOWN";
}

function refused(at: FoundAt): Finding {
  return finding("SYMLINK_REFUSED", at, "it is no plain file, or lies behind a symbolic link");
}
