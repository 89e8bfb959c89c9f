/** DerivedFiles the project: public data that tests are tried on, and that is no part of it. */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface DerivedFiles {
  readonly path: string;
  /** Where it is not, the tests that need it are passed over. */
  readonly isThere: boolean;
}

/** What lies there; says loudly when it does not, and which tests are skipped for it. */
export function besideProject(name: string, what: string, skipped: string): DerivedFiles {
  const path = fileURLToPath(new URL(`../../../shared/${name}`, import.meta.url));
  const isThere = existsSync(path);
  if (!isThere) process.stderr.write(`No ${what} beside the project: ${skipped} skipped.\n`);
  return { path, isThere };
}
