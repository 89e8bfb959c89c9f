/**
 * PostgreSQL store: streams in a database, for any number of servers at once.
 *
 * Connects the parts: requests are decided by the code of the local store (`streams/commit`), so
 * answers and offsets are the same; `group-committer.ts` writes, `stream-reader.ts` reads,
 * `changes.ts` reports what other servers wrote. Format: docs/formats/postgres.md.
 *
 * - Every read asks the database, so it returns what any server has acknowledged.
 * - A use noted by `touch` counts at once here, and for other servers within TOUCH_MS.
 * - Lifetimes go by this server's clock: servers need clocks that agree.
 */

import { randomBytes } from "node:crypto";
import type pg from "pg";
import { assert, type VerbatimError } from "../../core/base/errors.ts";
import {
  type Creating,
  decideAppend,
  decideCreate,
  decideExpire,
  decideRemove,
} from "../commit/decide.ts";
import { type OnAnyChange, type OnRemoved, Watchers } from "../commit/published-streams.ts";
import { COMMIT_LIMITS } from "../files/local-store-options.ts";
import type { OffsetToken } from "../files/offset-token.ts";
import { checkStreamPath } from "../files/stream-path.ts";
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
} from "../files/stream-store.ts";
import { SignedHistory } from "../signing/signed-history.ts";
import type { SigningCadence, StreamSigner } from "../signing/stream-signing.ts";
import { type ChangesListener, StreamChanges } from "./changes.ts";
import { CommitHealth } from "./commit-health.ts";
import { PostgresDatabase, STATEMENT_MS } from "./database.ts";
import { databaseError, unavailable } from "./database-errors.ts";
import { type Decision, GroupCommitter } from "./group-committer.ts";
import { migrate } from "./migrate.ts";
import { PostgresReads, StreamQueries } from "./postgres-reads.ts";
import { checkPromises, readPromises } from "./promises.ts";
import { DatabaseSigning, type TakeOver } from "./signing/database-signing.ts";
import { SigningRows } from "./signing/loaded-stream.ts";
import type {
  DatabaseDurability,
  DatabasePromises,
  PostgresStore,
  PostgresStoreOptions,
} from "./store-options.ts";
import { StreamCache } from "./stream-cache.ts";
import { RowStreamReader } from "./stream-reader.ts";
import { Sweeper } from "./sweeper.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const TOUCH_MS = 500;

/** `signing`: signs appended data some time after the append. Default: nothing is signed. */
export interface OpenOptions extends PostgresStoreOptions {
  readonly signing?: StreamSigner | undefined;
  readonly signingCadence?: Partial<SigningCadence> | undefined;
  readonly signingTakeOver?: TakeOver | undefined;
}

/** Opens the streams in a database and creates its tables if they are missing. */
export async function openPostgresStore(
  url: string,
  options: OpenOptions = {},
): Promise<PostgresStreams> {
  const {
    schema = "verbatim",
    readersMax = 8,
    statementMs = STATEMENT_MS,
    connectMs = 5_000,
  } = options;
  const database = await PostgresDatabase.open({ url, schema, readersMax, statementMs, connectMs });
  try {
    const promises = await readPromises(database);
    checkPromises(database, promises, options.durability ?? "disk");
    await migrate(database);
    const store = new PostgresStreams(database, promises, options);
    database.checkWriter = (client) => store.checkWriter(client);
    await store.begin(options);
    return store;
  } catch (error) {
    await database.close();
    throw databaseError(database.place, error);
  }
}

export class PostgresStreams implements PostgresStore {
  /** Of the server that was connected to last. */
  promises: DatabasePromises;
  readonly #durability: DatabaseDurability;
  readonly #database: PostgresDatabase;
  readonly #cache: StreamCache;
  readonly #committer: GroupCommitter;
  readonly #queries: StreamQueries;
  readonly #reader: RowStreamReader;
  readonly #reads: PostgresReads;
  readonly #changes: StreamChanges;
  readonly #commits: CommitHealth;
  readonly #sweeper: Sweeper;
  readonly #history: SignedHistory;
  readonly #watchers = new Watchers();
  #signing: DatabaseSigning | null = null;
  readonly #now: () => number;
  readonly #touching: NodeJS.Timeout;
  #failure: VerbatimError | null = null;
  #closing: Promise<void> | null = null;

