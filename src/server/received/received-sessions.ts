/**
 * Received sessions: copies the session streams that agents sent (docs/server.md) into files, in the layout of each
 * dialect, so that all code which reads sessions reads these, too.
 *
 *     <data directory>/.received/<folder>/<dialect>/<path of the log>
 *     <data directory>/.received/<folder>/@<machine>/<user>/<dialect>/<path of the log>
 *
 * The streams are the truth; the copies are a cache, which can be deleted while the server is
 * stopped. Nothing but `StreamStore` is used of the streams.
 *
 * - A copy holds the first bytes of its stream. What is in it is trusted only if the server that
 *   wrote it stopped in order (`clean.json`), else it is compared with the stream at the start.
 * - A sidecar is never ahead of its log: its end is read first, then the log is copied.
 * - The copy of a deleted log is emptied at once, and removed when `onDeleted` resolved: a server
 *   that is killed before finds it without its stream when it starts, and continues.
 * - One server writes the copies: servers that share a database have a data directory each.
 */

import { readdirSync } from "node:fs";
import { basename, dirname, join, relative } from "node:path";
import { errnoOf, VerbatimError } from "../../core/base/errors.ts";
import type { Directory, OpenFile } from "../../core/base/files.ts";
import type { Host } from "../../core/base/host.ts";
import { readSmallFile, replaceFileDurably } from "../../core/base/replace.ts";
import { loadDialects } from "../../dialects/all.ts";
import {
  folderOf,
  nameOfStore,
  pathOfStore,
  SESSIONS_PATH,
  type SentFilePlace,
  type SentStore,
  sentFilePlaceOf,
  sidecarStreamOf,
  streamOf,
  streamOfCopy,
} from "../../guard/remote/session-paths.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";
import { RECEIVED } from "../../sessions/list/whose.ts";
import type { StreamHead, StreamStore } from "../../streams/files/stream-store.ts";
import { sidecarOf } from "../../trust/session-log.ts";
import { copyStream } from "./stream-copy.ts";

/** A store of received sessions; `path` is what all its streams begin with. */
export interface ReceivedStore extends FoundStore {
  readonly path: string;
}

export interface ReceivingOptions {
  readonly host: Host;
  readonly store: StreamStore;
  readonly dataDirectory: string;
  /** The streams of these logs were deleted: nothing else may keep text of them. */
  readonly onDeleted: (logs: readonly DeletedLog[]) => Promise<void>;
  readonly onFault: (what: string, cause: unknown) => void;
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
const PAGE_STREAMS = 1_000;
const COPIED_AT_ONCE = 4;
/** Appends within this time are copied together. */
const GATHER_MS = 50;

export class ReceivedSessions {
  readonly #options: ReceivingOptions;
  readonly #lock: OpenFile;
  readonly #root: string;
  readonly #stores = new Map<string, ReceivedStore>();
  /**
   * The ids of streams whose copies can be trusted: by stream, copied by this process or by one that
   * stopped in order.
   */
  readonly #copied = new Map<string, string>();
  /** Logs to be copied; a set, so that several appends are one copy. */
  readonly #due = new Set<string>();
  readonly #busy = new Set<string>();
  /** Deleted logs whose copies are empty, and still to be removed. */
  #emptied: DeletedLog[] = [];
  #removing: Promise<void> | null = null;
  readonly #waiting: (() => void)[] = [];
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;
  #stopWatching: () => void = () => {};
  #finding: Promise<void> = Promise.resolve();

  private constructor(options: ReceivingOptions, lock: OpenFile) {
    this.#options = options;
    this.#lock = lock;
    this.#root = join(options.dataDirectory, RECEIVED);
  }

  /**
   * Sessions that are on the server already are found and copied in the background. Throws
   * LOG_LOCKED if another server uses the directory.
   */
  static async open(options: ReceivingOptions): Promise<ReceivedSessions> {
    await loadDialects(); // Sessions of any of them may be sent.
    const received = new ReceivedSessions(options, await lockOf(options));
    for (const [stream, id] of await received.#takeClean()) received.#copied.set(stream, id);
    received.#stopWatching = options.store.watchAll((path, head) => received.#changed(path, head));
    received.#finding = received.#findAll().catch((cause: unknown) => {
      options.onFault("finding received sessions", cause);
    });
    return received;
  }

