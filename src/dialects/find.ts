/**
 * Find: the session logs below a root, with their sizes and modification times.
 *
 * Looks at names and sizes only; opens no log. Made for ten thousand sessions in well under a tenth
 * of a second, so it makes as few system calls as it can.
 *
 * - No symbolic link is followed below the root, in any part of a path, but one at the directory of
 *   an agent's sessions (moved-directories.ts).
 *
 * A directory whose link count is 2 has no sub-directories and is not listed: on the file
 * systems where that holds (ext4, XFS, tmpfs …) each sub-directory's `..` counts as a link.
 * Elsewhere the count says nothing (Btrfs: always 1; FUSE: anything), and all are listed.
 *
 * - What may be a log, or contain some, and cannot be examined is reported to `onUnreadable`: an
 *   error of the disk, a link in a log's place, a link to a directory outside the root. A link in a
 *   directory that is not listed is not seen.
 * - A file with a log's name where no session can be, such as in a directory whose name is not an
 *   id, is reported to `onNoId`: it may be a session that was renamed to hide it.
 */

import { type Dirent, lstatSync, readdirSync, realpathSync, type Stats, statSync } from "node:fs";
import { errnoOf, ioError, unsafePath, type VerbatimError } from "../core/base/errors.ts";
import { countingDevice } from "../core/base/node-surroundings.ts";
import { isMovedDirectory } from "./files/moved-directories.ts";
import type { FoundLog } from "./session-row.ts";

interface LayoutBase {
  /** Where to begin, below the root. */
  readonly under: readonly string[];
  /** The session whose log is at this path below the root, or null when none can be. */
  readonly idAt: (path: readonly string[]) => string | null;
  /** Lists the logs of a root, where names do not tell which there are; null: names tell. */
  readonly logsIn?: (root: string, options: FindLogsOptions) => Iterable<FoundLog> | null;
  /** The state of a log that is not one file; null if it is gone. Absent: the file's own. */
  readonly lookAt?: (root: string, path: string) => LookedAt | null;
}

/** What changes when a log changes. */
export type LookedAt = Pick<FoundLog, "size" | "mtimeMs">;

/** A log has one name, in its own directory, at any depth (rye). */
export interface NamedLayout extends LayoutBase {
  readonly logName: string;
  /** How deep it can be (entire: 1). Default: FIND_DEPTH_MAX. */
  readonly depthMax?: number;
}

/** Logs are together at one depth; null means a directory of any name (homeagent). */
export interface LevelLayout extends LayoutBase {
  readonly levels: readonly (string | null)[];
  readonly isLog: (name: string) => boolean;
  /** Further places with logs of the same sessions, such as those of subagents. */
  readonly others?: readonly LevelLayout[];
}

export type Layout = NamedLayout | LevelLayout;

/** Something that exists and cannot be examined. */
export interface Unreadable {
  /** The session's id; null for what is not a log, such as a directory. */
  readonly id: string | null;
  /** Below the root, "/" between segments. */
  readonly path: string;
  readonly cause: VerbatimError;
}

export interface FindLogsOptions {
  /** False: never rely on link counts, to see each link. */
  readonly byLinkCount?: boolean;
  /** Default: unreadable ones are skipped. */
  readonly onUnreadable?: (unreadable: Unreadable) => void;
  /** Gets the path below the root. Default: skipped. */
  readonly onNoId?: (path: string) => void;
  /** Files that the caller knows as they are: they are left out. Some layouts do not ask. */
  readonly isKnown?: (path: string, size: number, mtimeMs: number) => boolean;
}

/** Maximum depth below `under`. */
export const FIND_DEPTH_MAX = 32;

const IF_THERE = { throwIfNoEntry: false } as const;

/** The logs of a layout below `root`, unsorted. A missing root has none. */
export function findLogs(root: string, layout: Layout, options: FindLogsOptions = {}): FoundLog[] {
  return [...iterateLogs(root, layout, options)];
}

/** Like `findLogs`, lazily: none of ten thousand needs to be held. */
export function iterateLogs(
  root: string,
  layout: Layout,
  options: FindLogsOptions = {},
): Iterable<FoundLog> {
  const listed = layout.logsIn?.(root, options);
  if (listed) return listed;
  if ("others" in layout && layout.others) return logsAtAll(root, layout, options);
  const search: Search = {
    root,
    idAt: layout.idAt,
    countingDevice: options.byLinkCount === false ? null : countingDevice(root),
    onUnreadable: options.onUnreadable ?? (() => {}),
    onNoId: options.onNoId ?? (() => {}),
    isKnown: options.isKnown ?? (() => false),
  };
  const { under } = layout;
  for (let depth = 1; depth <= under.length; depth++) {
    if (!isDirectory(search, under.slice(0, depth).join("/"))) return [];
  }
  if ("levels" in layout) return findAtLevel(search, under, layout.levels, layout.isLog);
  const { logName, depthMax = FIND_DEPTH_MAX } = layout;
  // No id leads there. An unreadable directory is reported once, below.
  const quiet = { ...search, onUnreadable: () => {} };
  logAt(quiet, [...under, logName].join("/"));
  return findNamed(search, under, logName, depthMax);
}