  /** @internal Use `openPostgresStore`. */
  constructor(
    database: PostgresDatabase,
    promises: DatabasePromises,
    options: PostgresStoreOptions,
  ) {
    const server = randomId();
    this.promises = promises;
    this.#durability = options.durability ?? "disk";
    this.#database = database;
    this.#now = options.now ?? Date.now;
    this.#cache = new StreamCache(database, options.statesMax ?? 32 * 1024);
    this.#queries = new StreamQueries(database);
    const load = (path: string) => this.#reads.load(path);
    this.#reader = new RowStreamReader(database, load);
    const rows = new SigningRows(database, this.#reader);
    this.#history = new SignedHistory({
      stateOf: async (path) => (await load(path)).state,
      checkpointsOf: (stream) => rows.checkpoints(stream),
      states: "its row",
      store: "database",
    });
    this.#reads = new PostgresReads({
      database,
      reader: this.#reader,
      queries: this.#queries,
      known: this.#cache,
      history: this.#history,
      now: this.#now,
    });
    this.#changes = new StreamChanges(database, server, this.#changesListener());
    this.#commits = new CommitHealth({ database, server, idleMs: options.probeMs ?? 5_000 });
    this.#committer = new GroupCommitter({
      database,
      known: this.#cache,
      limits: { ...COMMIT_LIMITS, ...options.limits },
      server,
      health: this.#commits,
      resolveMs: options.resolveMs,
      onBatch: options.onBatch,
      signing: () => this.#signing,
      onChanged: (states) => {
        for (const state of states) this.#watchers.note(state);
        this.#changes.hint(states.map(({ path }) => path));
      },
    });
    this.#sweeper = new Sweeper(
      database,
      server,
      options.keepDeletedMs ?? 30 * DAY_MS,
      this.#commits,
    );
    this.#touching = setInterval(() => this.#writeTouches().catch(() => {}), TOUCH_MS).unref();
  }

  /** @internal */
  async begin(options: OpenOptions): Promise<void> {
    const { signing: signer, signingCadence: cadence = {}, signingTakeOver: takeOver } = options;
    if (signer !== undefined) {
      this.#signing = await DatabaseSigning.open({
        database: this.#database,
        reader: this.#reader,
        committer: this.#committer,
        signer,
        cadence,
        takeOver,
        now: this.#now,
        stateOf: async (path) => (await this.#reads.load(path)).state,
        holds: (work) => this.holds(work),
      });
    }
    await this.#changes.begin();
    this.#commits.begin();
    await this.#signing?.changedElsewhere();
  }

  /** @internal Throws if the server promises less than is required. */
  async checkWriter(client: pg.ClientBase): Promise<void> {
    const promises = await readPromises(this.#database, client);
    try {
      checkPromises(this.#database, promises, this.#durability);
    } catch (refusal) {
      throw unavailable(this.#database.place, refusal, "unchanged"); // Until its settings change.
    }
    this.promises = promises;
  }

  async create(path: string, request: CreateRequest): Promise<Created> {
    checkStreamPath(path);
    const source = request.fork?.source;
    if (source !== undefined) checkStreamPath(source);
    const ownRequest = { ...request, body: Buffer.from(request.body) };
    const paths = source === undefined ? [path] : [path, source];
    const created = await this.#committer.submit(
      { paths, bytes: ownRequest.body.length },
      (decision) => {
        const deciding = this.#deciding(decision);
        if (source !== undefined) deciding.checkFile(source);
        return decideCreate(deciding, path, ownRequest);
      },
    );
    await this.#signing?.forkBegun(path);
    return created;
  }

  append(path: string, request: AppendRequest): Promise<Appended> {
    const ownRequest = { ...request, body: Buffer.from(request.body) };
    const wanted = {
      paths: [path],
      producerId: request.producer?.id,
      bytes: ownRequest.body.length,
    };
    const submit = () =>
      this.#committer.submit(wanted, (decision) =>
        decideAppend(this.#deciding(decision), path, ownRequest),
      );
    return this.#signing?.forkBegun(path)?.then(submit) ?? submit();
  }

  head(path: string): Promise<StreamHead> {
    return this.#reads.head(path);
  }

  read(path: string, from: ReadFrom, bytesMax: number): Promise<Chunk> {
    return this.#reads.read(path, from, bytesMax);
  }

  messages(path: string, from: ReadFrom): AsyncGenerator<StreamMessage> {
    return this.#reads.messages(path, from);
  }

  /** Why forks are not served: their history is not the one that was signed. */
  refusedForks(): Promise<VerbatimError[]> {
    return this.#history.refused(this.#queries.forks());
  }

  list(request: { after?: string | undefined; limit: number }): Promise<StreamHead[]> {
    return this.#reads.list(request);
  }

  remove(path: string, ifEnd?: OffsetToken): Promise<void> {
    return this.#committer.submit({ paths: [path], bytes: 0 }, (decision) =>
      decideRemove(this.#deciding(decision), path, ifEnd),
    );
  }

  touch(path: string): void {
    this.#cache.touch(path, this.#now());
  }

  watch(path: string, onChange: (head: StreamHead | null) => void): () => void {
    const stop = this.#watchers.watch(path, onChange);
    this.#changes.awaited();
    return stop;
  }

  watchPrefix(prefix: string, onChange: OnAnyChange): () => void {
    const stop = this.#watchers.watchPrefix(prefix, onChange);
    this.#changes.awaited();
    return stop;
  }

  watchRemoved(prefix: string, onRemoved: OnRemoved): () => void {
    return this.#watchers.watchRemoved(prefix, onRemoved);
  }

  putRecord(key: string, value: string | null): Promise<void> {
    assert(!key.includes("\0"), "a record's key holds no NUL");
    const wanted = { paths: [], isRecord: true, bytes: value?.length ?? 0 } as const;
    return this.#committer.submit(wanted, ({ batch }) => {
      batch.add({ op: "record", key, value });
    });
  }

  records(prefix: string): Promise<ReadonlyMap<string, string>> {
    return this.#queries.records(prefix);
  }

  async sweep(): Promise<number> {
    await this.#writeTouches();
    const nowMs = this.#now();
    const expired = await this.#sweeper.sweep(nowMs).catch((error: unknown) => {
      throw databaseError(this.#database.place, error);
    });
    const ended = await Promise.all(
      expired.map((path) =>
        this.#committer.submit({ paths: [path], bytes: 0 }, (decision) =>
          decideExpire(this.#deciding(decision), path),
        ),
      ),
    );
    return ended.filter(Boolean).length;
  }

  holds(work: string): Promise<boolean> {
    return this.#sweeper.holds(work).catch((error: unknown) => {
      throw databaseError(this.#database.place, error);
    });
  }

  health(): StoreHealth {
    const failure = this.#failure;
    if (failure !== null) return { isWritable: false, isReadable: false, reason: failure.message };
    const reason = this.#commits.failure?.message;
    return reason === undefined
      ? { isWritable: true }
      : { isWritable: false, reason, isPassing: true };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    clearInterval(this.#touching);
    await this.#signing?.close();
    await this.#committer.close();
    await this.#commits.close();
    await this.#changes.close();
    await this.#sweeper.close();
    await this.#database.close();
  }

  #deciding({ batch, view }: Decision): Creating {
    const nowMs = this.#now();
    return {
      batch,
      nowMs,
      index: view,
      newStreamId: randomId,
      isExpired: (state) => this.#cache.isExpired(state, nowMs),
      checkFile: (path) => {
        const state = view.get(path); // Messages are checked as they are read.
        if (state !== null) this.#history.refuseKnown(state);
      },
    };
  }

  async #writeTouches(): Promise<void> {
    if (this.#cache.touches.size === 0) return;
    await this.#committer.submit({ paths: [], bytes: 0 }, () => {});
  }

  #changesListener(): ChangesListener {
    const watchers = this.#watchers;
    return {
      interest: () => {
        const ofSigning = this.#signing?.hasPins ? ["/"] : [];
        const removalPrefixes = [...watchers.removalPrefixes, ...ofSigning];
        return { ...watchers.watched, removalPrefixes };
      },
      isAwaited: (path) => watchers.isWatched(path),
      get isWaiting() {
        return watchers.isWatching;
      },
      changed: (paths, removed) => this.#changedElsewhere(paths, removed),
      connected: () => this.#cache.clear(),
      reached: (failure) => {
        const { place } = this.#database;
        this.#failure = failure === null ? null : databaseError(place, failure);
      },
    };
  }

  /**
   * Streams that are not waited for stay in the cache as they were: a group that was decided on an
   * earlier version is decided again.
   */
  async #changedElsewhere(paths: readonly string[], removed: readonly string[]): Promise<void> {
    await this.#signing?.changedElsewhere(removed);
    const watched = paths.filter((path) => this.#watchers.isWatched(path));
    const streams = watched.length === 0 ? [] : await this.#cache.load(watched, []);
    for (const [, { state }] of streams) if (state !== null) this.#watchers.note(state);
    for (const path of removed) this.#watchers.tellRemoved(path);
  }
}

/** Sixteen hexadecimal digits that were never used before. */
function randomId(): string {
  return randomBytes(8).toString("hex");
}
