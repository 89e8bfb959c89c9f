/**
 * Reopening store: a local store that comes back by itself when what stopped it has passed: a full
 * disk, or too few descriptors.
 *
 * A store that failed refuses writes, and its reads go on. As soon as a file can be written and
 * synced next to its files, it is closed and opened again, with recovery. No failed sync is ever
 * tried again: recovery writes what may not be durable once more (journal/recovery.ts). Other
 * failures, of the disk itself, are left to a person.
 *
 * Between closing and opening, requests wait. If opening fails, they are refused
 * (STORE_UNAVAILABLE), and it is tried again.
 */

import { errnoOf, isNoSpace, VerbatimError } from "../../core/base/errors.ts";
import { openAgain, writeAtOnce } from "../../core/base/file-steps.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { nodeTime, repeat, type Time } from "../../core/base/time.ts";
import { isSqliteError } from "../../core/sqlite/sqlite.ts";
import { type OnAnyChange, type OnRemoved, Watchers } from "../commit/published-streams.ts";
import { type LocalStore, openLocalStore } from "./local-store.ts";
import { COMMIT_LIMITS, type LocalStoreOptions } from "./local-store-options.ts";
import type { OffsetToken } from "./offset-token.ts";
import type {
  Appended,
  AppendRequest,
  Chunk,
  Created,
  CreateRequest,
  ReadFrom,
  StoreHealth,
  StreamHead,
  StreamMessage,
  StreamStore,
} from "./stream-store.ts";

export interface ReopeningOptions extends LocalStoreOptions {
  readonly time?: Time | undefined;
}

/** How often it looks whether the store has failed, and whether the cause has passed. */
const LOOK_MS = 1000;
const PROBE_NAME = "space.probe";
/** On top of what the journal may still have to add to the log files. */
const PROBE_BYTES_MIN = 64 * 1024;

export async function openReopeningStore(options: ReopeningOptions): Promise<ReopeningStore> {
  const storeOptions = { ...options, watchers: new Watchers() };
  return new ReopeningStore(storeOptions, await openLocalStore(storeOptions));
}

export class ReopeningStore implements StreamStore {
  readonly #options: ReopeningOptions & { readonly watchers: Watchers };
  readonly #stopLooking: () => void;
  /** Null while it is opened again, and if that failed. */
  #store: LocalStore | null;
  #opening: Promise<void> | null = null;
  #failure: VerbatimError | null = null;
  #isClosed = false;

  /** @internal Use `openReopeningStore`. */
  constructor(options: ReopeningOptions & { readonly watchers: Watchers }, store: LocalStore) {
    this.#options = options;
    this.#store = store;
    this.#stopLooking = repeat(options.time ?? nodeTime, LOOK_MS, () => this.#look());
  }

  create(path: string, request: CreateRequest): Promise<Created> {
    return this.#using((store) => store.create(path, request));
  }

  append(path: string, request: AppendRequest): Promise<Appended> {
    return this.#using((store) => store.append(path, request));
  }

  head(path: string): Promise<StreamHead> {
    return this.#reading((store) => store.head(path));
  }

  read(path: string, from: ReadFrom, bytesMax: number): Promise<Chunk> {
    return this.#reading((store) => store.read(path, from, bytesMax));
  }

  async *messages(path: string, from: ReadFrom): AsyncGenerator<StreamMessage> {
    yield* await this.#using(async (store) => store.messages(path, from));
  }

  remove(path: string, ifEnd?: OffsetToken): Promise<void> {
    return this.#using((store) => store.remove(path, ifEnd));
  }

  list(request: { after?: string | undefined; limit: number }): Promise<readonly StreamHead[]> {
    return this.#reading((store) => store.list(request));
  }

  /** Why forks are not served: their history is not the one that was signed. */
  refusedForks(): Promise<VerbatimError[]> {
    return this.#reading((store) => store.refusedForks());
  }

  touch(path: string): void {
    this.#store?.touch(path);
  }

  watch(path: string, onChange: (head: StreamHead | null) => void): () => void {
    return this.#options.watchers.watch(path, onChange);
  }