function* logsAtAll(
  root: string,
  { others = [], ...first }: LevelLayout,
  options: FindLogsOptions,
): Generator<FoundLog> {
  // Several places may be below one directory, which is reported once.
  const reported = new Set<string>();
  const onUnreadable = (unreadable: Unreadable) => {
    if (!reported.has(unreadable.path)) options.onUnreadable?.(unreadable);
    reported.add(unreadable.path);
  };
  const each = { ...options, onUnreadable };
  for (const layout of [first, ...others]) yield* iterateLogs(root, layout, each);
}

interface Search {
  readonly root: string;
  readonly idAt: Layout["idAt"];
  /** The device on which link counts are reliable, or null. */
  readonly countingDevice: number | null;
  readonly onUnreadable: (unreadable: Unreadable) => void;
  readonly onNoId: (path: string) => void;
  readonly isKnown: (path: string, size: number, mtimeMs: number) => boolean;
}

/** Logs called `logName`, each in its own directory, anywhere below a directory. */
function* findNamed(
  search: Search,
  directory: readonly string[],
  logName: string,
  depthLeft: number,
): Generator<FoundLog> {
  const above = directory.join("/");
  for (const { name } of list(search, above)) {
    const path = `${above}/${name}`;
    const stats = look(search, path);
    if (stats === undefined || !stats.isDirectory()) {
      // One with a log's name was reported with the log.
      if (stats?.isSymbolicLink() && name !== logName) tellLink(search, path);
      continue;
    }
    const log = logAt(search, `${path}/${logName}`);
    if (log !== null) yield log;
    const isLeaf = stats.nlink === 2 && stats.dev === search.countingDevice;
    if (!isLeaf && depthLeft > 1) {
      yield* findNamed(search, [...directory, name], logName, depthLeft - 1);
    }
  }
}

/** Logs this many levels below a directory. One generator for all levels: each costs per log. */
function* findAtLevel(
  search: Search,
  directory: readonly string[],
  levels: LevelLayout["levels"],
  isLog: LevelLayout["isLog"],
): Generator<FoundLog> {
  for (const place of directoriesAt(search, directory, levels)) {
    const above = place.join("/");
    const before = above === "" ? "" : `${above}/`;
    for (const name of namesIn(search, above)) {
      const log = isLog(name) ? logAt(search, before + name) : null;
      if (log !== null) yield log;
    }
  }
}

/** The directories this many levels below a directory. */
function directoriesAt(
  search: Search,
  directory: readonly string[],
  [level, ...deeper]: LevelLayout["levels"],
): (readonly string[])[] {
  if (level === undefined) return [directory];
  const above = directory.join("/");
  const isThere = level === null || isDirectory(search, `${above}/${level}`);
  const names = level === null ? directoriesIn(search, above) : isThere ? [level] : [];
  return names.flatMap((name) => directoriesAt(search, [...directory, name], deeper));
}

/** By the types that listing a directory returns: no file in it is examined. */
function directoriesIn(search: Search, above: string): string[] {
  const names: string[] = [];
  for (const each of list(search, above)) {
    if (each.isDirectory()) names.push(each.name);
    else if (each.isSymbolicLink()) tellLink(search, `${above}/${each.name}`);
  }
  return names;
}

/** The log at a path, if it is a session's. */
function logAt(search: Search, path: string): FoundLog | null {
  const stats = look(search, path);
  if (stats === undefined || stats.isDirectory()) return null;
  if (stats.isFile() && search.isKnown(path, stats.size, stats.mtimeMs)) return null;
  const id = search.idAt(path.split("/"));
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
  if (stats?.isSymbolicLink()) {
    if (isMovedDirectory(fullPath(search, path))) return true;
    tellLink(search, path);
  }
  return stats?.isDirectory() ?? false;
}

function look(search: Search, path: string): Stats | undefined {
  try {
    return lstatSync(fullPath(search, path), IF_THERE);
  } catch (cause) {
    // There is nothing below a file.
    if (errnoOf(cause) !== "ENOTDIR") tellRefusal(search, path, cause);
    return undefined;
  }
}

function list(search: Search, path: string): Dirent[] {
  return listed(search, path, (full) => readdirSync(full, { withFileTypes: true }));
}

/** Without their types, which take as long again. */
function namesIn(search: Search, path: string): string[] {
  return listed(search, path, (full) => readdirSync(full));
}

function listed<T>(search: Search, path: string, read: (full: string) => T[]): T[] {
  try {
    return read(fullPath(search, path));
  } catch (cause) {
    // A directory that was deleted meanwhile has no logs.
    if (errnoOf(cause) !== "ENOENT") tellRefusal(search, path, cause);
    return [];
  }
}

/** A link within this root is only a second name; a dangling one hides no logs. */
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
