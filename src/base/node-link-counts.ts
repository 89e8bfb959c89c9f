/**
 * Node link counts: where a directory's link count tells whether directories are in it.
 *
 * On some file systems each sub-directory's `..` counts as a link, so that a count of 2 means that
 * there is none, and listing it can be saved. Elsewhere the count says nothing (Btrfs: always 1).
 */

import { statfsSync, statSync } from "node:fs";

/** `statfs` types (Linux's magic.h) for which it holds: ext, XFS, tmpfs, F2FS, overlay. */
const COUNTS_DIRECTORIES = new Set([0xef53, 0x58465342, 0x01021994, 0xf2f52010, 0x794c7630]);

/** The device below `path` on which link counts can be relied on, or null. */
export function countingDevice(path: string): number | null {
  try {
    return COUNTS_DIRECTORIES.has(statfsSync(path).type) ? statSync(path).dev : null;
  } catch {
    return null; // It is not there, or cannot be asked: nothing is relied on.
  }
}
