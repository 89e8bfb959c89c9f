/**
 * Received sessions: which session streams agents sent to this server (docs/server.md), and when they
 * are copied into files (received-files.ts), so that all code which reads sessions reads these, too.
 *
 * The streams are the truth; the copies are a cache, which can be deleted while the server is
 * stopped. Nothing but `StreamStore` is used of the streams.
 *
 * - With a store for one server, a session is copied as it is sent.
 * - Servers that share a store copy a session when it is read on them, and not before: `list` finds
 *   which copies are behind, `refresh` copies them. For `useMs` after such a request the server hears
 *   of changes; after that, sessions that others receive cost nothing here.
 * - A deleted session is removed at once, whether it is read or not.
 */

import { loadDialects } from "../../dialects/all.ts";
import {
  pathOfStore,
  SESSIONS_PATH,
  type SentFilePlace,
  type SentStore,
  sentFilePlaceOf,
  streamOf,
} from "../../guard/remote/session-paths.ts";
import type { FoundStore } from "../../sessions/list/find-stores.ts";
import type { StreamHead } from "../../streams/files/stream-store.ts";
import { isDeleted, ReceivedFiles, type ReceivedFilesOptions } from "./received-files.ts";

/** A store of received sessions; `path` is what all its streams begin with. */
export interface ReceivedStore extends FoundStore {
  readonly path: string;
}

export interface ReceivingOptions extends ReceivedFilesOptions {
  /** How long a server hears of changes after a request about sessions. Default: a minute. */
  readonly useMs?: number;
  readonly onFault: (what: string, cause: unknown) => void;
}

const PREFIX = `${SESSIONS_PATH}/`;
const PAGE_STREAMS = 1_000;
const COPIED_AT_ONCE = 4;
/** Appends within this time are copied together. */
const GATHER_MS = 50;
const USE_MS = 60_000;

/** Waits until these were copied by a copy that began later. */
interface Waiter {
  readonly left: Set<string>;
  readonly after: number;
  readonly resolve: () => void;
}

export class ReceivedSessions {
  readonly #options: ReceivingOptions;
  readonly #files: ReceivedFiles;
  /** Whether other servers share the store. */
  readonly #isShared: boolean;
  readonly #stores = new Map<string, ReceivedStore>();
  /** Logs whose copies are behind, and that nothing reads yet. */
  readonly #behind = new Set<string>();
  /** Logs to be copied; a set, so that several appends are one copy. */
  readonly #due = new Set<string>();
  /** Logs that are being copied; a later copy has a larger number. */
  readonly #busy = new Map<string, number>();
  #copies = 0;
  /** Logs that are read as they grow, and by how many. */
  readonly #followed = new Map<string, number>();
  #removing: Promise<void> | null = null;
  #waiters: Waiter[] = [];
  #timer: NodeJS.Timeout | null = null;
  #isClosed = false;
  /** The look at the start, and the one since which changes are heard of. */
  #finding: Promise<unknown> = Promise.resolve();
  #listing: Promise<boolean> | null = null;
  #usedAtMs = 0;
  /** What ends watching for changes. */
  #stopWatching: (() => void) | null = null;
  #stopWatchingRemovals = () => {};
  #resting: NodeJS.Timeout | null = null;

  private constructor(options: ReceivingOptions, files: ReceivedFiles) {
    this.#options = options;
    this.#files = files;
    this.#isShared = options.store.holds !== undefined;
  }

  /**
   * Sessions that are on the server already are found in the background. Throws LOG_LOCKED if
   * another server uses the directory.
   */
  static async open(options: ReceivingOptions): Promise<ReceivedSessions> {
    await loadDialects(); // Sessions of any of them may be sent.
    const received = new ReceivedSessions(options, await ReceivedFiles.open(options));
    const { store } = options;
    received.#stopWatchingRemovals = store.watchRemoved(PREFIX, (path) => received.#removed(path));
    received.#finding = received.#list(true);
    return received;
  }

