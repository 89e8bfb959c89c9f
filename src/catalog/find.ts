/**
 * Find: which session logs lie below a root, how large they are and when they last changed.
 *
 * Looks at names and sizes only; opens no log. Made for ten thousand sessions in well under a
 * tenth of a second, so it asks the file system as little as it can.
 *
 * D1  No symbolic link is followed below the root, in any part of a path.
 * D2  A directory whose link count is 2 has no directories in it and is not listed: on the file
 *     systems where that holds (ext4, XFS, tmpfs …) each sub-directory's `..` counts as a link.
 *     Elsewhere the count says nothing (Btrfs: always 1; FUSE: anything), and all are listed.
 */

import { lstatSync, readdirSync, type Stats, statfsSync, statSync } from "node:fs";
import { errnoOf } from "../base/errors.ts";
import type { FoundLog } from "./session-row.ts";

interface LayoutBase {
  /** Where to begin, below the root. */
  readonly under: readonly string[];
  /** The session whose log lies at this path below the root, or null when none can. */
  readonly idAt: (path: readonly string[]) => string | null;
}

/** A log has one name, in a directory of its own, at any depth (rye). */
export interface NamedLayout extends LayoutBase {
  readonly logName: string;
}

/** Logs lie together at one depth; null stands for a directory of any name (homeagent). */
export interface LevelLayout extends LayoutBase {
  readonly levels: readonly (string | null)[];
  readonly isLog: (name: string) => boolean;
}

export type Layout = NamedLayout | LevelLayout;

export interface FindOptions {
  /** False: link counts are relied on nowhere (D2). For tests. */
  readonly byLinkCount?: false;
  /** Told of what is there and cannot be looked at, by its path below the root. */
  readonly onUnreadable?: (path: string, errno: string) => void;
}

/** How deep below `under` directories are looked into. */
export const FIND_DEPTH_MAX = 32;

/** `statfs` types (Linux's magic.h) for which D2 holds: ext, XFS, tmpfs, F2FS, overlay. */
const COUNTS_DIRECTORIES = new Set([0xef53, 0x58465342, 0x01021994, 0xf2f52010, 0x794c7630]);

const IF_THERE = { throwIfNoEntry: false } as const;

/** The logs of a layout below `root`, in no order. A root that is not there has none. */
export function findLogs(root: string, layout: Layout, options: FindOptions = {}): FoundLog[] {
  const search = new Search(root, layout, options);
  const { under } = layout;
  for (let depth = 1; depth <= under.length; depth++) {
    // The root may be reached through a link; below it there is none (D1).
    if (!search.isDirectory(under.slice(0, depth).join("/"))) return [];
  }
  if ("levels" in layout) search.atLevel(under.join("/"), layout.levels, layout.isLog);
  else search.named(under.join("/"), layout.logName, FIND_DEPTH_MAX);
  return search.found;
}

/** One search. Paths are texts below the root: ten thousand arrays of segments would show. */
class Search {
  readonly found: FoundLog[] = [];
  readonly #root: string;
  readonly #idAt: Layout["idAt"];
  readonly #onUnreadable: (path: string, errno: string) => void;
  /** The device on which link counts can be relied on (D2), or null. */
  readonly #countingDevice: number | null;

  constructor(root: string, { idAt }: Layout, options: FindOptions) {
    this.#root = root;
    this.#idAt = idAt;
    this.#onUnreadable = options.onUnreadable ?? (() => {});
    this.#countingDevice = options.byLinkCount === false ? null : countingDevice(root);
  }

  isDirectory(path: string): boolean {
    return this.#look(path)?.isDirectory() ?? false;
  }

  /** Logs called `logName`, each in a directory of its own, anywhere below a directory. */
  named(directory: string, logName: string, depthLeft: number): void {
    for (const name of this.#list(directory)) {
      const path = `${directory}/${name}`;
      const stats = this.#look(path);
      if (stats === undefined || !stats.isDirectory()) continue;
      this.#take(`${path}/${logName}`);
      const isLeaf = stats.nlink === 2 && stats.dev === this.#countingDevice;
      if (!isLeaf && depthLeft > 1) this.named(path, logName, depthLeft - 1);
    }
  }

  /** Logs that lie so many levels below a directory. */
  atLevel(directory: string, levels: LevelLayout["levels"], isLog: LevelLayout["isLog"]): void {
    const [level, ...deeper] = levels;
    if (level === undefined) {
      for (const name of this.#list(directory)) {
        if (isLog(name)) this.#take(`${directory}/${name}`);
      }
      return;
    }
    for (const name of level === null ? this.#list(directory) : [level]) {
      const path = `${directory}/${name}`;
      if (this.isDirectory(path)) this.atLevel(path, deeper, isLog);
    }
  }

  /** Adds what lies at a path, if it is a session's log. */
  #take(path: string): void {
    const stats = this.#look(path);
    if (stats === undefined || !stats.isFile()) return;
    const id = this.#idAt(path.split("/"));
    if (id !== null) this.found.push({ id, path, size: stats.size, mtimeMs: stats.mtimeMs });
  }

  #look(path: string): Stats | undefined {
    try {
      return lstatSync(`${this.#root}/${path}`, IF_THERE);
    } catch (cause) {
      this.#onUnreadable(path, errnoOf(cause));
      return undefined;
    }
  }

  #list(path: string): string[] {
    try {
      return readdirSync(`${this.#root}/${path}`);
    } catch (cause) {
      // A directory that was there a moment ago and is not now has no logs.
      if (errnoOf(cause) !== "ENOENT") this.#onUnreadable(path, errnoOf(cause));
      return [];
    }
  }
}

function countingDevice(root: string): number | null {
  try {
    return COUNTS_DIRECTORIES.has(statfsSync(root).type) ? statSync(root).dev : null;
  } catch {
    return null; // The root is not there, or cannot be asked: nothing is relied on.
  }
}
