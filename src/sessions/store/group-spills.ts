/** Group spills: spill files of entries that share a write (for values too long for a line). */

import { type ErrorCode, VerbatimError } from "../../core/base/errors.ts";
import type { Directory } from "../../core/base/files.ts";
import type { Waiting } from "../../core/log/waiting.ts";
import type { SpillFile } from "../../dialects/dialect.ts";
import { removeSpills, writeSpills } from "../../dialects/files/spill-files.ts";

type Spilling = Waiting<{ readonly spills: readonly SpillFile[] }>;
type OpenDirectory = () => Promise<Directory>;

/** After these errors the log is unchanged. */
const NOTHING_WRITTEN: readonly ErrorCode[] = ["NO_SPACE", "LOG_LOCKED", "LOG_CLOSED"];

/**
 * Writes the files (spill-files.ts, SF1). Rejects entries whose files cannot be written; returns
 * the rest.
 */
export async function spillGroup<T extends Spilling>(
  group: readonly T[],
  openDirectory: OpenDirectory,
): Promise<readonly T[]> {
  const written: T[] = [];
  for (const waiting of group) {
    const { spills } = waiting.content;
    try {
      if (spills.length > 0) await inDirectory(openDirectory, (at) => writeSpills(at, spills));
      written.push(waiting);
    } catch (error) {
      waiting.reject(error);
    }
  }
  return written;
}

/**
 * Removes the spill files of a refused append if it left nothing in the log. After a failed sync
 * that is unknown: the line may be there when the log is reopened, and would need its files.
 */
export async function unspillGroup(
  group: readonly Spilling[],
  openDirectory: OpenDirectory,
  error: unknown,
): Promise<void> {
  const spills = group.flatMap(({ content }) => content.spills);
  const isGone = error instanceof VerbatimError && NOTHING_WRITTEN.includes(error.code);
  if (spills.length === 0 || !isGone) return;
  try {
    await inDirectory(openDirectory, async (at) => removeSpills(at, spills));
  } catch {
    // The files stay, but nothing refers to them. The caller reports why the append failed.
  }
}

async function inDirectory(
  openDirectory: OpenDirectory,
  work: (directory: Directory) => Promise<void>,
): Promise<void> {
  const directory = await openDirectory();
  try {
    await work(directory);
  } finally {
    directory.close();
  }
}