  stores(): readonly ReceivedStore[] {
    return [...this.#stores.values()];
  }

  /** Resolves when everything that was appended before is copied. */
  async settled(): Promise<void> {
    await this.#finding;
    this.#start();
    if (this.#busy.size > 0) {
      await new Promise<void>((resolve) => {
        this.#waiting.push(resolve);
      });
    }
    await this.#removing;
  }

  /** Copies that are not complete are continued by the next server. */
  async close(): Promise<void> {
    this.#stopWatching();
    this.#isClosed = true;
    await this.#finding;
    this.#due.clear();
    await this.settled();
    try {
      if (this.#copied.size > 0) await this.#noteClean();
    } finally {
      this.#lock.close();
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

  async #findAll(): Promise<void> {
    const prefix = `${SESSIONS_PATH}/`;
    const listed = new Set<string>();
    for (let after = prefix; !this.#isClosed; ) {
      const heads = await this.#options.store.list({ after, limit: PAGE_STREAMS });
      for (const { path } of heads) {
        this.#want(path);
        listed.add(path);
      }
      after = heads.at(-1)?.path ?? "";
      if (!after.startsWith(prefix) || heads.length < PAGE_STREAMS) break;
    }
    // Also copies of streams that were deleted while no server ran, or just before it was killed.
    for (const path of this.#copies()) {
      const stream = streamOfCopy(path);
      if (!listed.has(stream)) this.#want(stream);
    }
  }

  /** All files of copies, by their paths in the directory of received sessions. */
  #copies(): string[] {
    try {
      return readdirSync(this.#root, { recursive: true, withFileTypes: true })
        .filter((entry) => entry.isFile())
        .map((entry) => relative(this.#root, join(entry.parentPath ?? entry.path, entry.name)));
    } catch (cause) {
      return ifMissing(cause) ?? [];
    }
  }

  #changed(path: string, head: StreamHead | null): void {
    if (head === null) this.#copied.delete(path);
    this.#want(path);
  }

  #want(stream: string): void {
    const place = stream.startsWith(SESSIONS_PATH) ? sentFilePlaceOf(stream) : null;
    if (place === null || this.#isClosed) return;
    const { store } = place;
    const path = pathOfStore(store);
    this.#stores.set(path, { dialect: store.dialect, root: this.#rootOf(store), path });
    this.#due.add(streamOf(store, place.path));
    this.#timer ??= setTimeout(() => this.#start(), GATHER_MS).unref();
  }

  #start(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    for (const stream of this.#due) {
      if (this.#busy.size >= COPIED_AT_ONCE) return;
      if (this.#busy.has(stream)) continue; // Again, when it is done.
      this.#due.delete(stream);
      this.#busy.add(stream);
      void this.#copySession(stream)
        .catch((cause: unknown) => {
          // Deleted while it was copied: the next copy removes ours.
          if (isDeleted(cause)) this.#want(stream);
          else this.#options.onFault(`copying the session ${stream}`, cause);
        })
        .finally(() => {
          this.#busy.delete(stream);
          this.#start();
          if (this.#busy.size > 0) return;
          this.#removing ??= this.#removeEmptied().finally(() => {
            this.#removing = null;
          });
          for (const tell of this.#waiting.splice(0)) tell();
        });
    }
  }

  /** The log, then its sidecar up to where that ended before. */
  async #copySession(stream: string): Promise<void> {
    const place = sentFilePlaceOf(stream);
    if (place === null) return;
    const sidecar = await this.#headOf(sidecarStreamOf(stream));
    const log = await this.#headOf(stream);
    await this.#copy(stream, log, place);
    await this.#copy(sidecarStreamOf(stream), sidecar, { ...place, isSidecar: true });
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
    const log = join(this.#rootOf(place.store), place.path);
    const name = place.isSidecar ? sidecarOf(basename(log)) : basename(log);
    const directory = await this.#openDirectory(dirname(log));
    try {
      if (head === null) {
        this.#copied.delete(stream);
        if (place.isSidecar) removeIfThere(directory, name);
        else if (await emptyIfThere(directory, name)) {
          const { dialect } = place.store;
          this.#emptied.push({
            stream,
            dialect,
            root: this.#rootOf(place.store),
            logId: place.path,
          });
        }
        return;
      }
      const { store } = this.#options;
      const isTrusted = this.#copied.get(stream) === head.streamId;
      const isStopped = () => this.#isClosed;
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

  /** Many together: what else keeps text of them is written again as a whole. */
  async #removeEmptied(): Promise<void> {
    try {
      for (let logs = this.#emptied; logs.length > 0; logs = this.#emptied) {
        this.#emptied = [];
        await this.#options.onDeleted(logs);
        for (const log of logs) await this.#removeEmpty(log);
      }
    } catch (cause) {
      this.#options.onFault("removing received sessions that were deleted", cause);
    }
  }

  /** Not if the stream was created again: then it is copied there. */
  async #removeEmpty({ stream, root, logId }: DeletedLog): Promise<void> {
    const path = join(root, logId);
    const directory = await this.#openDirectory(dirname(path), false).catch(ifMissing);
    try {
      const isUsed = this.#busy.has(stream) || this.#due.has(stream) || this.#copied.has(stream);
      if (!isUsed) removeIfThere(directory as Directory, basename(path));
    } finally {
      directory?.close();
    }
  }

  #rootOf(store: SentStore): string {
    return join(this.#root, folderOf(store), nameOfStore(store));
  }

  #openDirectory(path: string, create = true): Promise<Directory> {
    const options = { create, root: this.#options.dataDirectory };
    return this.#options.host.files.openDirectory(path, options);
  }
}

async function lockOf({ host, dataDirectory: path }: ReceivingOptions): Promise<OpenFile> {
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

function isDeleted(cause: unknown): boolean {
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
