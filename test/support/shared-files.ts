/** Shared files: public data next to the project that tests use, and that is not part of it. */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface SharedFiles {
  readonly path: string;
  /** If false, the tests that need it are skipped. */
  readonly isThere: boolean;
}

/** Where the data is; prints which tests are skipped if it is missing. */
export function sharedFiles(name: string, what: string, skipped: string): SharedFiles {
  const path = fileURLToPath(new URL(`../../../shared/${name}`, import.meta.url));
  const isThere = existsSync(path);
  if (!isThere) process.stderr.write(`No ${what} next to the project: ${skipped} skipped.\n`);
  return { path, isThere };
}
