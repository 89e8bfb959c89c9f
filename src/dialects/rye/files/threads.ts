/**
 * Threads: finds rye's thread directories and their thread.json, at any depth, by listing alone.
 *
 * Reads no log and writes nothing; `dialects/rye` interprets the files. Built to sum up ten
 * thousand threads in little more time than reading their files takes.
 *
 * TH1  No symbolic link is followed, neither to a directory nor to a file.
 *
 * TH2  Listing and reading are synchronous, in slices: handing each small file to a worker thread
 * costs several times as much as reading it. Between slices the event loop runs.
 *
 * - A directory with link count 2 has no subdirectories, on file systems that count so
 * (dialects/find.ts). There its thread.json is read without listing the directory first.
 */

import {
  closeSync,
  constants,
  type Dirent,
  lstatSync,
  openSync,
  readdirSync,
  readSync,
  type Stats,
} from "node:fs";
import { setImmediate as othersRun } from "node:timers/promises";
import { errnoOf, ioError, type VerbatimError } from "../../../core/base/errors.ts";
import { countingDevice } from "../../../core/base/node-surroundings.ts";
import { LOG_NAME, META_NAME, THREADS_PATH } from "../thread-id.ts";

/** How long a slice may block the event loop (TH2). */
const SLICE_MS = 5;
/** A larger thread.json counts as corrupt. */
export const META_BYTES_MAX = 1024 * 1024;
const READ_FLAGS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
const LIST_OPTIONS = { withFileTypes: true } as const;
const IF_THERE = { throwIfNoEntry: false } as const;

export interface ThreadMetaFile {
  /** The thread's directory, below the directory of threads. */
  readonly below: string;
  /** Parsed thread.json; undefined if it is missing, unreadable, not JSON or too long. */
  readonly meta: unknown;
}

/**
 * The parsed thread.json of every thread, in no order. `onProgress` is called now and then with the
 * number of threads found so far.
 *
 * @example
 * for await (const { meta } of findThreadMetas(project)) {
 *   if (meta === undefined) telemetry.skip();
 *   else telemetry.add(meta);
 * }
 */
export function findThreadMetas(
  root: string,
  onProgress: (found: number) => void = () => {},
): AsyncIterable<ThreadMetaFile> {
  return { [Symbol.asyncIterator]: () => new InSlices(new ThreadSearch(root).metas(), onProgress) };
}

/** Not a generator: the promises of an async generator cost a fifth of reading a thread.json. */
class InSlices implements AsyncIterator<ThreadMetaFile> {
  readonly #found: Iterator<ThreadMetaFile>;
  readonly #onProgress: (found: number) => void;
  #count = 0;
  #sliceEnd = performance.now() + SLICE_MS;

  constructor(found: Iterator<ThreadMetaFile>, onProgress: (found: number) => void) {
    this.#found = found;
    this.#onProgress = onProgress;
  }

  async next(): Promise<IteratorResult<ThreadMetaFile>> {
    if (performance.now() >= this.#sliceEnd) {
      this.#onProgress(this.#count);
      await othersRun();
      this.#sliceEnd = performance.now() + SLICE_MS;
    }
    this.#count++;
    return this.#found.next();
  }
}

/** Made for the first search, and used by all: nothing is kept in it between two reads. */
let metaBuffer: Buffer | null = null;

class ThreadSearch {
  /** The directory of threads; null if there is none. */
  readonly #top: string | null;
  /** The device on which link counts say that, or null. */
  readonly #countingDevice: number | null;

  constructor(root: string) {
    this.#top = realDirectory(root, THREADS_PATH);
    this.#countingDevice = this.#top === null ? null : countingDevice(this.#top);
  }

  *metas(): Generator<ThreadMetaFile> {
    const top = this.#top;
    if (top === null) return;
    const waiting = listed(top).directories;
    for (let below = waiting.pop(); below !== undefined; below = waiting.pop()) {
      const path = `${top}/${below}`;
      const read = this.#isLeaf(path) ? this.#readMeta(path) : undefined;
      if (read !== undefined) {
        yield { below, meta: read };
        continue;
      }
      const { directories, isThread, hasMeta } = listedOrHidden(path);
      for (const name of directories) waiting.push(`${below}/${name}`);
      if (isThread) yield { below, meta: hasMeta ? this.#readMeta(path) : undefined };
    }
  }

  #isLeaf(path: string): boolean {
    if (this.#countingDevice === null) return false;
    const { nlink, dev } = look(path) ?? { nlink: 0, dev: 0 };
    return nlink === 2 && dev === this.#countingDevice;
  }

  #readMeta(path: string): unknown {
    metaBuffer ??= Buffer.allocUnsafe(META_BYTES_MAX + 1);
    const buffer = metaBuffer;
    try {
      const descriptor = openSync(`${path}/${META_NAME}`, READ_FLAGS);
      try {
        // One read is enough: on a file, a read is short only at the end.
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
}

interface ThreadListing {
  readonly directories: string[];
  /**
   * It contains a log or a thread.json, or is empty: an id is claimed by creating its directory. It
   * may also contain other threads.
   */
  readonly isThread: boolean;
  readonly hasMeta: boolean;
}

function listed(path: string): ThreadListing {
  const directories: string[] = [];
  let entries: Dirent[];
  try {
    entries = readdirSync(path, LIST_OPTIONS);
  } catch (cause) {
    // Removed since it was listed.
    if (!["ENOENT", "ENOTDIR"].includes(errnoOf(cause))) throw ioError(path, "reading", cause);
    return { directories, isThread: false, hasMeta: false };
  }
  let isThread = entries.length === 0;
  let hasMeta = false;
  for (const entry of entries) {
    // An entry has its own type; a link is neither a directory nor a file (TH1).
    if (entry.isDirectory()) directories.push(entry.name);
    else if (entry.name === LOG_NAME) isThread ||= entry.isFile();
    else if (entry.name === META_NAME) hasMeta = entry.isFile();
  }
  return { directories, isThread: isThread || hasMeta, hasMeta };
}

/** An unreadable directory counts as a thread whose thread.json cannot be read. */
function listedOrHidden(path: string): ThreadListing {
  try {
    return listed(path);
  } catch (cause) {
    if (!isDenied(cause)) throw cause;
    return { directories: [], isThread: true, hasMeta: false };
  }
}

function isDenied(cause: unknown): boolean {
  const { errno } = (cause as VerbatimError<"IO_ERROR">).details;
  return errno === "EACCES" || errno === "EPERM";
}

/** The directory below `root`, if each path segment is a directory and not a link; else null. */
function realDirectory(root: string, names: readonly string[]): string | null {
  let path = root;
  for (const name of names) {
    path = `${path}/${name}`;
    if (!look(path)?.isDirectory()) return null;
  }
  return path;
}

function look(path: string): Stats | undefined {
  try {
    return lstatSync(path, IF_THERE);
  } catch (cause) {
    if (errnoOf(cause) === "ENOTDIR") return undefined;
    throw ioError(path, "reading", cause);
  }
}