  stores(): readonly ReceivedStore[] {
    return [...this.#stores.values()];
  }

  /**
   * Resolves when all sessions on the server are known. With a store for one server they are from
   * the look at the start on. False: they could not be listed.
   */
  async list(): Promise<boolean> {
    await this.#finding;
    if (!this.#isShared || this.#isClosed) return true;
    this.#usedAtMs = performance.now();
    this.#listing ??= this.#list(false);
    return this.#listing;
  }

  /**
   * Copies what is behind, or one of them: its copy has what was appended before. False: sessions
   * could not be listed.
   */
  async refresh(stream?: string): Promise<boolean> {
    const isListed = await this.list();
    if (this.#isClosed || (!this.#isShared && stream === undefined)) return isListed;
    if (this.#isShared && stream !== undefined) await this.#lookUp(stream);
    const streams = stream === undefined ? [...this.#behind] : [stream];
    for (const each of streams) if (this.#behind.delete(each)) this.#due.add(each);
    const busy = [...this.#due, ...this.#busy.keys()];
    const left = new Set(busy.filter((each) => stream === undefined || each === stream));
    if (left.size === 0) return isListed;
    const copied = new Promise<void>((resolve) => {
      this.#waiters.push({ left, after: this.#copies, resolve });
    });
    this.#start();
    await copied;
    return isListed;
  }

  /** To be copied: the store may report an append only after it was answered. */
  appended(stream: string): void {
    this.#want(stream);
  }

  /** The store that sessions of this path are in, also before the first. */
  storeOf(store: SentStore): ReceivedStore {
    return { dialect: store.dialect, root: this.#files.rootOf(store), path: pathOfStore(store) };
  }

  /** Copies a session as it grows, until the result is called. */
  follow(stream: string): () => void {
    this.#followed.set(stream, (this.#followed.get(stream) ?? 0) + 1);
    if (this.#behind.has(stream)) this.#copySoon(stream);
    void this.list();
    let isOver = false;
    return () => {
      if (isOver) return;
      isOver = true;
      const others = (this.#followed.get(stream) ?? 1) - 1;
      if (others > 0) this.#followed.set(stream, others);
      else this.#followed.delete(stream);
    };
  }

  /** Resolves when everything that was to be copied is. */
  async settled(): Promise<void> {
    await this.#finding;
    await this.#listing;
    this.#start();
    while (this.#busy.size > 0) {
      const left = new Set(this.#busy.keys());
      await new Promise<void>((resolve) => {
        this.#waiters.push({ left, after: 0, resolve });
      });
    }
    await this.#removing;
  }

  /** Copies that are not complete are continued by the next server. */
  async close(): Promise<void> {
    this.#stopWatchingRemovals();
    this.#isClosed = true;
    this.#files.stop();
    await this.#finding;
    await this.#listing;
    this.#rest();
    this.#due.clear();
    await this.settled();
    await this.#files.close();
  }

  /**
   * Watches, and compares all streams with their copies. The first time, also copies of streams that
   * were deleted while no server ran, or just before it was killed, are removed.
   */
  async #list(isFirst: boolean): Promise<boolean> {
    const { store, onFault, useMs = USE_MS } = this.#options;
    if (!isFirst || !this.#isShared) {
      this.#stopWatching ??= store.watchPrefix(PREFIX, (path) => this.#want(path));
      this.#resting ??= this.#isShared
        ? setInterval(() => this.#restUnused(), useMs / 4).unref()
        : null;
    }
    const listed = new Set<string>();
    try {
      for (let after = PREFIX; !this.#isClosed; ) {
        const heads = await store.list({ after, limit: PAGE_STREAMS });
        for (const head of heads) {
          this.#compare(head);
          if (isFirst) listed.add(head.path);
        }
        after = heads.at(-1)?.path ?? "";
        if (!after.startsWith(PREFIX) || heads.length < PAGE_STREAMS) break;
      }
      if (!isFirst || this.#isClosed) return true;
      for (const stream of this.#files.streams()) if (!listed.has(stream)) this.#removed(stream);
      return true;
    } catch (cause) {
      onFault("finding received sessions", cause);
      if (this.#isShared) this.#rest();
      return false;
    }
  }

  #restUnused(): void {
    const { useMs = USE_MS } = this.#options;
    const isUsed = performance.now() - this.#usedAtMs < useMs || this.#followed.size > 0;
    if (!isUsed) this.#rest();
  }

  /** From here on nothing is heard of changes: the next request lists everything again. */
  #rest(): void {
    this.#stopWatching?.();
    this.#stopWatching = null;
    if (this.#resting !== null) clearInterval(this.#resting);
    this.#resting = null;
    this.#listing = null;
  }

  /** Another server may have received more that was not heard of yet. */
  async #lookUp(stream: string): Promise<void> {
    const head = await this.#options.store.head(stream).catch(() => null);
    if (head !== null) this.#compare(head); // Else the copy is what is there: deletions are heard of.
  }

  #compare(head: StreamHead): void {
    const place = this.#place(head.path);
    if (place !== null && !this.#files.isCurrent(head, place)) this.#want(head.path);
  }

  /** A stream is new, or has changed. */
  #want(stream: string): void {
    const place = this.#place(stream);
    if (place === null) return;
    const log = streamOf(place.store, place.path);
    if (this.#isShared && !this.#followed.has(log)) this.#behind.add(log);
    else this.#copySoon(log);
  }

  #removed(stream: string): void {
    this.#files.distrust(stream);
    const place = stream.startsWith(PREFIX) ? sentFilePlaceOf(stream) : null;
    if (place === null || this.#isClosed || !this.#files.has(place)) return;
    this.#copySoon(streamOf(place.store, place.path));
  }

  /** The place of a stream of a session, whose store is known from then on. */
  #place(stream: string): SentFilePlace | null {
    const place = stream.startsWith(PREFIX) ? sentFilePlaceOf(stream) : null;
    if (place === null || this.#isClosed) return null;
    const path = pathOfStore(place.store);
    if (!this.#stores.has(path)) this.#stores.set(path, this.storeOf(place.store));
    return place;
  }

  #copySoon(log: string): void {
    if (this.#isClosed) return;
    this.#behind.delete(log);
    this.#due.add(log);
    this.#timer ??= setTimeout(() => this.#start(), GATHER_MS).unref();
  }

  #start(): void {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    for (const stream of this.#due) {
      if (this.#busy.size >= COPIED_AT_ONCE) return;
      if (this.#busy.has(stream)) continue; // Again, when it is done.
      this.#due.delete(stream);
      this.#busy.set(stream, ++this.#copies);
      void this.#files
        .copySession(stream)
        .catch((cause: unknown) => {
          // Deleted while it was copied: the next copy removes ours.
          if (isDeleted(cause)) this.#copySoon(stream);
          else this.#options.onFault(`copying the session ${stream}`, cause);
        })
        .finally(() => this.#done(stream));
    }
  }

  #done(stream: string): void {
    const begun = this.#busy.get(stream) ?? 0;
    this.#busy.delete(stream);
    this.#start();
    for (const { left, after } of this.#waiters) {
      if (begun > after || !(this.#due.has(stream) || this.#busy.has(stream))) left.delete(stream);
    }
    for (const { left, resolve } of this.#waiters) if (left.size === 0) resolve();
    this.#waiters = this.#waiters.filter(({ left }) => left.size > 0);
    if (this.#busy.size > 0) return;
    const isUsed = (log: string) => this.#busy.has(log) || this.#due.has(log);
    this.#removing ??= this.#files
      .removeEmptied(isUsed)
      .catch((cause: unknown) => {
        this.#options.onFault("removing received sessions that were deleted", cause);
      })
      .finally(() => {
        this.#removing = null;
      });
  }
}
