/**
 * Empty session: removes what `record` created for a session that got no entry.
 *
 * Only empty files are removed, and the log while its lock is held: another process that waits for
 * it makes a new one (src/log/lock.ts, L2).
 */

import { readdirSync, rmdirSync, statSync, unlinkSync } from "node:fs";
import { dirname, join } from "node:path";

/** Removes an empty log and its lock. Whether it did; a log with bytes or a sidecar file stays. */
export function removeEmptyLog(path: string): boolean {
  try {
    if (statSync(path).size > 0 || hasSidecar(path)) return false;
    unlinkSync(path);
    unlinkSync(`${path}.lock`);
    return true;
  } catch {
    return false; // It stays, as an empty session.
  }
}

function hasSidecar(path: string): boolean {
  const name = path.slice(dirname(path).length + 1);
  const others = readdirSync(dirname(path)).filter((each) => each.startsWith(`${name}.`));
  return others.some((each) => each !== `${name}.lock`);
}

/** After closing: removes the session's own directory, with derived files that got no text. */
export function removeEmptyDirectory(directory: string, derived: readonly string[]): void {
  try {
    for (const name of readdirSync(directory)) {
      const path = join(directory, name);
      if (derived.includes(name) && statSync(path).size === 0) unlinkSync(path);
    }
    rmdirSync(directory);
  } catch {
    // It holds something else, which stays.
  }
}
