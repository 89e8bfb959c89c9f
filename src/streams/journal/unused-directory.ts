/**
 * Unused directory: a data directory that no server has open, for examining it.
 *
 * Until it is closed, no server can start there (data-directory.ts, DD1). Others may examine it
 * too.
 */

import { errnoOf, VerbatimError } from "../../base/errors.ts";
import type { Directory, OpenFile } from "../../base/files.ts";

/** Throws LOG_LOCKED if it is in use; otherwise holds it until it is closed. */
export function lockUnused(root: Directory): { close(): void } {
  let file: OpenFile;
  try {
    file = root.open("streams.lock", "read");
  } catch (cause) {
    if (errnoOf(cause) === "ENOENT") return { close() {} }; // It was never opened.
    throw cause;
  }
  if (file.tryLock("shared")) return file;
  file.close();
  throw new VerbatimError(
    "LOG_LOCKED",
    `${root.path} is in use by a server, and cannot be examined now; stop it, or examine a ` +
      "backup",
    { path: root.path, holder: "unknown" },
  );
}
