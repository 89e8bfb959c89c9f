/** Shared files: public data next to the project that tests use, and that is not part of it. */

import { existsSync } from "node:fs";
import { fileURLToPath } from "node:url";

export interface SharedFiles {
  readonly path: string;
  /** If false, the tests of these files are not declared: samples of our own are always tested. */
  readonly isThere: boolean;
}

export function sharedFiles(name: string): SharedFiles {
  const path = fileURLToPath(new URL(`../../../shared/${name}`, import.meta.url));
  return { path, isThere: existsSync(path) };
}
