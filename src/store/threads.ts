/**
 * Threads: finds rye's thread directories and their thread.json, at any depth, by listing alone.
 *
 * Reads no log and writes nothing. What the files say is for `dialects/rye`.
 *
 * TH1  No symbolic link is followed, neither to a directory nor to a file.
 * TH2  Listing and reading are synchronous, in slices: handing each small file to another thread
 *      costs several times what reading it does. Between slices others get their turn.
 */

import {
  closeSync,
  constants,
  type Dirent,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
} from "node:fs";
import { setImmediate as othersRun } from "node:timers/promises";
import { errnoOf } from "../base/errors.ts";
import { LOG_NAME, META_NAME, THREADS_PATH } from "../dialects/rye/dialect.ts";

/** How long nobody else in this process gets a turn (TH2). */
const SLICE_MS = 5;
/** A thread.json beyond this is taken for corrupt: nobody's metadata is that long. */
export const META_BYTES_MAX = 1024 * 1024;
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const LIST_OPTIONS = { withFileTypes: true } as const;

export interface FoundMeta {
  /** The thread's directory, below the directory of threads. */
  readonly below: string;
  /** What thread.json parses to; undefined when it is missing, not JSON or too long. */
  readonly meta: unknown;
}

/**
 * What every thread's thread.json parses to, in no order. `onProgress` is told now and then how
 * many threads were found so far.
 */
export async function* findThreadMetas(
  root: string,
  onProgress: (found: number) => void = () => {},
): AsyncGenerator<FoundMeta> {
  const buffer = Buffer.allocUnsafe(META_BYTES_MAX + 1);
  const slice = new Slice();
  let found = 0;
  for (const { below, path, hasMeta } of threadDirectories(root)) {
    found++;
    yield { below, meta: hasMeta ? readMeta(`${path}/${META_NAME}`, buffer) : undefined };
    if (!slice.isOver) continue;
    onProgress(found);
    await slice.next();
  }
}

class Slice {
  #end = performance.now() + SLICE_MS;

  get isOver(): boolean {
    return performance.now() >= this.#end;
  }

  async next(): Promise<void> {
    await othersRun();
    this.#end = performance.now() + SLICE_MS;
  }
}

interface ThreadDirectory {
  readonly below: string;
  readonly path: string;
  readonly hasMeta: boolean;
}

function* threadDirectories(root: string): Generator<ThreadDirectory> {
  const top = realDirectory(root, THREADS_PATH);
  if (top === null) return;
  const waiting = listed(top).directories;
  for (let below = waiting.pop(); below !== undefined; below = waiting.pop()) {
    const path = `${top}/${below}`;
    const { directories, isThread, hasMeta } = listed(path);
    for (const name of directories) waiting.push(`${below}/${name}`);
    if (isThread) yield { below, path, hasMeta };
  }
}

interface Listed {
  readonly directories: string[];
  /**
   * A log or a thread.json stands in it, or nothing does: an id is won by making its directory.
   * It may be above other threads all the same.
   */
  readonly isThread: boolean;
  readonly hasMeta: boolean;
}

function listed(path: string): Listed {
  const directories: string[] = [];
  let entries: Dirent[];
  try {
    entries = readdirSync(path, LIST_OPTIONS);
  } catch (cause) {
    // Removed since it was listed, or another user's: not ours to count, and no reason to stop.
    if (!["ENOENT", "ENOTDIR", "EACCES", "EPERM"].includes(errnoOf(cause))) throw cause;
    return { directories, isThread: false, hasMeta: false };
  }
  let isThread = entries.length === 0;
  let hasMeta = false;
  for (const entry of entries) {
    // An entry says what it is itself; a link is neither a directory nor a file (TH1).
    if (entry.isDirectory()) directories.push(entry.name);
    else if (entry.name === LOG_NAME) isThread ||= entry.isFile();
    else if (entry.name === META_NAME) hasMeta = entry.isFile();
  }
  return { directories, isThread: isThread || hasMeta, hasMeta };
}

function readMeta(path: string, buffer: Buffer): unknown {
  try {
    const descriptor = openSync(path, READ_FLAGS);
    try {
      // One read: of a file, it is short at the end only.
      const length = readSync(descriptor, buffer, 0, buffer.length, 0);
      if (length > META_BYTES_MAX) return undefined;
      return JSON.parse(buffer.toString("utf8", 0, length));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined; // Gone, unreadable or not JSON: the caller counts it as skipped.
  }
}

/** The directory below `root`, if each part of the way is one and no link; else null. */
function realDirectory(root: string, names: readonly string[]): string | null {
  let path = root;
  try {
    for (const name of names) {
      path = `${path}/${name}`;
      if (!lstatSync(path).isDirectory()) return null;
    }
    return path;
  } catch (cause) {
    if (["ENOENT", "ENOTDIR"].includes(errnoOf(cause))) return null;
    throw cause;
  }
}
