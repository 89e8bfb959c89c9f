/**
 * Local store: streams in files of one data directory, for one process.
 *
 * Connects the parts: `data-directory.ts` opens and recovers, `decide.ts` and `committer.ts` write,
 * `local-reads.ts` reads, `write-back.ts` runs in the background. Format: docs/formats/streams.md.
 */

import { randomBytes } from "node:crypto";
import { dirname } from "node:path";
import { assert, type VerbatimError } from "../../core/base/errors.ts";
import { OPEN_LOG_FILES_MAX } from "../../core/base/limits.ts";
import { nodeHost } from "../../core/base/node-host.ts";
import { sidecarOf } from "../../trust/session-log.ts";
import type { CommitBatch } from "../commit/batch.ts";
import { Committer } from "../commit/committer.ts";
import {
  type Creating,
  decideAppend,
  decideCreate,
  decideExpire,
  decideRemove,
  decideSign,
} from "../commit/decide.ts";
import { type OnAnyChange, PublishedStreams, Watchers } from "../commit/published-streams.ts";
import {
  type DataDirectory,
  type OpenedDirectory,
  openDataDirectory,
} from "../journal/data-directory.ts";
import { Upkeep } from "../journal/upkeep.ts";
import { WriteBack } from "../journal/write-back.ts";
import { checkpointsOf, SignedHistory } from "../signing/signed-history.ts";
import { type Agree, SignedStream, type SigningParts } from "../signing/signed-stream.ts";
import { namesOfData } from "../signing/signing-user.ts";
import type { Signable, StreamLogParts } from "../signing/stream-log.ts";
import { SIGNING_CADENCE, StreamSigning, signableOf } from "../signing/stream-signing.ts";
import { LocalReads } from "./local-reads.ts";
import { COMMIT_LIMITS, type LocalStoreOptions, WRITE_BACK_BYTES } from "./local-store-options.ts";
import { IndexBacklog, ROWS_WAITING_MAX } from "./lookup/index-backlog.ts";
import type { OffsetToken } from "./offset-token.ts";
import { checkEnd, HandlePool } from "./reading/handle-pool.ts";
import { StreamReader } from "./reading/stream-reader.ts";
import { checkStreamPath } from "./stream-path.ts";
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

const DAY_MS = 24 * 60 * 60 * 1000;

/** Expired streams that one sweep deletes. */
const SWEPT_TOGETHER = 1000;

/** Opens the streams of a data directory and recovers them after a crash. */
export async function openLocalStore(options: LocalStoreOptions): Promise<LocalStore> {
  const { dataDirectory, host = nodeHost, newId = randomId } = options;
  const opened = await openDataDirectory({
    path: dataDirectory,
    indexPath: options.indexPath ?? `${dataDirectory}/streams.db`,
    host,
    newId,
    onRebuild: options.onRebuild ?? (() => {}),
  });
  if (options.signing === undefined) return new LocalStore(opened, options, []);
  const { place, others } = await namesOfData(host, dataDirectory);
  return new LocalStore(opened, options, [place, ...others]);
}

export class LocalStore implements StreamStore {
  readonly #directory: DataDirectory;
  readonly #options: LocalStoreOptions;
  readonly #now: () => number;
  readonly #newId: () => string;
  readonly #pool: HandlePool;
  readonly #backlog: IndexBacklog;
  readonly #published: PublishedStreams;
  readonly #history: SignedHistory;
  readonly #reads: LocalReads;
  readonly #writeBack: WriteBack;
  readonly #upkeep: Upkeep;
  readonly #committer: Committer;
  readonly #signing: StreamSigning | null;
  /** The names of the data directory in pins. */
  readonly #names: readonly string[];
  readonly #watchers: Watchers;
  #closing: Promise<void> | null = null;

