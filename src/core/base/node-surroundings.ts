/**
 * Node surroundings: lists directories with kinds and permissions, and sets permissions. Operations
 * that no log needs, so they are not in `files.ts`.
 *
 * - Looking changes nothing and opens no file.
 * NS1  Permissions are set through a descriptor, after asking the kernel which file it is. So when
 *      an attacker replaces a file or a directory above it, by a link or by renaming, only a file
 *      at its real place below the root is changed.
 */

import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  type Stats,
  statfsSync,
  statSync,
} from "node:fs";
import { join, relative, resolve } from "node:path";
import { VerbatimError } from "./errors.ts";

const OPEN_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const PERMISSIONS = 0o777;
/**
 * `statfs` types (Linux's magic.h) of file systems where the `..` of each sub-directory counts as a
 * link: ext, XFS, tmpfs, F2FS, overlay. There a link count of 2 means that a directory has no
 * sub-directory. Elsewhere the count says nothing (Btrfs: always 1).
 */
const COUNTS_DIRECTORIES = new Set([0xef53, 0x58465342, 0x01021994, 0xf2f52010, 0x794c7630]);

export interface SurroundingFile {
  readonly name: string;
  readonly kind: "file" | "directory" | "link" | "other";
  /** The nine permission bits of `ls -l`. */
  readonly mode: number;
  /** Differs for another file under the same name. */
  readonly identity: string;
  readonly mtimeMs: number;
}

/** Failures are thrown as the operating system reports them. */
export interface Surroundings {
  /** Entries of a directory; those deleted meanwhile are left out. */
  list(directory: string): readonly SurroundingFile[];
  /** What is at a path, or null. Does not follow links. */
  look(path: string): SurroundingFile | null;
  /**
   * The real path of the directory that a path leads to, following links; null if there is none.
   */
  directoryBehind(path: string): string | null;
  /** Sets the nine permission bits of `path`, which is `root` or below it (NS1). */
  setMode(path: string, root: string, mode: number): void;
}

export const nodeSurroundings: Surroundings = {
  list(directory) {
    return readdirSync(directory)
      .sort()
      .map((name) => surroundingFile(name, `${directory}/${name}`))
      .filter((each) => each !== null);
  },
  look: (path) => surroundingFile(path.slice(path.lastIndexOf("/") + 1), path),
  directoryBehind(path) {
    try {
      return statSync(path).isDirectory() ? realpathSync(path) : null;
    } catch {
      return null; // A dangling link, or no permission to follow it.
    }
  },
  setMode(path, root, mode) {
    const descriptor = openSync(path, OPEN_FLAGS);
    try {
      const place = join(realpathSync(root), relative(resolve(root), resolve(path)));
      if (realPathOf(descriptor, path) !== place) throw unsafePath(path, root);
      const stats = fstatSync(descriptor);
      if (!stats.isFile() && !stats.isDirectory()) throw unsafePath(path, root);
      fchmodSync(descriptor, (stats.mode & 0o7000) | mode);
    } finally {
      closeSync(descriptor);
    }
  },
};

function surroundingFile(name: string, path: string): SurroundingFile | null {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (stats === undefined) return null;
  return {
    name,
    kind: kindOf(stats),
    mode: stats.mode & PERMISSIONS,
    identity: `${stats.dev}:${stats.ino}`,
    mtimeMs: stats.mtimeMs,
  };
}

function kindOf(stats: Stats): SurroundingFile["kind"] {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "directory";
  return stats.isSymbolicLink() ? "link" : "other";
}

/**
 * The real path of an open file. Without /proc (macOS) the path is resolved again, which is weaker.
 */
function realPathOf(descriptor: number, path: string): string {
  const descriptorPath = `/proc/self/fd/${descriptor}`;
  return existsSync(descriptorPath) ? readlinkSync(descriptorPath) : realpathSync(path);
}

function unsafePath(path: string, root: string): VerbatimError<"UNSAFE_PATH"> {
  return new VerbatimError(
    "UNSAFE_PATH",
    `the permissions of ${path} were not changed: it is, or lies behind, a symbolic link or ` +
      "something that is not a file; put the real file in its place",
    { path, root },
  );
}

/** The device of `path` when link counts there show sub-directories, so listing can be saved. */
export function countingDevice(path: string): number | null {
  try {
    return COUNTS_DIRECTORIES.has(statfsSync(path).type) ? statSync(path).dev : null;
  } catch {
    return null; // Missing or unreadable.
  }
}
