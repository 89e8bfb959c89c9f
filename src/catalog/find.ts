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
 * D3  What may be a log, or hold some, and cannot be looked at is told to `onUnreadable`: a refusal
 *     of the disk, a link in a log's place, a link to a directory outside the root. A link in a
 *     directory that is not listed (D2) is not seen.
 * D4  What has a log's name and lies where no session can be, such as in a directory whose name is no
 *     id, is told to `onNoId`: it may be a session that was renamed to be passed over.
 */

import { lstatSync, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { errnoOf, ioError, unsafePath, type VerbatimError } from "../base/errors.ts";
import { countingDevice } from "../base/node-surroundings.ts";
import type { FoundLog } from "./session-row.ts";

interface LayoutBase {
  /** Where to begin, below the root. */
  readonly under: readonly string[];
  /** The session whose log lies at this path below the root, or null when none can. */
  readonly idAt: (path: readonly string[]) => string | null;
  /** A file at the root without which it is none. */
  readonly mark?: string;
  /** Where names do not say which logs there are: those of a root. */
  readonly logsIn?: (root: string) => Iterable<FoundLog>;
}

/** A log has one name, in a directory of its own, at any depth (rye). */
export interface NamedLayout extends LayoutBase {
  readonly logName: string;
  /** How deep it can lie (entire: 1). Default: FIND_DEPTH_MAX. */
  readonly depthMax?: number;
}

/** Logs lie together at one depth; null stands for a directory of any name (homeagent). */
export interface LevelLayout extends LayoutBase {
  readonly levels: readonly (string | null)[];
  readonly isLog: (name: string) => boolean;
}

export type Layout = NamedLayout | LevelLayout;

/** What is there and cannot be looked at (D3). */
export interface Unreadable {
  /** Whose log it is; null for what is no log's place, such as a directory. */
  readonly id: string | null;
  /** Below the root, "/" between segments. */
  readonly path: string;
  readonly cause: VerbatimError;
}

export interface FindOptions {
  /** False: link counts are relied on nowhere (D2), for who must see each link. */
  readonly byLinkCount?: boolean;
  /** Without it, what cannot be looked at is passed over. */
  readonly onUnreadable?: (unreadable: Unreadable) => void;
  /** Given the path below the root (D4). Without it, that is passed over. */
  readonly onNoId?: (path: string) => void;
}

/** How deep below `under` directories are looked into. */
export const FIND_DEPTH_MAX = 32;

const IF_THERE = { throwIfNoEntry: false } as const;

/** The logs of a layout below `root`, in no order. A root that is not there has none. */
export function findLogs(root: string, layout: Layout, options: FindOptions = {}): FoundLog[] {
  return [...eachLog(root, layout, options)];
}

/** The same, each looked at when it is asked for: of ten thousand, none needs to be held. */
export function eachLog(
  root: string,
  layout: Layout,
  options: FindOptions = {},
): Iterable<FoundLog> {
  if (layout.logsIn) return layout.logsIn(root);
  const search: Search = {
    root,
    idAt: layout.idAt,
    countingDevice: options.byLinkCount === false ? null : countingDevice(root),
    onUnreadable: options.onUnreadable ?? (() => {}),
    onNoId: options.onNoId ?? (() => {}),
  };
  const { under } = layout;
  for (let depth = 1; depth <= under.length; depth++) {
    // The root may be reached through a link; below it there is none (D1).
    if (!isDirectory(search, under.slice(0, depth).join("/"))) return [];
  }
  if ("levels" in layout) return findAtLevel(search, under, layout.levels, layout.isLog);
  const { logName, depthMax = FIND_DEPTH_MAX } = layout;
  // No id leads there (D4). A directory that cannot be looked at is reported once, below.
  const quiet = { ...search, onUnreadable: () => {} };
  logAt(quiet, [...under, logName].join("/"), [...under, logName]);
  return findNamed(search, under, logName, depthMax);
}

interface Search {
  readonly root: string;
  readonly idAt: Layout["idAt"];
  /** The device on which link counts can be relied on (D2), or null. */
  readonly countingDevice: number | null;
  readonly onUnreadable: (unreadable: Unreadable) => void;
  readonly onNoId: (path: string) => void;
}

/** Logs called `logName`, each in a directory of its own, anywhere below a directory. */
function* findNamed(
  search: Search,
  directory: readonly string[],
  logName: string,
  depthLeft: number,
): Generator<FoundLog> {
  const above = directory.join("/");
  for (const name of list(search, above)) {
    const path = `${above}/${name}`;
    const stats = look(search, path);
    if (stats === undefined || !stats.isDirectory()) {
      // One with a log's name was told of with the log.
      if (stats?.isSymbolicLink() && name !== logName) tellLink(search, path);
      continue;
    }
    const log = logAt(search, `${path}/${logName}`, [...directory, name, logName]);
    if (log !== null) yield log;
    const isLeaf = stats.nlink === 2 && stats.dev === search.countingDevice;
    if (!isLeaf && depthLeft > 1) {
      yield* findNamed(search, [...directory, name], logName, depthLeft - 1);
    }
  }
}

/** Logs that lie so many levels below a directory. */
function* findAtLevel(
  search: Search,
  directory: readonly string[],
  levels: LevelLayout["levels"],
  isLog: LevelLayout["isLog"],
): Generator<FoundLog> {
  const [level, ...deeper] = levels;
  const above = directory.join("/");
  if (level === undefined) {
    for (const name of list(search, above)) {
      const log = isLog(name) ? logAt(search, `${above}/${name}`, [...directory, name]) : null;
      if (log !== null) yield log;
    }
    return;
  }
  for (const name of level === null ? list(search, above) : [level]) {
    if (isDirectory(search, `${above}/${name}`)) {
      yield* findAtLevel(search, [...directory, name], deeper, isLog);
    }
  }
}

/** What lies at a path, if it is a session's log. */
function logAt(search: Search, path: string, segments: readonly string[]): FoundLog | null {
  const stats = look(search, path);
  if (stats === undefined || stats.isDirectory()) return null;
  const id = search.idAt(segments);
  if (id === null) {
    search.onNoId(path);
    return null;
  }
  if (stats.isFile()) return { id, path, size: stats.size, mtimeMs: stats.mtimeMs };
  tell(search, path, unsafePath(fullPath(search, path), search.root));
  return null;
}

function isDirectory(search: Search, path: string): boolean {
  const stats = look(search, path);
  if (stats?.isSymbolicLink()) tellLink(search, path);
  return stats?.isDirectory() ?? false;
}

function look(search: Search, path: string): Stats | undefined {
  try {
    return lstatSync(fullPath(search, path), IF_THERE);
  } catch (cause) {
    // Below a file there is nothing.
    if (errnoOf(cause) !== "ENOTDIR") tellRefusal(search, path, cause);
    return undefined;
  }
}

function list(search: Search, path: string): string[] {
  try {
    return readdirSync(fullPath(search, path));
  } catch (cause) {
    // A directory that was there a moment ago and is not now has no logs.
    if (errnoOf(cause) !== "ENOENT") tellRefusal(search, path, cause);
    return [];
  }
}

/** A link to a place in this root only gives it a second name; one that leads nowhere holds no logs. */
function tellLink(search: Search, path: string): void {
  const link = fullPath(search, path);
  try {
    if (!statSync(link).isDirectory()) return;
    if (`${realpathSync(link)}/`.startsWith(`${realpathSync(search.root)}/`)) return;
  } catch {
    return;
  }
  tell(search, path, unsafePath(link, search.root));
}

function tellRefusal(search: Search, path: string, cause: unknown): void {
  tell(search, path, ioError(fullPath(search, path), "reading", cause));
}

function tell({ idAt, onUnreadable }: Search, path: string, cause: VerbatimError): void {
  onUnreadable({ id: idAt(path.split("/")), path, cause });
}

function fullPath({ root }: Search, path: string): string {
  return `${root}/${path}`;
}