  /** @internal Use `openLocalStore`. */
  constructor(
    { directory, scanned }: OpenedDirectory,
    options: LocalStoreOptions,
    names: readonly string[],
  ) {
    const { logs, journals, journal, meta, index } = directory;
    this.#directory = directory;
    this.#options = options;
    this.#names = names;
    this.#watchers = options.watchers ?? new Watchers();
    this.#now = options.now ?? Date.now;
    this.#newId = options.newId ?? randomId;
    this.#pool = new HandlePool(logs, options.openFilesMax ?? OPEN_LOG_FILES_MAX);
    const { clock } = options.host ?? nodeHost;
    this.#backlog = new IndexBacklog({
      index,
      clock,
      rowsMax: options.indexRowsMax ?? ROWS_WAITING_MAX,
      applied: (lsn) => ({ lsn, metaBytes: meta.end, storeId: meta.storeId }),
      onFailure: (cause) => this.#committer.fail("the index could not be written", cause),
    });
    this.#published = new PublishedStreams(this.#backlog, options.statesMax ?? 32 * 1024);
    const stateOf = (path: string) => this.#published.get(path);
    this.#history = new SignedHistory({
      stateOf,
      checkpointsOf: ({ file }) => checkpointsOf(logs, file),
      states: "meta.jsonl",
      store: "data directory",
    });
    this.#reads = new LocalReads({
      index,
      reader: new StreamReader(index, this.#pool, logs.path, stateOf),
      history: this.#history,
      published: this.#published,
      now: this.#now,
    });
    this.#writeBack = new WriteBack(
      { journal, journals, logs, meta, pool: this.#pool, index, backlog: this.#backlog, stateOf },
      scanned.segments,
      scanned.bytes,
    );
    for (const { op } of scanned.records) this.#writeBack.noteRecord(op);
    this.#upkeep = this.#newUpkeep();
    this.#committer = this.#newCommitter(scanned.lastLsn);
    this.#signing = this.#newSigning();
    this.#signing?.recovered(scanned.records, stateOf);
    for (const { op } of scanned.records) {
      if (op.op === "record") continue;
      const isHeard = op.op === "delete" || this.#watchers.isWatched(op.path);
      const state = isHeard ? stateOf(op.path) : null;
      if (state !== null) this.#watchers.note(state);
    }
  }

  async create(path: string, request: CreateRequest): Promise<Created> {
    checkStreamPath(path);
    if (request.fork !== undefined) {
      checkStreamPath(request.fork.source);
      const source = this.#published.get(request.fork.source);
      // Not `check`: nothing may wait here, or requests would change their order.
      if (source !== null) this.#history.refuseKnown(source);
    }
    const ownRequest = { ...request, body: copied(request.body) };
    const created = await this.#committer.submit(ownRequest.body.length, (batch) =>
      decideCreate(this.#deciding(batch), path, ownRequest),
    );
    await this.#signing?.forkBegun(path);
    return created;
  }

  append(path: string, request: AppendRequest): Promise<Appended> {
    const ownRequest = { ...request, body: copied(request.body) };
    const submit = () =>
      this.#committer.submit(ownRequest.body.length, (batch) =>
        decideAppend(this.#deciding(batch), path, ownRequest),
      );
    return this.#signing?.forkBegun(path)?.then(submit) ?? submit();
  }

  head(path: string): Promise<StreamHead> {
    return this.#reads.head(path);
  }

  read(path: string, from: ReadFrom, bytesMax: number): Promise<Chunk> {
    return this.#reads.read(path, from, bytesMax);
  }

  /** With `onDamaged`, damaged messages are reported there and skipped; without, they throw. */
  messages(
    path: string,
    from: ReadFrom,
    onDamaged?: (offset: OffsetToken) => void,
  ): AsyncGenerator<StreamMessage> {
    return this.#reads.messages(path, from, onDamaged);
  }

  /** How many messages a stream has. */
  messageCount(path: string): Promise<number> {
    return this.#reads.messageCount(path);
  }

  /** Why forks are not served: their history is not the one that was signed. */
  refusedForks(): Promise<VerbatimError[]> {
    return this.#reads.refusedForks();
  }

  list(request: { after?: string | undefined; limit: number }): Promise<StreamHead[]> {
    return this.#reads.list(request);
  }

  remove(path: string, ifEnd?: OffsetToken): Promise<void> {
    return this.#committer.submit(0, (batch) => decideRemove(this.#deciding(batch), path, ifEnd));
  }

  touch(path: string): void {
    this.#published.touch(path, this.#now());
  }

  watch(path: string, onChange: (head: StreamHead | null) => void): () => void {
    return this.#watchers.watch(path, onChange);
  }

  watchPrefix(prefix: string, onChange: OnAnyChange): () => void {
    return this.#watchers.watchPrefix(prefix, onChange);
  }

  watchRemoved(prefix: string, onRemoved: (path: string) => void): () => void {
    return this.#watchers.watchRemoved(prefix, onRemoved);
  }

  putRecord(key: string, value: string | null): Promise<void> {
    assert(!key.includes("\0"), "a record's key holds no NUL");
    return this.#committer.submit(value?.length ?? 0, (batch) => {
      batch.add({ op: "record", key, value });
    });
  }

  async records(prefix: string): Promise<ReadonlyMap<string, string>> {
    return this.#directory.index.records(prefix);
  }

  async sweep(): Promise<number> {
    if (!this.health().isWritable) return 0;
    const expired = this.#directory.index.expiredStreams(this.#now(), SWEPT_TOGETHER);
    const isDue = expired.length > 0 || this.#published.hasTouches || this.#upkeep.isWriteBackDue;
    // An empty request: it also writes the noted uses and may begin a write-back.
    if (isDue) await this.#committer.submit(0, () => {});
    const ended = await Promise.all(
      expired.map(({ path }) =>
        this.#committer.submit(0, (batch) => decideExpire(this.#deciding(batch), path)),
      ),
    );
    this.#upkeep.removeFiles(this.#now() - (this.#options.keepDeletedMs ?? 30 * DAY_MS));
    return ended.filter(Boolean).length;
  }

  /** Signs unsigned data that was found in a stream, after `agree` has confirmed it (SN4). */
  async vouch(path: string, agree: Agree): Promise<void> {
    assert(this.#signing !== null, "a store that vouches is opened to sign");
    const state = this.#reads.living(path);
    await this.#newStream(this.#signing.shared, signableOf(state), state.end - state.base).vouch(
      agree,
    );
  }

  health(): StoreHealth {
    const { failure } = this;
    return failure === null ? { isWritable: true } : { isWritable: false, reason: failure.message };
  }

  /** Why writes are refused until it is opened again, or null. */
  get failure(): VerbatimError | null {
    return this.#committer.failure;
  }

  /** Bytes of the journal, which opening reads and applies. */
  get journalBytes(): number {
    return this.#writeBack.journalBytes;
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    try {
      await this.#signing?.close();
      await this.#committer.close();
      this.#backlog.stop();
      if (this.health().isWritable) this.#backlog.write();
      await this.#upkeep.close(this.#committer.lastLsn);
    } finally {
      await this.#pool.closeAll();
      this.#directory.close();
    }
  }

  #newUpkeep(): Upkeep {
    const { writeBackBytes, writeBackMs, host = nodeHost } = this.#options;
    return new Upkeep({
      directory: this.#directory,
      pool: this.#pool,
      writeBack: this.#writeBack,
      writeBackBytes: writeBackBytes ?? WRITE_BACK_BYTES,
      writeBackMs: writeBackMs ?? 60_000,
      monotonicMs: () => host.clock.monotonicMs(),
      isWritable: () => this.health().isWritable,
      onFailure: (cause) => this.#committer.fail("a write-back failed", cause),
    });
  }

  #newCommitter(lastLsn: number): Committer {
    const { journal, mark } = this.#directory;
    const parts = {
      journal,
      mark,
      pool: this.#pool,
      backlog: this.#backlog,
      published: this.#published,
      limits: { ...COMMIT_LIMITS, ...this.#options.limits },
      onBatch: this.#options.onBatch,
      beforeBatch: (batch: CommitBatch) => this.#signing?.begin(batch) ?? null,
      afterBatch: (batch: CommitBatch, last: number) => this.#afterBatch(batch, last),
    };
    return new Committer(parts, lastLsn);
  }

  #newSigning(): StreamSigning | null {
    const { signing, signingCadence, host = nodeHost } = this.#options;
    if (signing === undefined) return null;
    const { logs } = this.#directory;
    const root = dirname(logs.path); // Its real path, which pins use.
    return new StreamSigning({
      signer: signing.signer,
      heads: signing.heads,
      book: signing.book,
      ...(signing.own ? { own: signing.own } : {}),
      keysFor: (path) => signing.keysFor(path),
      onWarning: (warning) => signing.onWarning(warning),
      root,
      names: this.#names,
      nowMs: this.#now,
      clock: host.clock,
      cadence: { ...SIGNING_CADENCE, ...signingCadence },
      stateOf: (path) => this.#published.get(path),
      hasCheckpoints: ({ file }) => this.#pool.useNow(sidecarOf(file), ({ size }) => size > 0),
      newStream: (shared, of, start) => this.#newStream(shared, of, start),
    });
  }

  #newStream(shared: StreamLogParts, of: Signable, start: number): SignedStream {
    const parts: SigningParts = {
      ...shared,
      logs: this.#directory.logs,
      pool: this.#pool,
      isInJournal: (file) => this.#writeBack.isAbout(file),
      commit: (file, pos, bytes) =>
        this.#committer.submit(bytes.length, (batch) => {
          const { path, streamId } = of;
          return decideSign(this.#pool, batch, { path, streamId, file, pos, bytes });
        }),
    };
    return new SignedStream(parts, of, start);
  }

  #deciding(batch: CommitBatch): Creating {
    const nowMs = this.#now();
    return {
      batch,
      nowMs,
      index: this.#directory.index,
      newStreamId: this.#newId,
      isExpired: (state) => this.#published.isExpired(state, nowMs),
      checkFile: (path) => this.#checkFile(path),
    };
  }

  /** A stream created in this batch has no file yet. */
  #checkFile(path: string): void {
    const state = this.#published.get(path);
    if (state?.status !== "live") return;
    this.#history.refuseKnown(state);
    checkEnd(this.#pool, state);
  }

  #afterBatch(batch: CommitBatch, lastLsn: number): Promise<void> {
    for (const { state } of batch.changes.values()) this.#watchers.note(state);
    this.#signing?.note(batch);
    return this.#upkeep.afterBatch(batch, lastLsn);
  }
}

/** The caller may reuse its buffer. */
function copied(body: Uint8Array): Uint8Array {
  return body.length === 0 ? body : Buffer.from(body);
}

function randomId(): string {
  return randomBytes(8).toString("hex");
}