  watchPrefix(prefix: string, onChange: OnAnyChange): () => void {
    return this.#options.watchers.watchPrefix(prefix, onChange);
  }

  watchRemoved(prefix: string, onRemoved: OnRemoved): () => void {
    return this.#options.watchers.watchRemoved(prefix, onRemoved);
  }

  putRecord(key: string, value: string | null): Promise<void> {
    return this.#using((store) => store.putRecord(key, value));
  }

  records(prefix: string): Promise<ReadonlyMap<string, string>> {
    return this.#reading((store) => store.records(prefix));
  }

  async sweep(): Promise<number> {
    return (await this.#store?.sweep()) ?? 0;
  }

  health(): StoreHealth {
    const health = this.#store?.health();
    if (health?.isWritable) return health;
    if (health !== undefined) {
      return isPassing(this.#store?.failure) ? { ...health, isPassing: true } : health;
    }
    const reason = this.#failure?.message ?? "it is being opened again";
    return { isWritable: false, isReadable: false, reason };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopLooking();
    await this.#opening;
    await this.#store?.close();
  }

  #using<T>(work: (store: LocalStore) => Promise<T>): Promise<T> {
    if (this.#store !== null) return work(this.#store);
    if (this.#opening !== null) return this.#opening.then(() => this.#using(work));
    return Promise.reject(this.#unavailable());
  }

  /** Again if the store was closed meanwhile. */
  #reading<T>(work: (store: LocalStore) => Promise<T>): Promise<T> {
    const store = this.#store;
    return this.#using(work).catch((error: unknown) => {
      const isClosed = error instanceof VerbatimError && error.code === "LOG_CLOSED";
      if (!isClosed || this.#isClosed || store === this.#store) throw error;
      return this.#reading(work);
    });
  }

  #look(): void {
    if (this.#opening !== null || this.#isClosed) return;
    const store = this.#store;
    if (store !== null && !isPassing(store.failure)) return;
    this.#opening = this.#reopen(store).finally(() => {
      this.#opening = null;
    });
  }

  async #reopen(failed: LocalStore | null): Promise<void> {
    if (failed !== null) {
      if (!(await this.#hasSpace(failed.journalBytes)) || this.#isClosed) return;
      this.#store = null;
      await failed.close().catch(() => {}); // Its failure was reported; everything is closed.
    }
    try {
      this.#store = await openLocalStore(this.#options);
    } catch (cause) {
      this.#failure = cause instanceof VerbatimError ? cause : null;
    }
  }

  /** Whether a file can be written and synced. One that cannot is not tried again. */
  async #hasSpace(journalBytes: number): Promise<boolean> {
    const { dataDirectory, host = nodeHost, limits } = this.#options;
    const { batchBytesMax } = { ...COMMIT_LIMITS, ...limits };
    try {
      const directory = await host.files.openDirectory(dataDirectory, { create: false });
      try {
        const file = openAgain(directory, PROBE_NAME);
        try {
          writeAtOnce(file, Buffer.alloc(PROBE_BYTES_MIN + Math.min(journalBytes, batchBytesMax)));
          await file.sync();
        } finally {
          file.close();
          directory.remove(PROBE_NAME);
        }
      } finally {
        directory.close();
      }
      return true;
    } catch {
      return false; // Looked at again soon.
    }
  }

  #unavailable(): VerbatimError<"STORE_UNAVAILABLE"> {
    const { dataDirectory: path } = this.#options;
    const reason = `the store could not be opened again: ${this.#failure?.message ?? "unknown"}`;
    const details = { path, reason, outcome: "unchanged" } as const;
    const message = `${path}: ${reason}; nothing was changed. It is tried again every second`;
    return new VerbatimError("STORE_UNAVAILABLE", message, details, { cause: this.#failure });
  }
}

/** Whether opening the store again can help, once there is space, or a descriptor. */
function isPassing(failure: unknown): boolean {
  for (let cause = failure; cause instanceof Error; cause = cause.cause) {
    // The index is never the only place of anything.
    if (isNoSpace(cause) || isSqliteError(cause)) return true;
    if (["EMFILE", "ENFILE"].includes(errnoOf(cause))) return true;
  }
  return false;
}
