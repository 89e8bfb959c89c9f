/**
 * Committer: makes many requests durable together (group commit).
 *
 * decide on drafts → one write and one sync of the journal → bytes to each log file → publish,
 * notify, answer. The index follows some batches later (streams/files/lookup/index-backlog.ts).
 *
 * - Each batch (commit-queue.ts) is decided on what the one before published.
 * - A request is answered only after the sync of the batch in which it was decided, even if the
 *   answer is just "duplicate".
 * - If the journal did not take a batch, nothing of it has happened, and the store continues. If
 *   anything fails after that, the batch is durable but cannot be shown: the store refuses
 *   writes (STORE_FAILED), and opening it again applies the batch.
 */

import { VerbatimError } from "../../core/base/errors.ts";
import type { IndexBacklog } from "../files/lookup/index-backlog.ts";
import type { HandlePool } from "../files/reading/handle-pool.ts";
import type { StreamLogFile } from "../files/reading/log-file.ts";
import type { CommitJournal } from "../journal/journal.ts";
import type { JournalMark } from "../journal/journal-mark.ts";
import { RecordBuffer } from "../journal/journal-record.ts";
import { CommitBatch } from "./batch.ts";
import { type CommitLimits, CommitQueue, type QueuedRequest } from "./commit-queue.ts";
import type { PublishedStreams } from "./published-streams.ts";

export interface CommitParts {
  readonly journal: CommitJournal;
  readonly mark: JournalMark;
  readonly pool: HandlePool;
  readonly backlog: IndexBacklog;
  readonly published: PublishedStreams;
  readonly limits: CommitLimits;
  /** Called when a batch is answered, for metrics. */
  onBatch?: ((report: BatchReport) => void) | undefined;
  /** Called when a batch is decided and before it is written; may add to it. Never rejects. */
  beforeBatch(batch: CommitBatch): Promise<void> | null;
  /** Called after a batch was published; the next batch waits for it. */
  afterBatch(batch: CommitBatch, lastLsn: number): Promise<void> | null;
}

/** One batch, for metrics. */
export interface BatchReport {
  readonly requests: number;
  /** Whether there was anything to make durable. */
  readonly hasSynced: boolean;
  readonly seconds: number;
}

type CommitRequest = QueuedRequest<CommitBatch>;

export class Committer {
  readonly #parts: CommitParts;
  readonly #buffer = new RecordBuffer();
  readonly #queue: CommitQueue<CommitBatch>;
  #lastLsn: number;
  #failure: VerbatimError | null = null;

