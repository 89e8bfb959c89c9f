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
 * - One server writes the copies: servers that share a database have a data directory each.
 */

import { basename, dirname, join } from "node:path";
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
} from "../../guard/remote/session-paths.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";
import { RECEIVED } from "../../sessions/list/whose.ts";
import { formatOffset, type OffsetToken, parseOffset } from "../../streams/files/offset-token.ts";
import type { StreamHead, StreamStore } from "../../streams/files/stream-store.ts";
import { sidecarOf } from "../../trust/session-log.ts";

/** A store of received sessions; `path` is what all its streams begin with. */
export interface ReceivedStore extends FoundStore {
  readonly path: string;
}

export interface ReceivingOptions {
  readonly host: Host;
  readonly store: StreamStore;
  readonly dataDirectory: string;
  readonly onFault: (what: string, cause: unknown) => void;
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
    if (this.#busy.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#waiting.push(resolve);
    });
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
    for (let after = prefix; !this.#isClosed; ) {
      const heads = await this.#options.store.list({ after, limit: PAGE_STREAMS });
      for (const { path } of heads) this.#want(path);
      after = heads.at(-1)?.path ?? "";
      if (!after.startsWith(prefix) || heads.length < PAGE_STREAMS) return;
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
          if (this.#busy.size === 0) for (const tell of this.#waiting.splice(0)) tell();
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
        removeIfThere(directory, name);
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

function removeIfThere(directory: Directory, name: string): void {
  try {
    directory.remove(name);
  } catch (cause) {
    if (errnoOf(cause) !== "ENOENT") throw cause;
  }
}

const CHUNK_BYTES = 1024 * 1024;

interface StreamCopyOptions {
  readonly store: StreamStore;
  readonly stream: string;
  /** The copy ends where this head ends. */
  readonly head: StreamHead;
  /** The file is known to hold the first bytes of the stream. Else they are compared. */
  readonly isTrusted: boolean;
  readonly isStopped: () => boolean;
}

/**
 * Makes a file, which is open to append, equal to a stream; reads only what it lacks. False: stopped
 * before the end.
 */
async function copyStream(file: OpenFile, options: StreamCopyOptions): Promise<boolean> {
  const { store, stream, head, isTrusted, isStopped } = options;
  const { readSeq, byteOffset: end } = parsed(head.end);
  const known = isTrusted && file.size() <= end ? file.size() : 0;
  let from: OffsetToken | "start" = known === 0 ? "start" : formatOffset(readSeq, known);
  let at = known;
  while (at < end) {
    if (isStopped()) return false;
    const { bytes, next } = await store.read(stream, from, CHUNK_BYTES);
    if (bytes.length === 0) break;
    await put(file, bytes.subarray(0, end - at), at);
    at += bytes.length;
    from = next;
  }
  if (file.size() > end) file.truncate(end);
  await file.sync();
  return true;
}

/** Keeps what is there if it is the same; else replaces everything from there on. */
async function put(file: OpenFile, bytes: Uint8Array, at: number): Promise<void> {
  const there = new Uint8Array(Math.max(0, Math.min(bytes.length, file.size() - at)));
  if (there.length > 0) await file.read(there, at);
  const isSame = Buffer.compare(there, bytes.subarray(0, there.length)) === 0;
  if (!isSame) file.truncate(at);
  let rest = isSame ? bytes.subarray(there.length) : bytes;
  while (rest.length > 0) rest = rest.subarray(file.write(rest));
}

function parsed(token: OffsetToken): { readSeq: number; byteOffset: number } {
  const found = parseOffset(token);
  if (found === null) throw new TypeError("a head has a valid end");
  return found;
}
