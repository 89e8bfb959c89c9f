/**
 * Received files: the copies of session streams on this server's disk, in the layout of each dialect.
 *
 *     <data directory>/.received/<folder>/<dialect>/<path of the log>
 *     <data directory>/.received/<folder>/@<machine>/<user>/<dialect>/<path of the log>
 *
 * - A copy holds the first bytes of its stream. What is in it is trusted only if the server that
 *   wrote it stopped in order (`clean.json`), else it is compared with the stream.
 * - A sidecar is never ahead of its log: its end is read first, then the log is copied.
 * - The copy of a deleted log is emptied at once, and removed when `onDeleted` resolved: a server
 *   that is killed before finds it without its stream when it starts, and continues.
 * - One server writes the copies: servers that share a database have a data directory each.
 */

import { readdirSync, statSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { errnoOf, VerbatimError } from "../../core/base/errors.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { readSmallFile, replaceFileDurably } from "../../core/base/replace.ts";
import {
  folderOf,
  nameOfStore,
  type SentFilePlace,
  type SentStore,
  sentFilePlaceOf,
  sidecarStreamOf,
  streamOfCopy,
} from "../../guard/remote/session-paths.ts";
import { RECEIVED } from "../../sessions/list/whose.ts";
import { parseOffset } from "../../streams/files/offset-token.ts";
import type { StreamHead, StreamStore } from "../../streams/files/stream-store.ts";
import { sidecarOf } from "../../trust/session-log.ts";
import { copyStream } from "./stream-copy.ts";

export interface ReceivedFilesOptions {
  readonly host: Host;
  readonly store: StreamStore;
  readonly dataDirectory: string;
  /** The streams of these logs were deleted: nothing else may keep text of them. */
  readonly onDeleted: (logs: readonly DeletedLog[]) => Promise<void>;
}

/** A log whose stream was deleted. */
export interface DeletedLog {
  readonly stream: string;
  readonly dialect: string;
  /** Of the store of its copy. */
  readonly root: string;
  /** Its path in there. */
  readonly logId: string;
}

const LOCK_NAME = ".received.lock";
const CLEAN_NAME = "clean.json";

export class ReceivedFiles {
  readonly #options: ReceivedFilesOptions;
  readonly #lock: OpenFile;
  readonly #root: string;
  /**
   * The ids of streams whose copies can be trusted: by stream, copied by this process or by one that
   * stopped in order.
   */
  readonly #copied = new Map<string, string>();
  /** Deleted logs whose copies are empty, and still to be removed. */
  #emptied: DeletedLog[] = [];
  #isStopped = false;

  private constructor(options: ReceivedFilesOptions, lock: OpenFile) {
    this.#options = options;
    this.#lock = lock;
    this.#root = join(options.dataDirectory, RECEIVED);
  }

  /** Throws LOG_LOCKED if another server uses the directory. */
  static async open(options: ReceivedFilesOptions): Promise<ReceivedFiles> {
    const files = new ReceivedFiles(options, await lockOf(options));
    for (const [stream, id] of await files.#takeClean()) files.#copied.set(stream, id);
    return files;
  }

  /** A copy that is being made ends before its time. */
  stop(): void {
    this.#isStopped = true;
  }

  async close(): Promise<void> {
    try {
      if (this.#copied.size > 0) await this.#noteClean();
    } finally {
      this.#lock.close();
    }
  }

  rootOf(store: SentStore): string {
    return join(this.#root, folderOf(store), nameOfStore(store));
  }

  /** The streams of all copies. */
  streams(): string[] {
    try {
      return readdirSync(this.#root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(this.#root, join(entry.parentPath ?? entry.path, entry.name)))
        .map(streamOfCopy);
    } catch (cause) {
      return ifMissing(cause) ?? [];
    }
  }

  /** Whether a copy is trusted, and as long as its stream. */
  isCurrent({ path, streamId, end }: StreamHead, place: SentFilePlace): boolean {
    if (this.#copied.get(path) !== streamId) return false;
    const size = statSync(this.#pathOf(place), { throwIfNoEntry: false })?.size;
    return size === parseOffset(end)?.byteOffset;
  }

  has(place: SentFilePlace): boolean {
    return statSync(this.#pathOf(place), { throwIfNoEntry: false }) !== undefined;
  }

  /** The stream was deleted: what was copied of it is of another one. */
  distrust(stream: string): void {
    this.#copied.delete(stream);
  }

  /** The log, then its sidecar up to where that ended before. */
  async copySession(stream: string): Promise<void> {
    const place = sentFilePlaceOf(stream);
    if (place === null) return;
    const sidecar = await this.#headOf(sidecarStreamOf(stream));
    const log = await this.#headOf(stream);
    await this.#copy(stream, log, place);
    await this.#copy(sidecarStreamOf(stream), sidecar, { ...place, isSidecar: true });
  }

  /** Many together: what else keeps text of them is written again as a whole. */
  async removeEmptied(isUsed: (stream: string) => boolean): Promise<void> {
    for (let logs = this.#emptied; logs.length > 0; logs = this.#emptied) {
      this.#emptied = [];
      await this.#options.onDeleted(logs);
      for (const log of logs) if (!isUsed(log.stream)) await this.#removeEmpty(log);
    }
  }

  async #noteClean(): Promise<void> {
    const directory = await this.#openDirectory(this.#root);
    try {
      const text = JSON.stringify(Object.fromEntries(this.#copied));
      await replaceFileDurably(directory, CLEAN_NAME, `${text}\n`);
    } finally {
      directory.close();
    }
  }

  /** What the last server noted when it stopped in order; removed, as this one has not yet. */
  async #takeClean(): Promise<[string, string][]> {
    const directory = await this.#openDirectory(this.#root, false).catch(ifMissing);
    if (directory === null) return [];
    try {
      const text = await readSmallFile(directory, CLEAN_NAME);
      if (text === null) return [];
      directory.remove(CLEAN_NAME);
      await directory.sync();
      return copiedIn(text);
    } finally {
      directory.close();
    }
  }

  async #headOf(stream: string): Promise<StreamHead | null> {
    try {
      return await this.#options.store.head(stream);
    } catch (cause) {
      if (isDeleted(cause)) return null;
      throw cause;
    }
  }

  /** Copies a stream up to the end of its head. Without a head, the copy is removed. */
  async #copy(stream: string, head: StreamHead | null, place: SentFilePlace): Promise<void> {
    const path = this.#pathOf(place);
    const name = basename(path);
    const directory = await this.#openDirectory(dirname(path));
    try {
      if (head === null) {
        this.#copied.delete(stream);
        if (place.isSidecar) removeIfThere(directory, name);
        else if (await emptyIfThere(directory, name)) {
          const { dialect } = place.store;
          const root = this.rootOf(place.store);
          this.#emptied.push({ stream, dialect, root, logId: place.path });
        }
        return;
      }
      const { store } = this.#options;
      const isTrusted = this.#copied.get(stream) === head.streamId;
      const isStopped = () => this.#isStopped;
      const file = directory.open(name, "append");
      try {
        const isDone = await copyStream(file, { store, stream, head, isTrusted, isStopped });
        if (isDone) this.#copied.set(stream, head.streamId);
      } finally {
        file.close();
      }
    } finally {
      directory.close();
    }
  }

  /** Not if the stream was created again: then it is copied there. */
  async #removeEmpty({ stream, root, logId }: DeletedLog): Promise<void> {
    const path = join(root, logId);
    const directory = await this.#openDirectory(dirname(path), false).catch(ifMissing);
    try {
      const isUsed = this.#copied.has(stream);
      if (!isUsed) removeIfThere(directory as Directory, basename(path));
    } finally {
      directory?.close();
    }
  }

  #pathOf({ store, path, isSidecar }: SentFilePlace): string {
    const log = join(this.rootOf(store), path);
    return isSidecar ? join(dirname(log), sidecarOf(basename(log))) : log;
  }

  #openDirectory(path: string, create = true): Promise<Directory> {
    const options = { create, root: this.#options.dataDirectory };
    return this.#options.host.files.openDirectory(path, options);
  }
}

async function lockOf({ host, dataDirectory: path }: ReceivedFilesOptions): Promise<OpenFile> {
  const directory = await host.files.openDirectory(path, { create: true });
  try {
    const lock = directory.open(LOCK_NAME, "update");
    if (lock.tryLock("exclusive")) return lock;
    lock.close();
  } finally {
    directory.close();
  }
  const what = `${path} is in use by another server; give each server a directory of its own`;
  throw new VerbatimError("LOG_LOCKED", what, { path, holder: "unknown" });
}

/** Not readable: as if the server had not stopped in order. */
function copiedIn(text: string): [string, string][] {
  try {
    return Object.entries(JSON.parse(text) as Record<string, string>);
  } catch {
    return [];
  }
}

export function isDeleted(cause: unknown): boolean {
  const code = errnoOf(cause);
  return code === "STREAM_NOT_FOUND" || code === "STREAM_GONE";
}

function ifMissing(cause: unknown): null {
  if (errnoOf(cause) === "ENOENT") return null;
  throw cause;
}

/** False: there is no such file. */
async function emptyIfThere(directory: Directory, name: string): Promise<boolean> {
  if (!directory.names().includes(name)) return false;
  const file = directory.open(name, "update");
  try {
    file.truncate(0);
    await file.sync();
    return true;
  } finally {
    file.close();
  }
}

function removeIfThere(directory: Directory, name: string): void {
  try {
    directory.remove(name);
  } catch (cause) {
    if (errnoOf(cause) !== "ENOENT") throw cause;
  }
}
