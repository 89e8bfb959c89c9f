/** Which of similar planted bugs (program.ts) a run tries. */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Mutation, sourceWith } from "./program.ts";
import { isTried } from "./seed.ts";

const root = fileURLToPath(new URL("../..", import.meta.url));

/**
 * One in three of similar mutations. All must still have their line, so that
 * none goes stale unnoticed.
 */
export function triedMutations<T extends Mutation>(all: readonly T[], folder = ""): T[] {
  for (const { file, line } of all) sourceWith(join(root, folder, file), line);
  return all.filter((_, nth) => isTried(nth, 3));
}