  constructor(parts: CommitParts, lastLsn: number) {
    this.#parts = parts;
    this.#lastLsn = lastLsn;
    this.#queue = new CommitQueue({
      limits: parts.limits,
      place: parts.journal.path,
      waitsFor: "the disk",
      refusal: () => this.#failure,
      commit: (taken) => this.#commit(taken),
    });
  }

  get lastLsn(): number {
    return this.#lastLsn;
  }

  /** Why writes are refused, or null. */
  get failure(): VerbatimError | null {
    return this.#failure;
  }

  /**
   * Calls `decide` in turn, which adds to the batch; resolves to its answer once the batch is
   * durable. If `decide` throws, only this request fails.
   */
  submit<T>(bytes: number, decide: (batch: CommitBatch) => T): Promise<T> {
    return this.#queue.submit(null, bytes, decide);
  }

  /** Refuses new requests, and resolves when accepted ones are done and uses are written. */
  async close(): Promise<void> {
    if (this.#parts.published.hasTouches) {
      // Uses are written with any request. If it is refused, no more is lost than in a crash;
      // callers see `failure` themselves.
      this.submit(0, () => {}).catch(() => {});
    }
    await this.#queue.close();
  }

  /** Refuses writes until the store is opened again. */
  fail(reason: string, cause: unknown): VerbatimError {
    this.#failure ??= this.#parts.journal.fail(reason, cause);
    return this.#failure;
  }

  async #commit(taken: readonly CommitRequest[]): Promise<void> {
    if (this.#failure !== null) return rejectAll(taken, this.#failure);
    const startedMs = performance.now();
    const batch = new CommitBatch(this.#parts.published);
    const answers = taken.map((request) => decided(request, batch));
    const touches = this.#parts.published.touches();
    const added = batch.ops.length > 0 ? this.#parts.beforeBatch(batch) : null;
    if (added !== null) await added;
    if (batch.ops.length > 0 || touches.size > 0) {
      try {
        await this.#makeDurable(batch);
      } catch (error) {
        return rejectAll(taken, error);
      }
      try {
        for (const [path, atMs] of touches) touchIfLive(batch, path, atMs);
        this.#show(batch);
        this.#parts.published.touchesWritten(touches);
      } catch (cause) {
        return rejectAll(taken, this.fail("a batch in the journal could not be applied", cause));
      }
    }
    for (const answer of answers) answer();
    this.#parts.onBatch?.({
      requests: taken.length,
      hasSynced: batch.ops.length > 0,
      seconds: (performance.now() - startedMs) / 1000,
    });
    try {
      await this.#parts.afterBatch(batch, this.#lastLsn);
    } catch (cause) {
      this.fail("a write-back failed", cause);
    }
  }

  async #makeDurable({ ops }: CommitBatch): Promise<void> {
    if (ops.length === 0) return;
    const { journal } = this.#parts;
    const first = this.#lastLsn + 1;
    await journal.settle();
    this.#buffer.clear();
    for (const [n, op] of ops.entries()) this.#buffer.add(first + n, first, op, journal.seed);
    try {
      await this.#write(journal);
    } catch (cause) {
      if (cause instanceof VerbatimError && cause.code === "STORE_FAILED") this.#failure = cause;
      throw cause;
    }
    this.#lastLsn += ops.length;
  }

  async #write(journal: CommitJournal): Promise<void> {
    try {
      journal.write(this.#buffer.bytes, this.#buffer.length);
    } catch (refusal) {
      // Records of this batch that arrived complete must be removed durably before the refusal is
      // reported, or a power cut brings them back.
      await journal.settle();
      throw refusal;
    }
    const synced = journal.sync();
    const failure = this.#writeBacklog(); // While the disk is busy anyway.
    await synced;
    if (failure !== null) throw failure;
  }

  /** The failure is reported after the current sync has ended. */
  #writeBacklog(): VerbatimError | null {
    const { backlog } = this.#parts;
    try {
      if (backlog.isLong) backlog.write();
      return null;
    } catch (cause) {
      return this.fail("the index could not be written", cause);
    }
  }

  #show(batch: CommitBatch): void {
    const { mark, pool, backlog, published } = this.#parts;
    if (batch.ops.length > 0) mark.set(this.#lastLsn);
    for (const { state, bytes, filePos } of batch.changes.values()) {
      if (bytes.length === 0) continue;
      const all = bytes.length === 1 ? (bytes[0] as Uint8Array) : Buffer.concat(bytes);
      pool.useNow(state.file, (log) => appendAt(log, filePos, all));
    }
    for (const { file, pos, bytes } of batch.sidecars.values()) {
      pool.useNow(file, (sidecar) => appendAt(sidecar, pos, bytes));
    }
    backlog.add(batch, this.#lastLsn);
    for (const file of batch.removals.keys()) pool.close(file);
    for (const { state, producers } of batch.changes.values()) {
      published.set(state);
      for (const turn of producers.values()) published.setProducer(state, turn);
    }
  }
}

/** Decides now; the returned function sends the answer. */
function decided({ decide, resolve, reject }: CommitRequest, batch: CommitBatch): () => void {
  try {
    const answer = decide(batch);
    return () => resolve(answer);
  } catch (error) {
    return () => reject(error);
  }
}

/**
 * Throws if the bytes are not exactly there: another program wrote to the file since the request was
 * decided. The journal has them, so that recovery writes them to their place.
 */
function appendAt(log: StreamLogFile, pos: number, bytes: Uint8Array): void {
  if (log.size === pos) log.append(bytes);
  if (log.endsAt(pos + bytes.length)) return;
  throw new Error(`${log.path} ends at ${log.sizeOnDisk()}: another program wrote to it`);
}

function touchIfLive(batch: CommitBatch, path: string, atMs: number): void {
  if (batch.state(path)?.status === "live") batch.touch(path, atMs);
}

function rejectAll(requests: readonly CommitRequest[], error: unknown): void {
  for (const { reject } of requests) reject(error);
}
