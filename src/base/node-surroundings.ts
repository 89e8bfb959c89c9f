/**
 * Node surroundings: what lies in a directory, of which kind and with which permissions, and
 * setting those. All that the seam of `files.ts` does not tell, because no log asks for it.
 *
 * SU1  Looking changes nothing and opens no file.
 * SU2  Permissions are set through a descriptor, after asking the kernel what was opened. So
 *      whatever is put in the place of a file or of a directory above it, by a link or by renaming,
 *      only what lies at its place below the root is touched.
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

export interface Seen {
  readonly name: string;
  readonly kind: "file" | "directory" | "link" | "other";
  /** Who may do what: the nine bits of `ls -l`. */
  readonly mode: number;
  /** Tells a file from another that has taken its name. */
  readonly identity: string;
  readonly mtimeMs: number;
}

/** Failures are thrown as the operating system gives them. */
export interface Surroundings {
  /** What lies in a directory, by name; what is gone before it was looked at is not there. */
  list(directory: string): readonly Seen[];
  /** What lies at a path; null when nothing does. A link is looked at, not followed. */
  look(path: string): Seen | null;
  /** The real path of the directory that a path leads to, by way of links; null when it is none. */
  directoryBehind(path: string): string | null;
  /** Sets the nine bits of what lies at `path`, in or below `root` (SU2). */
  setMode(path: string, root: string, mode: number): void;
}

export const nodeSurroundings: Surroundings = {
  list(directory) {
    return readdirSync(directory)
      .sort()
      .map((name) => seen(name, `${directory}/${name}`))
      .filter((each) => each !== null);
  },
  look: (path) => seen(path.slice(path.lastIndexOf("/") + 1), path),
  directoryBehind(path) {
    try {
      return statSync(path).isDirectory() ? realpathSync(path) : null;
    } catch {
      return null; // It leads nowhere, or where we may not look.
    }
  },
  setMode(path, root, mode) {
    const descriptor = openSync(path, OPEN_FLAGS);
    try {
      const place = join(realpathSync(root), relative(resolve(root), resolve(path)));
      if (realPathOf(descriptor, path) !== place) throw unsafePath(path, root);
      const found = fstatSync(descriptor);
      if (!found.isFile() && !found.isDirectory()) throw unsafePath(path, root);
      fchmodSync(descriptor, (found.mode & 0o7000) | mode);
    } finally {
      closeSync(descriptor);
    }
  },
};

function seen(name: string, path: string): Seen | null {
  const found = lstatSync(path, { throwIfNoEntry: false });
  if (found === undefined) return null;
  return {
    name,
    kind: kindOf(found),
    mode: found.mode & PERMISSIONS,
    identity: `${found.dev}:${found.ino}`,
    mtimeMs: found.mtimeMs,
  };
}

function kindOf(found: Stats): Seen["kind"] {
  if (found.isFile()) return "file";
  if (found.isDirectory()) return "directory";
  return found.isSymbolicLink() ? "link" : "other";
}

/** Where an open file really is. Without /proc (macOS) its path is asked again, which is weaker. */
function realPathOf(descriptor: number, path: string): string {
  const own = `/proc/self/fd/${descriptor}`;
  return existsSync(own) ? readlinkSync(own) : realpathSync(path);
}

function unsafePath(path: string, root: string): VerbatimError<"UNSAFE_PATH"> {
  return new VerbatimError(
    "UNSAFE_PATH",
    `the permissions of ${path} were not changed: it is, or lies behind, a symbolic link or ` +
      "something that is no file; put the real file in its place",
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
