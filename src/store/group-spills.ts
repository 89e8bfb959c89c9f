/** Group spills: the files of entries that share a write, for what is too long for their lines. */

import { type ErrorCode, VerbatimError } from "../base/errors.ts";
import type { Directory } from "../base/files.ts";
import type { SpillFile } from "../dialects/dialect.ts";
import { removeSpills, writeSpills } from "../dialects/files/spill-files.ts";
import type { Waiting } from "../log/waiting.ts";

type Spilling = Waiting<{ readonly spills: readonly SpillFile[] }>;
type OpenDirectory = () => Promise<Directory>;

/** Refusals after which the log is as it was. */
const NOTHING_WRITTEN: readonly ErrorCode[] = ["NO_SPACE", "LOG_LOCKED", "LOG_CLOSED"];

/** Writes the files (spill-files.ts, SF1). Rejects those that the disk refuses; returns the rest. */
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
 * Removes the files of an append that was refused, if it has left nothing in the log. After a failed
 * sync that is not known: the line may be there when the log is opened again, and needs its files.
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
    // They are left; nothing refers to them. The caller reports why the append failed.
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
