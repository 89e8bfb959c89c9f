/**
 * Unused directory: a data directory that nobody has open, for those who only look at it.
 *
 * UD1  Until it is closed, no server starts there (data-directory.ts, DD1). Others may look, too.
 */

import { errnoOf, VerbatimError } from "../../base/errors.ts";
import type { Directory, OpenFile } from "../../base/files.ts";

/** Refuses with LOG_LOCKED one that is in use; else what holds it until it is closed. */
export function lockUnused(root: Directory): { close(): void } {
  let file: OpenFile;
  try {
    file = root.open("streams.lock", "read");
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return { close() {} }; // Nobody has ever opened it.
    throw cause;
  }
  if (file.tryLock("shared")) return file;
  file.close();
  throw new VerbatimError(
    "LOG_LOCKED",
    `${root.path} is in use by a server, and cannot be examined meanwhile; stop it, or examine a ` +
      "backup",
    { path: root.path, holder: "unknown" },
  );
}
